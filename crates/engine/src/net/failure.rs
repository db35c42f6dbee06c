//! Why a connection failed, in words for people.

use std::io;

use crate::net::tls;
use crate::outcome::{Failure, Outcome};

/// Only TLS tells such an end from a regular one.
const CUT_OFF: &str =
    "the server closed without TLS's close_notify, so the response may be cut off";

/// The failure of an established connection.
pub fn broken(error: &io::Error) -> Failure {
    let outcome = match error.kind() {
        // `UnexpectedEof`, from rustls: the peer closed without announcing it. `BrokenPipe`: it closed before a write.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => Outcome::ClosedEarly,
        // In TLS 1.3 a server rejects a client's certificate only after the client's side of the handshake has ended.
        io::ErrorKind::InvalidData if is_alert(error) => Outcome::TlsFailed,
        // rustls received malformed records.
        io::ErrorKind::InvalidData => Outcome::Malformed,
        // The kernel gave up because nobody confirmed what was sent; it tells what routers have said about it, if
        // anything. A response might have come later.
        io::ErrorKind::TimedOut
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown => Outcome::ResponseTimeout,
        _ => Outcome::Reset,
    };
    Failure::new(outcome, describe(error))
}

fn is_alert(error: &io::Error) -> bool {
    matches!(of_tls(error), Some(rustls::Error::AlertReceived(_)))
}

fn of_tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The system's message without its error number: "connection refused".
pub fn describe(error: &io::Error) -> String {
    if let Some(words) = of_tls(error).and_then(tls::describe) {
        return words;
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return CUT_OFF.into();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut rest = text.chars();
    match (error.raw_os_error(), rest.next()) {
        (Some(_), Some(first)) => first.to_lowercase().chain(rest).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_words_without_numbers() {
        let words = |errno| describe(&io::Error::from_raw_os_error(errno));
        assert_eq!(words(libc::ECONNREFUSED), "connection refused");
        assert_eq!(words(libc::EMFILE), "too many open files");
        assert_eq!(words(libc::EHOSTUNREACH), "no route to host");
        assert_eq!(words(libc::ENOENT), "no such file or directory");
        let other = io::Error::other("something else");
        assert_eq!(describe(&other), "something else");
    }

    #[test]
    fn a_connection_that_the_network_lost_is_given_up_like_any_other_wait() {
        let outcome = |errno| broken(&io::Error::from_raw_os_error(errno)).outcome;
        for lost in [
            libc::ETIMEDOUT,
            libc::EHOSTUNREACH,
            libc::ENETUNREACH,
            libc::ENETDOWN,
        ] {
            assert_eq!(outcome(lost), Outcome::ResponseTimeout, "{lost}");
        }
        assert_eq!(outcome(libc::ECONNRESET), Outcome::Reset);
        assert_eq!(outcome(libc::EPIPE), Outcome::ClosedEarly);
    }

    #[test]
    fn a_close_without_notice_is_told_in_our_own_words() {
        let error = io::Error::new(io::ErrorKind::UnexpectedEof, "see docs.rs");
        let failure = broken(&error);
        assert_eq!(failure.outcome, Outcome::ClosedEarly);
        assert!(failure.why.contains("close_notify"), "{}", failure.why);
        assert!(!failure.why.contains("docs.rs"), "{}", failure.why);
    }
}
