//! What the events of a stream mean: which one ends it, which is the first that counts, which is an error, and which say
//! how many tokens were sent.

use memchr::memmem::find;

use crate::search::json::{Pointer, Search};
use crate::search::missing::MAX_VALUE_BYTES;
use crate::search::window::Pattern;
use crate::spec::{EventPattern, StreamFormat, StreamSpec};

/// How many bytes of an event are looked at.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// How many bytes of the text of an error are shown.
const MAX_ERROR_BYTES: usize = 1000;

/// A stream that is asked for; prepared once and shared by all clients.
#[derive(Debug)]
pub struct EventStream {
    pub spec: StreamSpec,
    first: Option<EventCondition>,
    fails: ErrorRule,
    usage: Option<EventCondition>,
}

#[derive(Debug)]
enum EventCondition {
    Regex(Pattern),
    Json(Pointer<'static>),
}

/// Which events are errors.
#[derive(Debug)]
enum ErrorRule {
    Never,
    /// Those of the interfaces of language models, which keep to no standard: server-sent events with the name "error",
    /// and those whose data is a JSON object with an `error` that is a text or an object.
    ByConvention {
        error: Pointer<'static>,
    },
    By(EventCondition),
}

/// An event as it came.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Whether it is a server-sent event with the name "error".
    pub is_error: bool,
    /// Its data, as far as they were kept.
    pub data: &'a [u8],
    /// Whether that is all of them.
    pub is_whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    Event,
    /// An event before the first that counts.
    Preliminary,
    /// The text that ends the stream.
    End,
    /// An error, with its text.
    Error(String),
}

impl EventStream {
    /// The error says what is wrong with the specification.
    pub fn new(spec: &StreamSpec) -> Result<Self, String> {
        let condition =
            |pattern: &Option<EventPattern>| pattern.as_ref().map(EventCondition::new).transpose();
        let fails = match (condition(&spec.fails)?, spec.format) {
            (Some(pattern), _) => ErrorRule::By(pattern),
            (None, StreamFormat::Sse) => ErrorRule::ByConvention {
                error: Pointer::parse(b"/error")?.into_owned(),
            },
            (None, StreamFormat::Lines | StreamFormat::Messages) => ErrorRule::Never,
        };
        Ok(Self {
            spec: spec.clone(),
            first: condition(&spec.first)?,
            fails,
            usage: condition(&spec.usage)?,
        })
    }

    /// How many bytes are to be kept of an event that begins with `first`, if its first byte has come.
    pub fn kept_bytes(&self, first: Option<u8>) -> usize {
        // One byte more than the text that ends the stream shows that an event is longer, or not empty.
        let until = self.spec.until.as_ref().map_or(0, String::len) + 1;
        match (&self.first, &self.fails, &self.usage) {
            (None, ErrorRule::Never, None) => until,
            // It is no JSON object, but may still get the name "error": that can follow the data.
            (None, ErrorRule::ByConvention { .. }, None)
                if first.is_some_and(|byte| byte != b'{') =>
            {
                until.max(MAX_ERROR_BYTES + 1)
            }
            _ => MAX_EVENT_BYTES,
        }
    }

    /// Whether something looks at the data of the events.
    pub fn reads_events(&self) -> bool {
        self.kept_bytes(None) > 1
    }

    pub fn ends_with(&self, event: Event<'_>) -> bool {
        let until = self.spec.until.as_deref();
        event.is_whole && until.is_some_and(|until| until.as_bytes() == event.data)
    }

    /// `begun`: whether the first event that counts has come.
    pub fn meaning(&self, event: Event<'_>, begun: bool) -> Meaning {
        if self.ends_with(event) {
            Meaning::End
        } else if self.fails.matches(event) {
            Meaning::Error(shortened(event.data))
        } else if !begun
            && self
                .first
                .as_ref()
                .is_some_and(|first| !first.matches(event.data))
        {
            Meaning::Preliminary
        } else {
            Meaning::Event
        }
    }

    /// The number of tokens that an event tells, if it does.
    pub fn tokens(&self, event: Event<'_>) -> Option<u64> {
        let value = self.usage.as_ref()?.value(event.data)?;
        std::str::from_utf8(&value).ok()?.trim().parse().ok()
    }
}

impl ErrorRule {
    fn matches(&self, event: Event<'_>) -> bool {
        match self {
            Self::Never => false,
            Self::ByConvention { error } => {
                event.is_error
                    || (event.data.starts_with(b"{")
                        && find(event.data, b"\"error\"").is_some()
                        && text_at(error, event.data)
                            .is_some_and(|value| matches!(value.first(), Some(b'"' | b'{'))))
            }
            Self::By(condition) => condition.matches(event.data),
        }
    }
}

impl EventCondition {
    fn new(pattern: &EventPattern) -> Result<Self, String> {
        Ok(match pattern {
            EventPattern::Regex(pattern) => {
                Self::Regex(Pattern::compile(pattern, MAX_VALUE_BYTES)?)
            }
            EventPattern::Json(pointer) => {
                Self::Json(Pointer::parse(pointer.as_bytes())?.into_owned())
            }
        })
    }

    fn matches(&self, data: &[u8]) -> bool {
        match self {
            Self::Regex(pattern) => pattern.matches(data),
            Self::Json(pointer) => text_at(pointer, data).is_some(),
        }
    }

    fn value(&self, data: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Regex(pattern) => pattern.last(data).map(<[u8]>::to_vec),
            Self::Json(pointer) => search(pointer, data).end().ok(),
        }
    }
}

/// The text of an error, of which the beginning is enough.
fn shortened(data: &[u8]) -> String {
    let (begin, cut) = match data.get(..MAX_ERROR_BYTES) {
        Some(begin) if data.len() > MAX_ERROR_BYTES => (begin, "…"),
        _ => (data, ""),
    };
    let text = String::from_utf8_lossy(begin);
    text.replace(char::is_control, " ") + cut
}

/// The value at a pointer as it is written, if it is there and says something.
fn text_at(pointer: &Pointer<'_>, data: &[u8]) -> Option<Vec<u8>> {
    let value = search(pointer, data).written().ok()?;
    let empty: [&[u8]; 5] = [b"null", b"false", b"\"\"", b"{}", b"[]"];
    (!empty.contains(&&value[..])).then_some(value)
}

fn search(pointer: &Pointer<'_>, data: &[u8]) -> Search {
    let mut search = Search::with_limit(MAX_VALUE_BYTES);
    search.feed(pointer, data);
    search
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stream(spec: Value) -> EventStream {
        EventStream::new(&serde_json::from_value(spec).unwrap()).unwrap()
    }

    fn event(data: &str) -> Event<'_> {
        Event {
            is_error: false,
            data: data.as_bytes(),
            is_whole: true,
        }
    }

    fn is_error(stream: &EventStream, data: &str) -> bool {
        matches!(stream.meaning(event(data), true), Meaning::Error(_))
    }

    #[test]
    fn errors_of_language_models_are_known_without_being_asked_for() {
        let sse = stream(json!({"format": "sse"}));
        let text = r#"{"error":{"message":"engine dead","code":500}}"#;
        assert_eq!(sse.meaning(event(text), true), Meaning::Error(text.into()));
        let late = r#"{"id": 1, "choices": [], "error": "no memory"}"#;
        assert!(is_error(&sse, late));
        for other in [
            r#"{"error": null}"#,
            r#"{"error": ""}"#,
            r#"{"error": {}}"#,
            r#"{"error": 0.25}"#,
            r#"{"a": {"error": {"code": 1}}}"#,
            r#"{"text": "an \"error\": {}"}"#,
            r#"["error"]"#,
            "error",
        ] {
            assert!(!is_error(&sse, other), "{other}");
        }
        let named = Event {
            is_error: true,
            ..event("a\nb")
        };
        assert_eq!(sse.meaning(named, true), Meaning::Error("a b".into()));
        let long = "x".repeat(MAX_ERROR_BYTES);
        for (data, text) in [
            (long.clone(), long.clone()),
            (long.clone() + "x", long + "…"),
        ] {
            let named = Event {
                is_error: true,
                ..event(&data)
            };
            assert_eq!(sse.meaning(named, true), Meaning::Error(text));
        }
        for format in ["lines", "messages"] {
            assert!(!is_error(&stream(json!({"format": format})), text));
        }
    }

    #[test]
    fn which_events_are_errors_can_be_said() {
        for format in ["sse", "lines", "messages"] {
            let fails = |pattern| stream(json!({"format": format, "fails": pattern}));
            let by_text = fails(json!({"regex": "out of (memory|time)"}));
            assert!(is_error(&by_text, "I am out of time"));
            assert!(!is_error(&by_text, r#"{"error": {"code": 1}}"#));
            let by_value = fails(json!({"json": "/detail/code"}));
            assert!(is_error(&by_value, r#"{"detail": {"code": 7}}"#));
            assert!(!is_error(&by_value, r#"{"detail": {"code": null}}"#));
        }
    }

    #[test]
    fn the_first_event_that_counts_holds_something() {
        let first = |pattern| stream(json!({"format": "sse", "first": pattern}));
        let by_value = first(json!({"json": "/delta/content"}));
        for data in [
            r#"{"delta": {"role": "assistant", "content": ""}}"#,
            r#"{"delta": {"content": null}}"#,
            "{}",
        ] {
            let meaning = |begun| by_value.meaning(event(data), begun);
            assert_eq!(meaning(false), Meaning::Preliminary, "{data}");
            assert_eq!(meaning(true), Meaning::Event, "{data}");
        }
        let token = event(r#"{"delta": {"content": "Hi"}}"#);
        assert_eq!(by_value.meaning(token, false), Meaning::Event);
        let by_text = first(json!({"regex": "token"}));
        let meaning = |data| by_text.meaning(event(data), false);
        assert_eq!(meaning("a role"), Meaning::Preliminary);
        assert_eq!(meaning("a token"), Meaning::Event);
    }

    #[test]
    fn tokens_are_told_by_the_last_match_or_by_a_value() {
        let usage = |pattern| stream(json!({"format": "sse", "usage": pattern}));
        let by_text = usage(json!({"regex": r"tokens: (\d+)"}));
        assert_eq!(by_text.tokens(event("tokens: 1, tokens: 12")), Some(12));
        assert_eq!(by_text.tokens(event("tokens: many")), None);
        let by_value = usage(json!({"json": "/usage/out"}));
        let told = event(r#"{"usage": {"out": 15}}"#);
        assert_eq!(by_value.tokens(told), Some(15));
        assert_eq!(by_value.tokens(event(r#"{"usage": null}"#)), None);
    }

    #[test]
    fn no_more_is_kept_than_is_looked_at() {
        let kept = |spec| stream(spec).kept_bytes(Some(b'{'));
        assert_eq!(kept(json!({"format": "lines"})), 1);
        assert_eq!(kept(json!({"format": "lines", "until": "[DONE]"})), 7);
        let usage = json!({"format": "lines", "usage": {"regex": "x"}});
        assert_eq!(kept(usage), MAX_EVENT_BYTES);
        let custom = stream(json!({"format": "sse", "until": "[DONE]"}));
        assert_eq!(custom.kept_bytes(Some(b'{')), MAX_EVENT_BYTES);
        assert_eq!(custom.kept_bytes(Some(b'x')), MAX_ERROR_BYTES + 1);
        assert!(custom.reads_events());
        assert!(!stream(json!({"format": "messages"})).reads_events());
        let fails = json!({"format": "messages", "fails": {"json": "/error"}});
        assert!(stream(fails).reads_events());
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused() {
        let problem = |first| {
            let spec = json!({"format": "sse", "first": first});
            EventStream::new(&serde_json::from_value(spec).unwrap()).unwrap_err()
        };
        assert!(problem(json!({"regex": "("})).contains("unclosed group"));
        assert!(problem(json!({"json": "choices"})).contains("begins with '/'"));
    }
}
