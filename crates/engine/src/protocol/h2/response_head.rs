//! The head of a response.

use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::framing::{decimal, is_redirect};
use crate::protocol::h1::head::HeadValues;
use crate::protocol::h2::hpack::Fields;
use crate::protocol::h2::message::OF_CONNECTIONS;
use crate::protocol::h2::stream::StreamEvent;
use crate::protocol::location::Location;

#[derive(Debug, Default)]
pub struct ResponseHead {
    pub status: u16,
    /// What its Content-Length says.
    pub length: Option<u64>,
    pub values: HeadValues,
    /// The head as text, in the form of HTTP/1.1.
    pub text: Option<Box<[u8]>>,
}

/// What is wanted of a head beside its status.
#[derive(Debug, Clone, Copy)]
pub struct HeadNeeds {
    pub location: bool,
    pub coding: bool,
    pub text: bool,
}

impl ResponseHead {
    /// Reads a response from the decoded fields of its head.
    pub fn read(fields: &[u8], needs: HeadNeeds) -> Result<Self, Failure> {
        let mut fields = Fields(fields);
        let status = fields
            .next()
            .ok_or_else(|| malformed("its head has no status"))?;
        let mut head = Self {
            status: read_status(status)?,
            ..Self::default()
        };
        let mut text = Vec::new();
        for (name, value) in fields {
            check(name, value)?;
            match name {
                b"content-length" => head.length = Some(length(value, head.length)?),
                b"location" if needs.location && is_redirect(head.status) => {
                    let known = head.values.location.take();
                    head.values.location = Location::add(known, value);
                }
                b"content-encoding" if needs.coding => head.values.add_coding(value),
                _ => {}
            }
            if needs.text {
                for part in [name, b": ", value, b"\r\n"] {
                    text.extend_from_slice(part);
                }
            }
        }
        if needs.text {
            let line = format!("HTTP/2 {}\r\n", head.status);
            let whole = [line.as_bytes(), &text, b"\r\n"].concat();
            head.text = Some(whole.into());
        }
        Ok(head)
    }

    /// Whether another head follows this one.
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }
}

/// Reads the first field, which has to be the status (RFC 9113 section 8.3.2).
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

/// Checks a field other than the status (sections 8.2.1 to 8.3).
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

fn length(value: &[u8], earlier: Option<u64>) -> Result<u64, Failure> {
    let error = match decimal(value) {
        None => DecodeError::ContentLength,
        Some(length) if earlier.is_some_and(|earlier| earlier != length) => {
            DecodeError::ContentLengthConflict
        }
        Some(length) => return Ok(length),
    };
    Err(Failure::new(error.outcome(), error))
}

/// The failure of a response that breaks the rules while its connection remains intact.
pub fn malformed(what: impl std::fmt::Display) -> Failure {
    let why = format!("the response breaks the rules of HTTP/2: {what}");
    Failure::new(Outcome::Malformed, why)
}

/// Whether an event that came at `at` is of a response, and came before its request had left at `sent`: the server
/// guessed the number of its stream.
pub fn is_too_early(event: StreamEvent, at: u64, sent: Option<u64>) -> bool {
    let of_response = matches!(event, StreamEvent::Head { .. } | StreamEvent::Data { .. });
    of_response && sent.is_none_or(|sent| at < sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::h2::reason::Reason;

    #[test]
    fn a_response_comes_after_its_request_has_left() {
        let head = StreamEvent::Head {
            length: 0,
            whole: true,
            end: true,
        };
        let data = StreamEvent::Data {
            length: 0,
            end: true,
        };
        for event in [head, data] {
            assert!(is_too_early(event, 7, None));
            assert!(is_too_early(event, 7, Some(8)));
            assert!(!is_too_early(event, 8, Some(8)));
        }
        // A connection that ends has not waited for the request.
        for event in [StreamEvent::Refused, StreamEvent::Reset(Reason::CANCEL)] {
            assert!(!is_too_early(event, 7, None));
        }
    }
}
