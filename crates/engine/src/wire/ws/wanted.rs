//! Decides which of the messages that come is the answer.

use std::borrow::Cow;

use serde_json::Value;

use crate::spec::Match;
use crate::wire::h1::codec::Template;
use crate::wire::verify::MAX_JSON_BYTES;

/// The answer that is awaited, and how far the current message matches it.
#[derive(Debug)]
pub enum Wanted<'a> {
    /// Any message.
    Next,
    Echo {
        sent: &'a [u8],
        /// The part of `sent` that has not come yet; `None` if the current message differs from it.
        rest: Option<&'a [u8]>,
    },
    Field {
        pointer: &'a str,
        /// What was sent at `pointer`. If that is `None`, no message is the answer.
        value: Option<Value>,
        /// The message so far. One that is too long to be read as JSON is not the answer.
        kept: Vec<u8>,
    },
}

impl<'a> Wanted<'a> {
    pub fn new(matched: &'a Match, sent: &'a [u8]) -> Self {
        match matched {
            Match::Order => Self::Next,
            Match::Echo => Self::Echo {
                sent,
                rest: Some(sent),
            },
            Match::Field(pointer) => Self::Field {
                pointer,
                value: value_at(sent, pointer),
                kept: Vec::new(),
            },
        }
    }

    /// Takes in the next bytes of a message.
    pub fn feed(&mut self, data: &[u8]) {
        match self {
            Self::Next => {}
            Self::Echo { rest, .. } => *rest = rest.and_then(|rest| rest.strip_prefix(data)),
            Self::Field { kept, .. } => {
                let room = (MAX_JSON_BYTES + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&data[..data.len().min(room)]);
            }
        }
    }

    /// The message is complete; returns its content if it is the answer. For [`Wanted::Next`] the content is empty,
    /// because it is not kept.
    pub fn end(&mut self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Next => Some(Cow::Borrowed(&[])),
            Self::Echo { sent, rest } => {
                let rest = rest.replace(sent);
                rest.is_some_and(<[u8]>::is_empty)
                    .then_some(Cow::Borrowed(*sent))
            }
            Self::Field {
                pointer,
                value,
                kept,
            } => {
                let message = std::mem::take(kept);
                let right = value.is_some() && value_at(&message, pointer) == *value;
                right.then_some(Cow::Owned(message))
            }
        }
    }

    /// Why the answer did not come in time, if more is known; `others` is the number of messages that were passed over.
    pub fn missed(&self, others: u64) -> Option<String> {
        match self {
            Self::Field {
                pointer,
                value: None,
                ..
            } => Some(format!(
                "what was sent has no value at {pointer} by which its answer could be known"
            )),
            Self::Field { pointer, .. } if others > 0 => Some(format!(
                "no message with the same value at {pointer} came in time, but others did"
            )),
            Self::Echo { .. } if others > 0 => Some(
                "no message equal to the one that was sent came in time, but others did".to_owned(),
            ),
            _ => None,
        }
    }
}

/// Checks that a message that is always the same has the value by which its answer is recognised.
pub fn check(matched: &Match, message: &Template) -> Result<(), String> {
    let (Match::Field(pointer), Some(sent)) = (matched, message.fixed()) else {
        return Ok(());
    };
    match value_at(sent, pointer) {
        Some(_) => Ok(()),
        None => Err(format!("match: what is sent has no value at {pointer}")),
    }
}

/// The value at `pointer`; `None` if there is none, or if the message is not JSON or too long to be read.
fn value_at(message: &[u8], pointer: &str) -> Option<Value> {
    if message.len() > MAX_JSON_BYTES {
        return None;
    }
    let document: Value = serde_json::from_slice(message).ok()?;
    document.pointer(pointer).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the message is the answer, which must not depend on the pieces in which it comes.
    fn is_answer(wanted: &mut Wanted<'_>, message: &[u8]) -> bool {
        let mut answers = [1, 3, 1000].map(|piece| {
            for data in message.chunks(piece) {
                wanted.feed(data);
            }
            let found = wanted.end();
            if let (Some(found), false) = (&found, matches!(wanted, Wanted::Next)) {
                assert_eq!(&**found, message);
            }
            found.is_some()
        });
        answers.sort_unstable();
        assert_eq!(answers[0], answers[2]);
        answers[0]
    }

    #[test]
    fn an_echo_is_equal_from_begin_to_end() {
        let mut wanted = Wanted::new(&Match::Echo, b"hello");
        for (message, answer) in [
            ("hell", false),
            ("hello", true),
            ("hello!", false),
            ("", false),
        ] {
            assert_eq!(
                is_answer(&mut wanted, message.as_bytes()),
                answer,
                "{message}"
            );
        }
        assert!(is_answer(&mut Wanted::new(&Match::Echo, b""), b""));
        assert!(is_answer(&mut Wanted::new(&Match::Order, b"x"), b"y"));
    }

    #[test]
    fn a_field_has_the_value_that_was_sent() {
        let by_id = Match::Field("/id".to_owned());
        let mut wanted = Wanted::new(&by_id, br#"{"id": 7, "say": "x"}"#);
        for (message, answer) in [
            (r#"{"ok": true, "id": 7}"#, true),
            (r#"{"id": "7"}"#, false),
            (r#"{"id": 8}"#, false),
            (r#"{"news": 7}"#, false),
            ("7", false),
            ("no JSON", false),
            ("", false),
        ] {
            assert_eq!(
                is_answer(&mut wanted, message.as_bytes()),
                answer,
                "{message}"
            );
        }
        let long = format!(r#"{{"id": 7, "x": "{}"}}"#, "x".repeat(MAX_JSON_BYTES));
        assert!(!is_answer(&mut wanted, long.as_bytes()));
        let why = wanted.missed(1).unwrap();
        assert!(why.contains("the same value at /id"), "{why}");
        assert_eq!(wanted.missed(0), None);
    }

    #[test]
    fn nothing_answers_a_message_without_the_field() {
        let by_id = Match::Field("/id".to_owned());
        let mut wanted = Wanted::new(&by_id, b"{}");
        assert!(!is_answer(&mut wanted, b"{}"));
        assert!(wanted.missed(0).unwrap().contains("has no value at /id"));
    }
}
