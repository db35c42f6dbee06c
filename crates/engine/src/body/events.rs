//! Events in a body as it passes by: server-sent events, lines, or messages. Knows nothing of sockets or clocks.
//!
//! Source: WHATWG HTML, section 9.2.6 (interpreting an event stream). An event without data does not count; comments
//! and other fields are ignored. Only as much of an event's data is kept as is looked at.

use memchr::{memchr, memchr2};

use crate::body::event_meaning::{Event, EventStream, Meaning};
use crate::search::json::BYTE_ORDER_MARK;
use crate::spec::StreamFormat;

/// The name of events that are errors.
const ERROR: &[u8] = b"error";

/// How far one body has been read.
#[derive(Debug, Default)]
pub struct EventParser {
    state: ParserState,
    /// The last line ended with CR; if LF follows, it belongs to the same line end.
    after_cr: bool,
    /// Whether the event has a line of data so far, or the message has begun.
    has_data: bool,
    /// Bytes of data so far in the event, line or message.
    length: usize,
    /// The first of these bytes.
    kept: Vec<u8>,
    /// The name of the event, as far as it may be the one of errors.
    name: Vec<u8>,
    /// Whether the first event that counts has come.
    begun: bool,
    /// The number of tokens, as the latest event that states one has it.
    pub tokens: Option<u64>,
}

/// A field of a server-sent event that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Name,
}

impl Field {
    fn key(self) -> &'static [u8] {
        match self {
            Self::Data => b"data",
            Self::Name => b"event",
        }
    }
}

/// The position within a line of server-sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    /// At the beginning of the stream, after this many bytes of a byte order mark.
    Begin(usize),
    /// At the beginning of a line.
    Line,
    /// In what may be the key of a field, after this many of its bytes.
    Key(Field, usize),
    /// After the colon, where one space is skipped.
    Colon(Field),
    Value(Field),
    /// In a line that is ignored.
    Other,
}

impl Default for ParserState {
    fn default() -> Self {
        Self::Begin(0)
    }
}

impl EventParser {
    /// Reads to the end of the next event and removes what it has read from `bytes`. `None` once everything is read.
    pub fn next(&mut self, stream: &EventStream, bytes: &mut &[u8]) -> Option<Meaning> {
        match stream.spec.format {
            StreamFormat::Sse => self.next_sent(stream, bytes),
            StreamFormat::Lines => self.next_line(stream, bytes),
            StreamFormat::Messages => {
                self.has_data = true;
                self.keep(std::mem::take(bytes), stream);
                None
            }
        }
    }

    /// Ends a message.
    pub fn message(&mut self, stream: &EventStream) -> Meaning {
        self.end_event(self.length, stream)
    }

    /// Ends the body. Its last line needs no line end, and the text that ends a stream of server-sent events, after
    /// which nothing is to come, no blank line: clients of language models read lines.
    pub fn end(&mut self, stream: &EventStream) -> Option<Meaning> {
        match stream.spec.format {
            StreamFormat::Messages => None,
            StreamFormat::Lines => self.line(stream),
            StreamFormat::Sse => {
                let is_end = self.has_data && stream.ends_with(self.event(self.length));
                is_end.then(|| self.end_event(self.length, stream))
            }
        }
    }

    /// Whether an event has begun but not ended. A stream must not end there.
    pub fn is_incomplete(&self) -> bool {
        self.has_data
    }

    fn next_sent(&mut self, stream: &EventStream, bytes: &mut &[u8]) -> Option<Meaning> {
        while let Some((&byte, rest)) = bytes.split_first() {
            if byte == b'\r' || byte == b'\n' {
                *bytes = rest;
                let of_the_line_before = byte == b'\n' && self.after_cr;
                self.after_cr = byte == b'\r';
                if of_the_line_before {
                    continue;
                }
                match std::mem::replace(&mut self.state, ParserState::Line) {
                    ParserState::Begin(0) | ParserState::Line => {
                        if let Some(meaning) = self.dispatch(stream) {
                            return Some(meaning);
                        }
                    }
                    ParserState::Key(field, matched) if matched == field.key().len() => {
                        self.begin_value(field, stream);
                    }
                    _ => {}
                }
                continue;
            }
            self.after_cr = false;
            match self.state {
                ParserState::Begin(matched) if BYTE_ORDER_MARK.get(matched) == Some(&byte) => {
                    *bytes = rest;
                    self.state = ParserState::Begin(matched + 1);
                }
                ParserState::Begin(0 | 3) => self.state = ParserState::Line,
                ParserState::Begin(_) => self.state = ParserState::Other,
                ParserState::Line => {
                    let fields = [Field::Data, Field::Name];
                    let begun = fields.into_iter().find(|field| field.key()[0] == byte);
                    self.state =
                        begun.map_or(ParserState::Other, |field| ParserState::Key(field, 0));
                }
                ParserState::Key(field, matched) => {
                    *bytes = rest;
                    let key = field.key();
                    self.state = if key.get(matched) == Some(&byte) {
                        ParserState::Key(field, matched + 1)
                    } else if matched == key.len() && byte == b':' {
                        self.begin_value(field, stream);
                        ParserState::Colon(field)
                    } else {
                        ParserState::Other
                    };
                }
                ParserState::Colon(field) => {
                    if byte == b' ' {
                        *bytes = rest;
                    }
                    self.state = ParserState::Value(field);
                }
                ParserState::Value(_) | ParserState::Other => {
                    let end = memchr2(b'\r', b'\n', bytes).unwrap_or(bytes.len());
                    let (value, rest) = bytes.split_at(end);
                    match self.state {
                        ParserState::Value(Field::Data) => self.keep(value, stream),
                        ParserState::Value(Field::Name) => {
                            keep_up_to(ERROR.len() + 1, value, &mut self.name);
                        }
                        _ => {}
                    }
                    *bytes = rest;
                }
            }
        }
        None
    }

    /// Begins the value of a field. The lines of data of one event are joined by LF, and its last name counts.
    fn begin_value(&mut self, field: Field, stream: &EventStream) {
        match field {
            Field::Name => self.name.clear(),
            Field::Data => {
                if self.has_data {
                    self.keep(b"\n", stream);
                }
                self.has_data = true;
            }
        }
    }

    /// Ends the event at a blank line.
    fn dispatch(&mut self, stream: &EventStream) -> Option<Meaning> {
        let meaning = self.has_data.then(|| self.end_event(self.length, stream));
        self.name.clear();
        meaning
    }

    fn next_line(&mut self, stream: &EventStream, bytes: &mut &[u8]) -> Option<Meaning> {
        while let Some(end) = memchr(b'\n', bytes) {
            self.keep(&bytes[..end], stream);
            *bytes = &bytes[end + 1..];
            if let Some(meaning) = self.line(stream) {
                return Some(meaning);
            }
        }
        self.keep(bytes, stream);
        *bytes = &[];
        None
    }

    /// Ends a line; an empty one is no event.
    fn line(&mut self, stream: &EventStream) -> Option<Meaning> {
        let whole = self.length == self.kept.len();
        let cr = usize::from(whole && self.kept.last() == Some(&b'\r'));
        if self.length == cr {
            self.forget();
            return None;
        }
        Some(self.end_event(self.length - cr, stream))
    }

    /// What has come of the event, whose data have this length.
    fn event(&self, length: usize) -> Event<'_> {
        Event {
            is_error: self.name == ERROR,
            data: &self.kept[..length.min(self.kept.len())],
            is_whole: length <= self.kept.len(),
        }
    }

    /// Ends the event, whose data have this length; returns what it means.
    fn end_event(&mut self, length: usize, stream: &EventStream) -> Meaning {
        let event = self.event(length);
        let meaning = stream.meaning(event, self.begun);
        let tokens = stream.tokens(event);
        self.tokens = tokens.or(self.tokens);
        self.begun |= meaning == Meaning::Event;
        self.forget();
        meaning
    }

    fn keep(&mut self, data: &[u8], stream: &EventStream) {
        let first = self.kept.first().or(data.first()).copied();
        keep_up_to(stream.kept_bytes(first), data, &mut self.kept);
        self.length += data.len();
    }

    fn forget(&mut self) {
        (self.has_data, self.length) = (false, 0);
        self.kept.clear();
    }
}

fn keep_up_to(max_bytes: usize, bytes: &[u8], kept: &mut Vec<u8>) {
    let free = max_bytes.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(free)]);
}

#[cfg(test)]
mod tests;
