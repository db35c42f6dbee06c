//! Why something failed, for people.

use std::fmt::Display;
use std::io;

use crate::record::interval::Outcome;

/// How a request is counted that failed, and why it did.
#[derive(Debug)]
pub struct Failure {
    pub outcome: Outcome,
    pub why: String,
}

impl Failure {
    pub fn new(outcome: Outcome, why: impl Display) -> Self {
        let why = why.to_string();
        Self { outcome, why }
    }
}

/// The system's words without its number: "connection refused".
pub fn describe(error: &io::Error) -> String {
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
        let other = io::Error::other("invalid peer certificate: UnknownIssuer");
        assert_eq!(describe(&other), "invalid peer certificate: UnknownIssuer");
    }
}
