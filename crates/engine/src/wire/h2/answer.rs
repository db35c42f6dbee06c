//! The head of an answer.

use crate::record::interval::Outcome;
use crate::wire::failure::Failure;
use crate::wire::h1::codec::{DecodeError, MAX_HEADERS, redirects};
use crate::wire::h2::codec::Fields;
use crate::wire::h2::message::OF_CONNECTIONS;

#[derive(Debug, Default)]
pub struct Answer {
    pub status: u16,
    /// What its Content-Length says.
    pub length: Option<u64>,
    /// Where a redirect leads.
    pub location: Option<Box<[u8]>>,
    /// As it would stand in HTTP/1.1.
    pub text: Option<Box<[u8]>>,
}

/// What is wanted of it beside its status.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub location: bool,
    pub text: bool,
}

impl Answer {
    /// Of the fields of its head.
    pub fn read(fields: &[u8], wanted: Wanted) -> Result<Self, Failure> {
        let mut fields = Fields(fields);
        let status = fields
            .next()
            .ok_or_else(|| malformed("its head has no status"))?;
        let mut answer = Self {
            status: read_status(status)?,
            ..Self::default()
        };
        let mut text = Vec::new();
        for (count, (name, value)) in fields.enumerate() {
            if count == MAX_HEADERS {
                let error = DecodeError::TooManyHeaders;
                return Err(Failure::new(error.outcome(), error));
            }
            check(name, value)?;
            match name {
                b"content-length" => answer.length = Some(length(value)?),
                b"location" if wanted.location && redirects(answer.status) => {
                    answer.location = Some(value.into());
                }
                _ => {}
            }
            if wanted.text {
                for part in [name, b": ", value, b"\r\n"] {
                    text.extend_from_slice(part);
                }
            }
        }
        if wanted.text {
            let line = format!("HTTP/2 {}\r\n", answer.status);
            let whole = [line.as_bytes(), &text, b"\r\n"].concat();
            answer.text = Some(whole.into());
        }
        Ok(answer)
    }

    /// Others follow it.
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }
}

/// RFC 9113 section 8.3.2: the status comes first.
fn read_status((name, value): (&[u8], &[u8])) -> Result<u16, Failure> {
    if name != b":status" {
        return Err(malformed("its head does not begin with its status"));
    }
    let text = std::str::from_utf8(value).ok();
    let status = text
        .filter(|text| text.len() == 3)
        .and_then(|text| text.parse().ok());
    status
        .filter(|status| (100..1000).contains(status) && *status != 101)
        .ok_or_else(|| malformed("its status is not one of HTTP/2"))
}

/// Sections 8.2.1 to 8.3.
fn check(name: &[u8], value: &[u8]) -> Result<(), Failure> {
    let bad = |byte: &u8| matches!(byte, 0..=b' ' | b'A'..=b'Z' | b':' | 0x7f..);
    if name.is_empty() || name.iter().any(bad) {
        return Err(malformed(
            "a header's name is in capitals, begins with a colon, or has a character that no name can have",
        ));
    }
    if OF_CONNECTIONS.iter().any(|other| other.as_bytes() == name) {
        return Err(malformed("its head has a header that only HTTP/1.1 has"));
    }
    if memchr::memchr3(0, b'\r', b'\n', value).is_some() {
        return Err(malformed(
            "a header's value has a character that no value can have",
        ));
    }
    Ok(())
}

fn length(value: &[u8]) -> Result<u64, Failure> {
    let digits = value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits);
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let error = DecodeError::ContentLength;
        Failure::new(error.outcome(), error)
    })
}

/// An answer that breaks the rules, though its connection does not.
pub fn malformed(what: impl std::fmt::Display) -> Failure {
    let why = format!("the answer breaks the rules of HTTP/2: {what}");
    Failure::new(Outcome::Malformed, why)
}
