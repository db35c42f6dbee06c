//! Why something failed, in words for people.

use std::fmt::Display;
use std::io;

use rustls::{CertificateError, InvalidMessage};

use crate::record::interval::Outcome;

/// How a failed request is counted, and why it failed.
#[derive(Debug, Clone)]
pub struct Failure {
    pub outcome: Outcome,
    pub why: String,
}

impl Failure {
    pub fn new(outcome: Outcome, why: impl Display) -> Self {
        let why = why.to_string();
        Self { outcome, why }
    }

    /// Counts a lost connection as stale if it had carried requests before and nothing of this answer had come: the
    /// server may have closed it before it saw the request.
    pub fn if_unseen(mut self, reused: bool, answered: bool) -> Self {
        if reused && !answered && matches!(self.outcome, Outcome::ClosedEarly | Outcome::Reset) {
            self.outcome = Outcome::Stale;
        }
        self
    }
}

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
        // anything. An answer might have come later.
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
    match of_tls(error) {
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            return "the server did not answer in TLS; does it speak without, here?".into();
        }
        Some(rustls::Error::InvalidCertificate(error)) => return of_certificate(error),
        _ => {}
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut rest = text.chars();
    match (error.raw_os_error(), rest.next()) {
        (Some(_), Some(first)) => first.to_lowercase().chain(rest).collect(),
        _ => text.to_owned(),
    }
}

/// Why a server's certificate is refused.
fn of_certificate(error: &CertificateError) -> String {
    let why = match error {
        CertificateError::UnknownIssuer => "was not issued by an authority that is trusted".into(),
        CertificateError::ExpiredContext { .. } => "has expired".into(),
        CertificateError::NotValidYetContext { .. } => "is not valid yet".into(),
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            // In webpki's form: DnsName("example.com"), IpAddress(127.0.0.1).
            let names = presented.iter().filter_map(|name| {
                let name = name.split_once('(')?.1.trim_end_matches(')');
                Some(name.trim_matches('"'))
            });
            let names = names.collect::<Vec<_>>().join(", ");
            let names = match names.as_str() {
                "" => "no name (it has no subjectAltName)",
                names => names,
            };
            format!("is for {names}, not for {expected}")
        }
        CertificateError::Other(other) => format!("is not accepted: {other}"),
        other => format!("is not accepted: {other}"),
    };
    format!("the server's certificate {why}")
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
    fn what_tls_fails_by_is_told_in_words() {
        let words =
            |error: rustls::Error| describe(&io::Error::new(io::ErrorKind::InvalidData, error));
        let plain = words(InvalidMessage::InvalidContentType.into());
        assert!(plain.contains("did not answer in TLS"), "{plain}");
        let unknown = words(CertificateError::UnknownIssuer.into());
        assert!(
            unknown.contains("not issued by an authority that is trusted"),
            "{unknown}"
        );
        let named = |presented: &[&str]| {
            let expected = "a.example".try_into().unwrap();
            let presented = presented.iter().map(ToString::to_string).collect();
            words(
                CertificateError::NotValidForNameContext {
                    expected,
                    presented,
                }
                .into(),
            )
        };
        assert_eq!(
            named(&["DnsName(\"b.example\")", "IpAddress(127.0.0.1)"]),
            "the server's certificate is for b.example, 127.0.0.1, not for a.example"
        );
        assert!(named(&[]).contains("no subjectAltName"));
    }
}
