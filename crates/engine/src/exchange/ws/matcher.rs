//! Decides which of the messages that come is the response.

use std::borrow::Cow;

use crate::search::json::{Json, MAX_DOCUMENT_BYTES, Pointer, RECORD_SEPARATOR, Search};
use crate::search::missing::Missing;
use crate::spec::Match;
use crate::template::request::Template;

/// The response that is awaited, and how far the current message matches it.
#[derive(Debug)]
pub enum ResponseMatcher<'a> {
    /// Any message.
    Next,
    Echo {
        sent: &'a [u8],
        /// The part of `sent` that has not come yet; `None` if the current message differs from it.
        rest: Option<&'a [u8]>,
    },
    Field {
        /// A JSON pointer.
        place: &'a str,
        /// What was sent there.
        value: Json,
        /// The message so far. One that is too long to be read as JSON is not the response.
        kept: Vec<u8>,
    },
}

impl<'a> ResponseMatcher<'a> {
    /// The error says why no response to what is sent could be known.
    pub fn new(matched: &'a Match, sent: &'a [u8]) -> Result<Self, String> {
        Ok(match matched {
            Match::Order => Self::Next,
            Match::Echo => Self::Echo {
                sent,
                rest: Some(sent),
            },
            Match::Field(place) => Self::Field {
                place,
                value: sent_at(place, sent)?,
                kept: Vec::new(),
            },
        })
    }

    /// Takes in the next bytes of a message.
    pub fn feed(&mut self, data: &[u8]) {
        match self {
            Self::Next => {}
            Self::Echo { rest, .. } => *rest = rest.and_then(|rest| rest.strip_prefix(data)),
            Self::Field { kept, .. } => {
                let room = (MAX_DOCUMENT_BYTES + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&data[..data.len().min(room)]);
            }
        }
    }

    /// The message is complete; returns its content if it is the response. For [`ResponseMatcher::Next`] the content is
    /// empty, because it is not kept. Of a message that record separators divide, it is the record that answers.
    pub fn end(&mut self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Next => Some(Cow::Borrowed(&[])),
            Self::Echo { sent, rest } => {
                let rest = rest.replace(sent);
                rest.is_some_and(<[u8]>::is_empty)
                    .then_some(Cow::Borrowed(*sent))
            }
            Self::Field { place, value, kept } => {
                let message = std::mem::take(kept);
                if message.len() > MAX_DOCUMENT_BYTES {
                    return None;
                }
                let pointer = Pointer::parse(place.as_bytes()).ok()?;
                let is_response = |record: &&[u8]| {
                    value_at(&pointer, record).is_ok_and(|answered| answered.is_same(value))
                };
                let record = records(&message).find(is_response)?;
                Some(Cow::Owned(record.to_vec()))
            }
        }
    }

    /// Why the response did not come in time, if more is known; `others` is the number of messages that were passed
    /// over.
    pub fn missed(&self, others: u64) -> Option<String> {
        match self {
            Self::Field { place, .. } if others > 0 => Some(format!(
                "no message with the same value at {place} came in time, but others did"
            )),
            Self::Echo { .. } if others > 0 => Some(
                "no message equal to the one that was sent came in time, but others did".to_owned(),
            ),
            _ => None,
        }
    }
}

/// Checks that a message that is always the same has the value by which its response is recognised.
pub fn check(matched: &Match, message: &Template) -> Result<(), String> {
    message.fixed().map_or(Ok(()), |sent| {
        let prepared = ResponseMatcher::new(matched, sent);
        prepared.map(|_| ()).map_err(|why| format!("match: {why}"))
    })
}

/// The value at `place` in the first record that has one.
fn sent_at(place: &str, sent: &[u8]) -> Result<Json, String> {
    if sent.len() > MAX_DOCUMENT_BYTES {
        return Err(format!(
            "what is sent is longer than {MAX_DOCUMENT_BYTES} bytes, the most in which a value is looked for"
        ));
    }
    let pointer = Pointer::parse(place.as_bytes())?;
    let mut values = records(sent).map(|record| value_at(&pointer, record));
    let first = values.next().unwrap_or_else(|| value_at(&pointer, b""));
    let value = match first {
        Err(Missing::Nothing) => values.find(Result::is_ok).unwrap_or(Err(Missing::Nothing)),
        other => other,
    };
    value.map_err(|missing| match missing {
        Missing::Nothing => format!("what is sent has no value at {place}"),
        missing => format!("what is sent {missing}"),
    })
}

fn value_at(pointer: &Pointer<'_>, record: &[u8]) -> Result<Json, Missing> {
    let written = Search::whole(pointer, record)?;
    Json::parse(&written).map_err(Missing::Json)
}

/// The documents in a message, which record separators may end or divide. Without any it is one.
fn records(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    let records = message.split(|byte| *byte == RECORD_SEPARATOR);
    records.filter(|record| !record.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the message is the response, which must not depend on the pieces in which it comes.
    fn is_response(matcher: &mut ResponseMatcher<'_>, message: &[u8]) -> bool {
        let mut responses = [1, 3, 1000].map(|piece| {
            for data in message.chunks(piece) {
                matcher.feed(data);
            }
            let found = matcher.end();
            if let (Some(found), false) = (&found, matches!(matcher, ResponseMatcher::Next)) {
                assert_eq!(&**found, message);
            }
            found.is_some()
        });
        responses.sort_unstable();
        assert_eq!(responses[0], responses[2]);
        responses[0]
    }

    #[test]
    fn an_echo_is_equal_from_begin_to_end() {
        let mut matcher = ResponseMatcher::new(&Match::Echo, b"hello").unwrap();
        for (message, response) in [
            ("hell", false),
            ("hello", true),
            ("hello!", false),
            ("", false),
        ] {
            assert_eq!(
                is_response(&mut matcher, message.as_bytes()),
                response,
                "{message}"
            );
        }
        assert!(is_response(
            &mut ResponseMatcher::new(&Match::Echo, b"").unwrap(),
            b""
        ));
        assert!(is_response(
            &mut ResponseMatcher::new(&Match::Order, b"x").unwrap(),
            b"y"
        ));
    }

    #[test]
    fn a_field_has_the_value_that_was_sent() {
        let by_id = Match::Field("/id".to_owned());
        let mut matcher = ResponseMatcher::new(&by_id, br#"{"id": 7, "say": "x"}"#).unwrap();
        for (message, response) in [
            (r#"{"ok": true, "id": 7}"#, true),
            (r#"{"id": "7"}"#, false),
            (r#"{"id": 8}"#, false),
            (r#"{"news": 7}"#, false),
            ("7", false),
            ("no JSON", false),
            ("", false),
        ] {
            assert_eq!(
                is_response(&mut matcher, message.as_bytes()),
                response,
                "{message}"
            );
        }
        let long = format!(r#"{{"id": 7, "x": "{}"}}"#, "x".repeat(MAX_DOCUMENT_BYTES));
        assert!(!is_response(&mut matcher, long.as_bytes()));
        let why = matcher.missed(1).unwrap();
        assert!(why.contains("the same value at /id"), "{why}");
        assert_eq!(matcher.missed(0), None);
    }

    #[test]
    fn numbers_are_told_apart_by_all_of_their_digits() {
        let by_id = Match::Field("/id".to_owned());
        let mut matcher = ResponseMatcher::new(&by_id, br#"{"id": 18446744073709551617}"#).unwrap();
        assert!(!is_response(
            &mut matcher,
            br#"{"id": 18446744073709551618}"#
        ));
        assert!(is_response(
            &mut matcher,
            br#"{"id": 18446744073709551617}"#
        ));
    }

    #[test]
    fn record_separators_end_and_divide_messages() {
        let by_id = Match::Field("/invocationId".to_owned());
        let sent = b"{\"type\":1,\"invocationId\":\"7\"}\x1e";
        let mut matcher = ResponseMatcher::new(&by_id, sent).unwrap();
        for (message, response) in [
            ("{}\x1e", None),
            (
                "{\"type\":6}\x1e{\"type\":3,\"invocationId\":\"7\",\"result\":1}\x1e",
                Some("{\"type\":3,\"invocationId\":\"7\",\"result\":1}"),
            ),
            ("{\"type\":6}\x1e{\"invocationId\":\"8\"}\x1e", None),
            ("{\"invocationId\":\"7\"}", Some("{\"invocationId\":\"7\"}")),
        ] {
            matcher.feed(message.as_bytes());
            let found = matcher.end();
            assert_eq!(found.as_deref(), response.map(str::as_bytes), "{message}");
        }
        let handshake = b"{\"protocol\":\"json\"}\x1e{\"invocationId\":\"7\"}\x1e";
        assert!(ResponseMatcher::new(&by_id, handshake).is_ok());
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let by_id = Match::Field("/id".to_owned());
        let mut matcher = ResponseMatcher::new(&by_id, "\u{feff}{\"id\": 7}".as_bytes()).unwrap();
        assert!(is_response(&mut matcher, "\u{feff}{\"id\": 7}".as_bytes()));
    }

    #[test]
    fn what_nothing_could_answer_is_told_before_it_is_sent() {
        let by_id = Match::Field("/id".to_owned());
        for (sent, expected) in [
            ("{}", "what is sent has no value at /id"),
            ("", "what is sent cannot be read as JSON: it is empty"),
            (
                "{\"id\": 7} x",
                "what is sent cannot be read as JSON: 'x' after its end, at byte 10",
            ),
            (
                "{\"id\": {id}}",
                "what is sent cannot be read as JSON: 'i' at byte 1",
            ),
        ] {
            let why = ResponseMatcher::new(&by_id, sent.as_bytes()).unwrap_err();
            assert_eq!(why, expected, "{sent}");
        }
    }
}
