//! Events in a body as it passes by: server-sent events, lines, or messages. Knows nothing of sockets or clocks.
//!
//! Source: WHATWG HTML, section 9.2.6 (interpreting an event stream). An event without data does not count; comments
//! and other fields are ignored. Only as much of an event's data is kept as may be the text that ends the stream.

use memchr::{memchr, memchr2};

use crate::spec::{StreamFormat, StreamSpec};

const FIELD: &[u8] = b"data";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What was found in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Event,
    /// The text that ends the stream.
    End,
}

/// How far one body has been read.
#[derive(Debug, Default)]
pub struct EventParser {
    place: Place,
    /// The last line ended with CR; if LF follows, it belongs to the same line end.
    after_cr: bool,
    /// Whether the event has a line of data so far, or the message has begun.
    has_data: bool,
    /// Bytes of data so far in the event, line or message.
    length: usize,
    /// The first of these bytes.
    kept: Vec<u8>,
}

/// The position within a line of server-sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the beginning of the stream, after this many bytes of a byte order mark.
    Begin(usize),
    /// In the name of a field that may be `data`, after this many of its bytes.
    Name(usize),
    /// After the colon, where one space is skipped.
    Colon,
    Data,
    /// In a line that is ignored.
    Other,
}

impl Default for Place {
    fn default() -> Self {
        Self::Begin(0)
    }
}

impl EventParser {
    /// Reads to the end of the next event and removes what it has read from `bytes`. `None` once everything is read.
    pub fn next(&mut self, stream: &StreamSpec, bytes: &mut &[u8]) -> Option<Found> {
        let until = stream.until.as_deref().map(str::as_bytes);
        match stream.format {
            StreamFormat::Sse => self.next_sent(until, bytes),
            StreamFormat::Lines => self.next_line(until, bytes),
            StreamFormat::Messages => {
                self.has_data = true;
                self.keep(std::mem::take(bytes), most(until));
                None
            }
        }
    }

    /// Ends a message.
    pub fn message(&mut self, stream: &StreamSpec) -> Found {
        let found = self.found(self.length, stream.until.as_deref().map(str::as_bytes));
        self.forget();
        found
    }

    /// Ends the body. Its last line needs no line end.
    pub fn end(&mut self, stream: &StreamSpec) -> Option<Found> {
        let until = stream.until.as_deref().map(str::as_bytes);
        match stream.format {
            StreamFormat::Sse | StreamFormat::Messages => None,
            StreamFormat::Lines => self.line(until),
        }
    }

    /// Whether an event has begun but not ended. A stream must not end there.
    pub fn is_within(&self) -> bool {
        self.has_data
    }

    fn next_sent(&mut self, until: Option<&[u8]>, bytes: &mut &[u8]) -> Option<Found> {
        while let Some((&byte, rest)) = bytes.split_first() {
            if byte == b'\r' || byte == b'\n' {
                *bytes = rest;
                let of_the_line_before = byte == b'\n' && self.after_cr;
                self.after_cr = byte == b'\r';
                if of_the_line_before {
                    continue;
                }
                match std::mem::replace(&mut self.place, Place::Name(0)) {
                    Place::Begin(0) | Place::Name(0) => {
                        if let Some(found) = self.dispatched(until) {
                            return Some(found);
                        }
                    }
                    Place::Name(matched) if matched == FIELD.len() => self.begin_data(until),
                    _ => {}
                }
                continue;
            }
            self.after_cr = false;
            match self.place {
                Place::Begin(matched) if BYTE_ORDER_MARK.get(matched) == Some(&byte) => {
                    *bytes = rest;
                    self.place = Place::Begin(matched + 1);
                }
                Place::Begin(0 | 3) => self.place = Place::Name(0),
                Place::Begin(_) => self.place = Place::Other,
                Place::Name(matched) => {
                    *bytes = rest;
                    self.place = if FIELD.get(matched) == Some(&byte) {
                        Place::Name(matched + 1)
                    } else if matched == FIELD.len() && byte == b':' {
                        self.begin_data(until);
                        Place::Colon
                    } else {
                        Place::Other
                    };
                }
                Place::Colon => {
                    if byte == b' ' {
                        *bytes = rest;
                    }
                    self.place = Place::Data;
                }
                Place::Data | Place::Other => {
                    let end = memchr2(b'\r', b'\n', bytes).unwrap_or(bytes.len());
                    if self.place == Place::Data {
                        self.keep(&bytes[..end], most(until));
                    }
                    *bytes = &bytes[end..];
                }
            }
        }
        None
    }

    /// Begins a line of data; the lines of one event are joined by LF.
    fn begin_data(&mut self, until: Option<&[u8]>) {
        if self.has_data {
            self.keep(b"\n", most(until));
        }
        self.has_data = true;
    }

    /// Ends the event at a blank line.
    fn dispatched(&mut self, until: Option<&[u8]>) -> Option<Found> {
        let found = self.has_data.then(|| self.found(self.length, until));
        self.forget();
        found
    }

    fn next_line(&mut self, until: Option<&[u8]>, bytes: &mut &[u8]) -> Option<Found> {
        while let Some(end) = memchr(b'\n', bytes) {
            self.keep(&bytes[..end], most(until));
            *bytes = &bytes[end + 1..];
            if let Some(found) = self.line(until) {
                return Some(found);
            }
        }
        self.keep(bytes, most(until));
        *bytes = &[];
        None
    }

    /// Ends a line; an empty one is no event.
    fn line(&mut self, until: Option<&[u8]>) -> Option<Found> {
        let whole = self.length == self.kept.len();
        let cr = usize::from(whole && self.kept.last() == Some(&b'\r'));
        let length = self.length - cr;
        let found = (length > 0).then(|| self.found(length, until));
        self.forget();
        found
    }

    fn found(&self, length: usize, until: Option<&[u8]>) -> Found {
        match until {
            Some(until) if self.kept.get(..length) == Some(until) => Found::End,
            _ => Found::Event,
        }
    }

    fn keep(&mut self, data: &[u8], most: usize) {
        let room = most.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&data[..data.len().min(room)]);
        self.length += data.len();
    }

    fn forget(&mut self) {
        (self.has_data, self.length) = (false, 0);
        self.kept.clear();
    }
}

/// How many bytes it takes to tell whether an event is the text that ends the stream, and whether a line is empty.
fn most(until: Option<&[u8]>) -> usize {
    until.map_or(0, <[u8]>::len) + 1
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
