//! Events in a body while it passes by: server-sent ones, lines, or messages. Knows no socket and no clock.
//!
//! Source: WHATWG HTML, section 9.2.6 (interpreting an event stream). An event without data is none; comments and
//! other fields are passed over. Of an event's data only what may be the text that ends the stream is kept.

use memchr::{memchr, memchr2};

use crate::spec::{StreamFormat, StreamSpec};

const FIELD: &[u8] = b"data";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What has come.
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
    /// A line has ended with CR: LF may follow, and ends the same line.
    after_cr: bool,
    /// The event so far has a line of data, or the message has begun.
    has_data: bool,
    /// Bytes of its data (of the line, of the message) so far.
    length: usize,
    /// The first of them.
    kept: Vec<u8>,
}

/// Within a line of server-sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the begin of the stream, after so many bytes of a byte order mark.
    Begin(usize),
    /// In the name of a field that may be `data`, of which so many bytes have come.
    Name(usize),
    /// After the colon: a space is left out.
    Colon,
    Data,
    /// In a line that does not matter.
    Other,
}

impl Default for Place {
    fn default() -> Self {
        Self::Begin(0)
    }
}

impl EventParser {
    /// Reads up to the end of the next event, and takes what it has read from `bytes`. None: all was read.
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

    /// A message is whole.
    pub fn message(&mut self, stream: &StreamSpec) -> Found {
        let found = self.found(self.length, stream.until.as_deref().map(str::as_bytes));
        self.forget();
        found
    }

    /// The body is whole. A last line need not end.
    pub fn end(&mut self, stream: &StreamSpec) -> Option<Found> {
        let until = stream.until.as_deref().map(str::as_bytes);
        match stream.format {
            StreamFormat::Sse | StreamFormat::Messages => None,
            StreamFormat::Lines => self.line(until),
        }
    }

    /// An event has begun and not ended. A stream must not end here.
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

    /// A line of data begins; those of one event are joined by LF.
    fn begin_data(&mut self, until: Option<&[u8]>) {
        if self.has_data {
            self.keep(b"\n", most(until));
        }
        self.has_data = true;
    }

    /// At a blank line.
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

    /// At the end of a line.
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

/// So many bytes say whether an event is the text that ends the stream, and whether a line is empty.
fn most(until: Option<&[u8]>) -> usize {
    until.map_or(0, <[u8]>::len) + 1
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
