//! What an error of the `h2` crate means for a request.

use h2::{Error, Reason};

use crate::record::interval::Outcome;
use crate::wire::failure::{Failure, broken};
use crate::wire::h2::io::Greeting;

/// How far an exchange had come when it failed.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub greeting: Greeting,
    /// Something of the answer had come.
    pub answered: bool,
    /// The connection had carried an exchange before.
    pub reused: bool,
}

pub fn failure(error: &Error, at: Progress) -> Failure {
    if at.greeting == Greeting::Http1 {
        let why = "the server answered in HTTP/1.1: it does not take HTTP/2 without TLS (h2c)";
        return Failure::new(Outcome::Malformed, why);
    }
    match (error.reason(), error.get_io()) {
        (Some(reason), _) if error.is_remote() => refused(error, reason, at),
        (Some(reason), _) => against_the_rules(error, reason),
        (None, Some(io)) => lost(broken(io), at),
        (None, None) => Failure::new(Outcome::Malformed, error),
    }
}

/// The server said so, in `RST_STREAM` or GOAWAY.
fn refused(error: &Error, reason: Reason, at: Progress) -> Failure {
    let outcome = match (reason, error.is_go_away(), at.answered) {
        // It says goodbye, and has not begun with the request: both may have been in the right.
        (Reason::NO_ERROR, true, false) => Outcome::Stale,
        (Reason::NO_ERROR, ..) => Outcome::ClosedEarly,
        _ => Outcome::Reset,
    };
    Failure::new(outcome, named(error, reason))
}

/// The `h2` crate has found a fault in what the server sent.
fn against_the_rules(error: &Error, reason: Reason) -> Failure {
    let name = name(reason);
    let text = format!(
        "the server broke the rules of HTTP/2: {name}{}",
        said(error)
    );
    match (reason, error.is_reset()) {
        (Reason::ENHANCE_YOUR_CALM | Reason::COMPRESSION_ERROR, false) => {
            Failure::new(Outcome::TooLarge, text)
        }
        (Reason::PROTOCOL_ERROR, true) => {
            let why = "the answer breaks the rules of HTTP/2, or its head is larger than 64 KiB";
            Failure::new(Outcome::Malformed, why)
        }
        _ => Failure::new(Outcome::Malformed, text),
    }
}

/// The connection has ended.
fn lost(failure: Failure, at: Progress) -> Failure {
    let outcome = match failure.outcome {
        Outcome::ClosedEarly | Outcome::Reset if at.reused && !at.answered => Outcome::Stale,
        other => other,
    };
    let closed = failure.outcome == Outcome::ClosedEarly;
    match at.greeting {
        Greeting::None if closed => Failure::new(
            outcome,
            "the server closed the connection before it sent anything; does it speak HTTP/2 here?",
        ),
        _ if closed => Failure::new(outcome, "the server closed the connection"),
        _ => Failure { outcome, ..failure },
    }
}

fn named(error: &Error, reason: Reason) -> String {
    let frame = if error.is_go_away() {
        "GOAWAY"
    } else {
        "RST_STREAM"
    };
    format!("{frame} {}{}", name(reason), said(error))
}

/// As RFC 9113 section 7 has it.
fn name(reason: Reason) -> String {
    let name = format!("{reason:?}");
    if name.starts_with("Reason(") {
        return format!("error {:#x}", u32::from(reason));
    }
    name
}

/// What GOAWAY said beside its reason, if anything: ` (b"…")`.
fn said(error: &Error) -> String {
    let text = error.to_string();
    let at = text.find(" (b\"");
    at.map_or_else(String::new, |at| text[at..].to_owned())
}
