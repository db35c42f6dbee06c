//! The client's endpoint of a connection (RFC 9113 sections 5 and 6): its streams, flow-control windows and settings.
//! It does no I/O: bytes come and go through buffers.

pub mod incoming;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::outcome::Failure;
use crate::protocol::h1::MAX_HEAD_BYTES;
use crate::protocol::h2::frame::{
    self, CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_HEAD_BYTES, FrameReader, GOAWAY,
    HEADERS, MAX_PAYLOAD_BYTES, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use crate::protocol::h2::hpack::FieldDecoder;
use crate::protocol::h2::reason::{Reason, Violation};
use crate::protocol::h2::stream::Stream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The values that `SETTINGS_MAX_FRAME_SIZE` may have (section 6.5.2).
const FRAME_SIZES: RangeInclusive<u32> = 1 << 14..=(1 << 24) - 1;

/// Size of the client's windows, the same as h2load's: so large that no response has to wait for a window update.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// Initial size of every window until it is changed (section 6.9.2).
const FIRST_WINDOW_BYTES: i64 = 65_535;
/// Assumed limit of concurrent streams until the server's SETTINGS come: the minimum that section 6.5.2 recommends to
/// servers.
const STREAMS_BEFORE_SETTINGS: usize = 100;
/// How many reset streams are remembered, because the server may still send frames for them without being at fault.
const GIVEN_UP: usize = 1024;
/// Body bytes are queued only while fewer bytes than this wait for the socket.
const UPLOAD_BYTES: usize = 64 * 1024;
/// The capacity that a connection's send buffer keeps when it is empty.
const KEPT_BYTES: usize = 1024;
/// The send buffer drops what was written of it once that is more than this, and more than half of it.
const WRITTEN_BYTES: usize = 64 * 1024;
const LAST_STREAM: u32 = u32::MAX >> 1;

/// The server's GOAWAY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoAway {
    /// The last stream that the server processes.
    last: u32,
    pub reason: Reason,
    pub debug: Box<[u8]>,
}

/// Why a connection has ended.
#[derive(Debug, Clone)]
pub enum Ending {
    /// The server closed it.
    Closed,
    Lost(Failure),
    Broken(Violation),
}

#[derive(Debug)]
pub struct Endpoint {
    out: Vec<u8>,
    /// How many bytes of `out` have been written.
    written: usize,
    /// How many written bytes are no longer in `out`.
    dropped: u64,
    reader: FrameReader,
    /// Whether the server's first SETTINGS frame has come.
    pub settings_received: bool,
    streams: HashMap<u32, Open>,
    next: u32,
    block: Option<Block>,
    decoder: FieldDecoder,
    /// How many concurrent streams the server accepts.
    pub max_concurrent_streams: usize,
    initial_window: i64,
    /// How many bytes of request bodies the server still accepts on the connection.
    window: i64,
    /// Bytes of bodies that came since the connection's window was last reopened.
    unacknowledged: u32,
    /// Whether the rest of some body waits until `out` has been written.
    held: bool,
    reset_streams: VecDeque<u32>,
    /// Whether `reset_streams` has overflowed, so that it no longer lists all streams that were given up.
    reset_streams_overflowed: bool,
    /// How many streams the server has refused by themselves.
    refused: u32,
    pub go_away: Option<GoAway>,
    pub ending: Option<Ending>,
}

#[derive(Debug)]
struct Open {
    stream: Rc<Stream>,
    /// Bytes of the body that came since the stream's window was last reopened.
    unacknowledged: u32,
    /// Whether the request is complete.
    request_complete: bool,
    /// Whether the response is complete.
    answered: bool,
}

/// A header block that is not complete.
#[derive(Debug)]
struct Block {
    stream: u32,
    end: bool,
    bytes: Vec<u8>,
    frames: usize,
}

impl Default for Endpoint {
    fn default() -> Self {
        let mut out = PREFACE.to_vec();
        let settings = [
            (HEADER_TABLE_SIZE, 0),
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, WINDOW_BYTES),
            (MAX_HEADER_LIST_SIZE, MAX_HEAD_BYTES as u32),
        ];
        frame::write_head(settings.len() * 6, SETTINGS, 0, 0, &mut out);
        for (name, value) in settings {
            out.extend_from_slice(&name.to_be_bytes());
            out.extend_from_slice(&value.to_be_bytes());
        }
        let more = WINDOW_BYTES - FIRST_WINDOW_BYTES as u32;
        frame::write(WINDOW_UPDATE, 0, 0, &more.to_be_bytes(), &mut out);
        Self {
            out,
            written: 0,
            dropped: 0,
            reader: FrameReader::default(),
            settings_received: false,
            streams: HashMap::new(),
            next: 1,
            block: None,
            decoder: FieldDecoder::default(),
            max_concurrent_streams: STREAMS_BEFORE_SETTINGS,
            initial_window: FIRST_WINDOW_BYTES,
            window: FIRST_WINDOW_BYTES,
            unacknowledged: 0,
            held: false,
            reset_streams: VecDeque::new(),
            reset_streams_overflowed: false,
            refused: 0,
            go_away: None,
            ending: None,
        }
    }
}

impl Endpoint {
    /// Whether it takes another request.
    pub fn takes_more(&self) -> bool {
        self.ending.is_none() && self.go_away.is_none() && self.next < LAST_STREAM
    }

    /// Whether the server's GOAWAY says that it has begun with requests of this connection, other than those that it
    /// refused by themselves.
    pub fn has_processed(&self) -> bool {
        let last = self.go_away.as_ref().map_or(0, |go_away| go_away.last);
        // The streams of the client are 1, 3, 5 and so on. The GOAWAY may name one that was never opened.
        let begun = last.min(self.next - 1).div_ceil(2);
        begun > self.refused
    }

    /// The bytes that are to be written.
    pub fn unsent(&self) -> &[u8] {
        &self.out[self.written..]
    }

    /// How many bytes of this connection have been written so far.
    pub fn written(&self) -> u64 {
        self.dropped + self.written as u64
    }

    /// How many bytes of this connection have been written, or are to be.
    pub fn queued(&self) -> u64 {
        self.dropped + self.out.len() as u64
    }

    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        let whole = self.written == self.out.len();
        if whole || (self.written > WRITTEN_BYTES && self.written > self.out.len() / 2) {
            self.dropped += self.written as u64;
            self.out.drain(..self.written);
            self.written = 0;
        }
        if whole {
            self.out.shrink_to(KEPT_BYTES);
        }
    }

    /// Begins a request on `stream` with its header block; `end` means that it has no body. Returns the stream's number
    /// and the number of bytes on the wire.
    pub fn ask(&mut self, stream: &Rc<Stream>, block: &[u8], end: bool) -> (u32, usize) {
        let id = self.next;
        self.next += 2;
        stream.window.set(self.initial_window);
        let open = Open {
            stream: stream.clone(),
            unacknowledged: 0,
            request_complete: end,
            answered: false,
        };
        self.streams.insert(id, open);
        let before = self.out.len();
        let mut parts = block.chunks(MAX_PAYLOAD_BYTES);
        let count = parts.len();
        let of_end = if end { END_STREAM } else { 0 };
        let last = |index: usize| if index + 1 == count { END_HEADERS } else { 0 };
        let first = parts.next().unwrap_or_default();
        frame::write(HEADERS, of_end | last(0), id, first, &mut self.out);
        for (index, part) in parts.enumerate() {
            frame::write(CONTINUATION, last(index + 1), id, part, &mut self.out);
        }
        (id, self.out.len() - before)
    }

    /// Sends as much of a body as the windows and `UPLOAD_BYTES` allow; `end` means that nothing follows `body`.
    /// Returns how many of its bytes were sent, and how many bytes that is on the wire.
    pub fn send(&mut self, id: u32, body: &[u8], end: bool) -> (usize, usize) {
        let Some(open) = self.streams.get_mut(&id) else {
            return (0, 0);
        };
        let (mut sent, mut wire) = (0, 0);
        while sent < body.len() {
            if self.out.len() - self.written >= UPLOAD_BYTES {
                self.held = true;
                break;
            }
            let room = self.window.min(open.stream.window.get());
            let max_bytes = usize::try_from(room).unwrap_or(0).min(MAX_PAYLOAD_BYTES);
            let part = &body[sent..(sent + max_bytes).min(body.len())];
            if part.is_empty() {
                break;
            }
            sent += part.len();
            open.request_complete = end && sent == body.len();
            let flags = if open.request_complete { END_STREAM } else { 0 };
            frame::write(DATA, flags, id, part, &mut self.out);
            let taken = part.len() as u32;
            self.window -= i64::from(taken);
            let window = open.stream.window.get() - i64::from(taken);
            open.stream.window.set(window);
            wire += FRAME_HEAD_BYTES + part.len();
        }
        if open.request_complete && open.answered {
            self.streams.remove(&id);
        }
        (sent, wire)
    }

    /// Called when the client has finished with the stream. Resets it if it is not over.
    pub fn release(&mut self, id: u32) {
        if self.streams.remove(&id).is_none() || self.ending.is_some() {
            return;
        }
        let cancel = Reason::CANCEL.0.to_be_bytes();
        frame::write(RST_STREAM, 0, id, &cancel, &mut self.out);
        self.reset_streams.push_back(id);
        if self.reset_streams.len() > GIVEN_UP {
            self.reset_streams.pop_front();
            self.reset_streams_overflowed = true;
        }
    }

    /// Announces that the client closes the connection gracefully.
    pub fn leave(&mut self) {
        self.send_go_away(Reason::NO_ERROR);
    }

    /// Ends the connection, and wakes its clients so that they find out.
    pub fn end(&mut self, ending: Ending) {
        if let Ending::Broken(violation) = &ending {
            self.send_go_away(violation.reason);
        }
        self.ending.get_or_insert(ending);
        for (_, open) in mem::take(&mut self.streams) {
            open.stream.wake();
        }
    }

    /// Queues a GOAWAY. Its last stream is 0, because the server has no streams of its own.
    fn send_go_away(&mut self, reason: Reason) {
        let payload = (u64::from(reason.0)).to_be_bytes();
        frame::write(GOAWAY, 0, 0, &payload, &mut self.out);
    }

    /// Wakes the clients whose bodies wait until everything has been written, if it has.
    pub fn wake_held(&mut self) {
        if self.unsent().is_empty() && mem::take(&mut self.held) {
            self.wake_all();
        }
    }

    /// Wakes the clients whose requests are not complete, so that they continue sending.
    fn wake_all(&self) {
        let waiting = self.streams.values().filter(|open| !open.request_complete);
        waiting.for_each(|open| open.stream.wake());
    }
}
