//! What the end of a stream or of its connection means for the outcome of a request.

use crate::outcome::{Failure, Outcome};
use crate::protocol::h2::endpoint::{Ending, Endpoint, GoAway};
use crate::protocol::h2::reason::{Reason, Violation};

/// The failure of a request whose connection has ended. `reused`: the connection had carried an exchange before;
/// `answered`: a part of the response had come.
pub fn ended(ending: &Ending, endpoint: &Endpoint, reused: bool, answered: bool) -> Failure {
    let failure = match (ending, &endpoint.go_away) {
        (Ending::Broken(violation), _) => return against_the_rules(*violation),
        (_, Some(go_away)) if go_away.reason != Reason::NO_ERROR => return refused(go_away),
        (Ending::Lost(failure), _) if failure.outcome != Outcome::ClosedEarly => failure.clone(),
        _ if endpoint.settings_received => {
            Failure::new(Outcome::ClosedEarly, "the server closed the connection")
        }
        _ => Failure::new(
            Outcome::ClosedEarly,
            "the server closed the connection before it sent anything; does it speak HTTP/2 here?",
        ),
    };
    failure.if_unseen(reused, answered)
}

/// The failure of a request that the server did not process before its GOAWAY.
pub fn refused(go_away: &GoAway) -> Failure {
    let outcome = match go_away.reason {
        // A graceful end, for which neither side is at fault.
        Reason::NO_ERROR => Outcome::Stale,
        _ => Outcome::Reset,
    };
    let reason = go_away.reason;
    if go_away.debug.is_empty() {
        return Failure::new(outcome, format!("GOAWAY {reason}"));
    }
    let debug = String::from_utf8_lossy(&go_away.debug);
    Failure::new(outcome, format!("GOAWAY {reason} ({debug:?})"))
}

/// The failure of a request whose stream the server reset, `after_ns` after it was sent. `deadline_ns`: the deadline
/// that the server was told.
pub fn reset(reason: Reason, after_ns: u64, deadline_ns: Option<u64>) -> Failure {
    // The clocks of both sides drift apart by less than a thousandth.
    let passed = deadline_ns.is_some_and(|deadline| after_ns >= deadline - deadline / 1000);
    let outcome = match reason {
        Reason::NO_ERROR => Outcome::ClosedEarly,
        // Servers such as grpc-go end a call in this way when its deadline has passed.
        Reason::CANCEL if passed => Outcome::ResponseTimeout,
        _ => Outcome::Reset,
    };
    Failure::new(outcome, format!("RST_STREAM {reason}"))
}

fn against_the_rules(Violation { reason, what }: Violation) -> Failure {
    let outcome = match reason {
        Reason::ENHANCE_YOUR_CALM => Outcome::TooLarge,
        _ => Outcome::Malformed,
    };
    if reason == Reason::HTTP_1_1_REQUIRED {
        return Failure::new(outcome, what);
    }
    let why = format!("the server broke the rules of HTTP/2: {what} ({reason})");
    Failure::new(outcome, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_broken_off_at_its_deadline_took_too_long() {
        let outcome = |reason, after, deadline| reset(reason, after, deadline).outcome;
        let deadline = Some(50_000_000);
        let at = |after| outcome(Reason::CANCEL, after, deadline);
        assert_eq!(at(50_100_000), Outcome::ResponseTimeout);
        assert_eq!(at(49_999_000), Outcome::ResponseTimeout, "another clock");
        assert_eq!(at(40_000_000), Outcome::Reset);
        assert_eq!(outcome(Reason::CANCEL, 60_000_000, None), Outcome::Reset);
        let other = outcome(Reason::ENHANCE_YOUR_CALM, 60_000_000, deadline);
        assert_eq!(other, Outcome::Reset);
    }
}
