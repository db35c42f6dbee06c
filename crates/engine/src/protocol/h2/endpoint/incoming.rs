//! What the server sends, and the replies that the protocol requires.

use std::mem;

use crate::protocol::h1::MAX_HEAD_BYTES;
use crate::protocol::h2::endpoint::{
    Block, ENABLE_PUSH, Endpoint, FRAME_SIZES, GoAway, INITIAL_WINDOW_SIZE, LAST_STREAM,
    MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, WINDOW_BYTES,
};
use crate::protocol::h2::frame::{
    self, ACK, BAD_LENGTH, CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_HEAD_BYTES, Frame,
    FrameHead, GOAWAY, HEADERS, PADDED, PADDING, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    SETTINGS, WINDOW_UPDATE, WITH_PRIORITY,
};
use crate::protocol::h2::hpack::Broken;
use crate::protocol::h2::reason::{Reason, Violation};
use crate::protocol::h2::stream::StreamEvent;

/// The largest size of a window (section 6.9.1).
const MAX_WINDOW_BYTES: i64 = (1 << 31) - 1;
/// A header block in more frames than this is taken for an attack.
const MAX_BLOCK_FRAMES: usize = 32;
/// How many bytes of a GOAWAY's debug data are kept.
const MAX_DEBUG_BYTES: usize = 256;

const OVERRUN: &str = "more of a body came than the window allows";
const TOO_WIDE: &str = "a window was opened beyond 2 GiB";

impl Endpoint {
    /// Reads what came at `now`. Clients whose bodies may go on are woken once, however often their windows changed.
    pub fn feed(&mut self, input: &[u8], now: u64) -> Result<(), Violation> {
        let windows = (self.window, self.initial_window);
        let mut reader = mem::take(&mut self.reader);
        let read = reader.feed(input, |frame| self.take(&frame, now));
        self.reader = reader;
        if windows != (self.window, self.initial_window) {
            self.wake_all();
        }
        read
    }

    fn take(&mut self, frame: &Frame<'_>, now: u64) -> Result<(), Violation> {
        match *frame {
            Frame::Data {
                stream,
                bytes,
                flow,
                whole,
                end,
            } => {
                self.in_order(DATA, stream)?;
                let wire = flow + if whole { FRAME_HEAD_BYTES } else { 0 };
                self.data(stream, bytes, flow, wire, end, now)
            }
            Frame::Other(head, payload) => {
                self.in_order(head.kind, head.stream)?;
                self.other(head, payload, now)
            }
        }
    }

    /// Checks that SETTINGS is the first frame (section 3.4), and that nothing comes between the parts of a header
    /// block (section 4.3).
    fn in_order(&self, kind: u8, stream: u32) -> Result<(), Violation> {
        if !self.settings_received && kind != SETTINGS {
            return Err(Violation::protocol("its first frame is not SETTINGS"));
        }
        match &self.block {
            Some(block) if kind != CONTINUATION || stream != block.stream => Err(
                Violation::protocol("a frame came in the middle of a header block"),
            ),
            None if kind == CONTINUATION => Err(Violation::protocol(
                "CONTINUATION came without a header block",
            )),
            _ => Ok(()),
        }
    }

    fn other(&mut self, head: FrameHead, payload: &[u8], now: u64) -> Result<(), Violation> {
        match head.kind {
            HEADERS => self.headers(head, payload, now),
            CONTINUATION => self.continuation(head, payload, now),
            RST_STREAM => {
                let code = u32_of(payload)?;
                if !self.was_opened(head.stream) {
                    return Err(Violation::protocol("RST_STREAM for a stream that is idle"));
                }
                if let Some(open) = self.streams.remove(&head.stream) {
                    let reason = Reason(code);
                    self.refused += u32::from(reason == Reason::REFUSED_STREAM);
                    let event = StreamEvent::Reset(reason);
                    open.stream
                        .note_event(now, FRAME_HEAD_BYTES + payload.len(), event, &[]);
                }
                Ok(())
            }
            SETTINGS => self.settings(head, payload),
            PING => self.ping(head, payload),
            GOAWAY => self.go_away(head, payload, now),
            WINDOW_UPDATE => self.window(head, payload),
            PUSH_PROMISE => Err(Violation::protocol(
                "PUSH_PROMISE, which jostle does not allow",
            )),
            PRIORITY if payload.len() != 5 => Err(BAD_LENGTH),
            // Frames of unknown kinds are ignored (section 5.5), and so are the deprecated priorities of section 5.3.
            _ => Ok(()),
        }
    }

    /// Whether the client has opened this stream, even if it is no longer open.
    fn was_opened(&self, stream: u32) -> bool {
        stream % 2 == 1 && stream < self.next
    }

    /// Judges a frame of a response that came for a stream that is not open.
    fn check_not_open(&self, stream: u32) -> Result<(), Violation> {
        if !self.was_opened(stream) {
            return Err(Violation::protocol(
                "a frame came for a stream that nobody opened",
            ));
        }
        if self.reset_streams_overflowed || self.reset_streams.contains(&stream) {
            return Ok(());
        }
        let what = "a frame came for a stream that had ended";
        Err(Violation::new(Reason::STREAM_CLOSED, what))
    }

    fn data(
        &mut self,
        id: u32,
        bytes: &[u8],
        flow: usize,
        wire: usize,
        end: bool,
        now: u64,
    ) -> Result<(), Violation> {
        self.unacknowledged += flow as u32;
        if self.unacknowledged > WINDOW_BYTES {
            return Err(Violation::new(Reason::FLOW_CONTROL_ERROR, OVERRUN));
        }
        reopen_window(&mut self.unacknowledged, 0, &mut self.out);
        let Some(open) = self.streams.get_mut(&id) else {
            return self.check_not_open(id);
        };
        if open.answered {
            let what = "a frame came for a stream that had ended";
            return Err(Violation::new(Reason::STREAM_CLOSED, what));
        }
        open.unacknowledged += flow as u32;
        if open.unacknowledged > WINDOW_BYTES {
            return Err(Violation::new(Reason::FLOW_CONTROL_ERROR, OVERRUN));
        }
        if !end {
            reopen_window(&mut open.unacknowledged, id, &mut self.out);
        }
        // Empty frames carry no information, and are not worth waking the client for.
        if end || flow > 0 {
            let length = bytes.len();
            let event = StreamEvent::Data { length, end };
            open.stream.note_event(now, wire, event, bytes);
        }
        self.note_end(id, end);
        Ok(())
    }

    fn headers(&mut self, head: FrameHead, mut payload: &[u8], now: u64) -> Result<(), Violation> {
        if head.has(PADDED) {
            let (length, rest) = payload.split_first().ok_or(BAD_LENGTH)?;
            let kept = rest.len().checked_sub(usize::from(*length));
            payload = &rest[..kept.ok_or(Violation::protocol(PADDING))?];
        }
        if head.has(WITH_PRIORITY) {
            payload = payload.get(5..).ok_or(BAD_LENGTH)?;
        }
        let end = head.has(END_STREAM);
        if head.has(END_HEADERS) {
            return self.block(
                head.stream,
                payload,
                FRAME_HEAD_BYTES + head.length,
                end,
                now,
            );
        }
        if !self.streams.contains_key(&head.stream) {
            self.check_not_open(head.stream)?;
        }
        self.block = Some(Block {
            stream: head.stream,
            end,
            bytes: payload.to_vec(),
            frames: 1,
        });
        Ok(())
    }

    fn continuation(&mut self, head: FrameHead, payload: &[u8], now: u64) -> Result<(), Violation> {
        let Some(mut block) = self.block.take() else {
            unreachable!("the order of frames was looked at");
        };
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        if block.frames > MAX_BLOCK_FRAMES || block.bytes.len() > MAX_HEAD_BYTES {
            let what = "a header block is larger than 64 KiB or in more than 32 frames";
            return Err(Violation::new(Reason::ENHANCE_YOUR_CALM, what));
        }
        if !head.has(END_HEADERS) {
            self.block = Some(block);
            return Ok(());
        }
        let wire = block.bytes.len() + block.frames * FRAME_HEAD_BYTES;
        self.block(block.stream, &block.bytes, wire, block.end, now)
    }

    fn block(
        &mut self,
        id: u32,
        block: &[u8],
        wire: usize,
        end: bool,
        now: u64,
    ) -> Result<(), Violation> {
        let broken = |broken: Broken| {
            let reason = match broken {
                Broken::TooMuch => Reason::ENHANCE_YOUR_CALM,
                _ => Reason::COMPRESSION_ERROR,
            };
            Violation::new(reason, broken.what())
        };
        let decoder = &mut self.decoder;
        let Some(open) = self.streams.get(&id) else {
            // The block is decoded all the same: it may change the table, which later blocks refer to.
            decoder.decode(block, 0, &mut Vec::new()).map_err(broken)?;
            return self.check_not_open(id);
        };
        if open.answered {
            let what = "a frame came for a stream that had ended";
            return Err(Violation::new(Reason::STREAM_CLOSED, what));
        }
        let decode = |out: &mut Vec<u8>| decoder.decode(block, MAX_HEAD_BYTES, out);
        open.stream.head(now, wire, end, decode).map_err(broken)?;
        self.note_end(id, end);
        Ok(())
    }

    fn note_end(&mut self, id: u32, end: bool) {
        if end && let Some(open) = self.streams.get_mut(&id) {
            open.answered = true;
            if open.request_complete {
                self.streams.remove(&id);
            }
        }
    }

    fn settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Violation> {
        check_is_of_connection(head)?;
        if head.has(ACK) {
            return if payload.is_empty() {
                Ok(())
            } else {
                Err(BAD_LENGTH)
            };
        }
        let (settings, []) = payload.as_chunks::<6>() else {
            return Err(BAD_LENGTH);
        };
        if !mem::replace(&mut self.settings_received, true) {
            self.max_concurrent_streams = usize::MAX; // no limit, unless it is stated (section 6.5.2)
        }
        for [a, b, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*a, *b]) {
                MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = value as usize,
                INITIAL_WINDOW_SIZE => self.set_initial_window(i64::from(value))?,
                ENABLE_PUSH if value != 0 => {
                    return Err(Violation::protocol(
                        "SETTINGS_ENABLE_PUSH of a server is not 0",
                    ));
                }
                MAX_FRAME_SIZE if !FRAME_SIZES.contains(&value) => {
                    return Err(Violation::protocol(
                        "SETTINGS_MAX_FRAME_SIZE is not between 16,384 and 16,777,215",
                    ));
                }
                // The others do not matter: header blocks are sent without a table, and frames of at most 16 KiB.
                _ => {}
            }
        }
        frame::write(SETTINGS, ACK, 0, &[], &mut self.out);
        Ok(())
    }

    /// Sets the initial window. The difference also applies to streams that are open (section 6.9.2).
    fn set_initial_window(&mut self, window: i64) -> Result<(), Violation> {
        let more = window - mem::replace(&mut self.initial_window, window);
        for open in self.streams.values() {
            open.stream.window.set(open.stream.window.get() + more);
        }
        let mut windows = self.streams.values().map(|open| open.stream.window.get());
        if window > MAX_WINDOW_BYTES || windows.any(|window| window > MAX_WINDOW_BYTES) {
            return Err(Violation::new(Reason::FLOW_CONTROL_ERROR, TOO_WIDE));
        }
        Ok(())
    }

    fn ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Violation> {
        check_is_of_connection(head)?;
        if payload.len() != 8 {
            return Err(BAD_LENGTH);
        }
        if !head.has(ACK) {
            frame::write(PING, ACK, 0, payload, &mut self.out);
        }
        Ok(())
    }

    fn go_away(&mut self, head: FrameHead, payload: &[u8], now: u64) -> Result<(), Violation> {
        check_is_of_connection(head)?;
        let (last, rest) = payload.split_first_chunk().ok_or(BAD_LENGTH)?;
        let (code, debug) = rest.split_first_chunk().ok_or(BAD_LENGTH)?;
        let last = u32::from_be_bytes(*last) & LAST_STREAM;
        self.go_away = Some(GoAway {
            last,
            reason: Reason(u32::from_be_bytes(*code)),
            debug: debug[..debug.len().min(MAX_DEBUG_BYTES)].into(),
        });
        self.streams.retain(|id, open| {
            if *id > last {
                open.stream.note_event(now, 0, StreamEvent::Refused, &[]);
            }
            *id <= last
        });
        Ok(())
    }

    fn window(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Violation> {
        let more = i64::from(u32_of(payload)? & LAST_STREAM);
        if more == 0 {
            return Err(Violation::protocol("WINDOW_UPDATE by nothing"));
        }
        let window = if head.stream == 0 {
            self.window += more;
            self.window
        } else if let Some(open) = self.streams.get(&head.stream) {
            let window = open.stream.window.get() + more;
            open.stream.window.set(window);
            open.stream.wake();
            window
        } else if self.was_opened(head.stream) {
            0
        } else {
            return Err(Violation::protocol(
                "WINDOW_UPDATE for a stream that is idle",
            ));
        };
        if window > MAX_WINDOW_BYTES {
            return Err(Violation::new(Reason::FLOW_CONTROL_ERROR, TOO_WIDE));
        }
        Ok(())
    }
}

/// Reopens a window once it is half used up.
fn reopen_window(taken: &mut u32, stream: u32, out: &mut Vec<u8>) {
    if *taken > WINDOW_BYTES / 2 {
        frame::write(WINDOW_UPDATE, 0, stream, &taken.to_be_bytes(), out);
        *taken = 0;
    }
}

fn check_is_of_connection(head: FrameHead) -> Result<(), Violation> {
    if head.stream == 0 {
        return Ok(());
    }
    Err(Violation::protocol(
        "a frame of the connection came on a stream",
    ))
}

fn u32_of(payload: &[u8]) -> Result<u32, Violation> {
    let bytes = payload.try_into().map_err(|_| BAD_LENGTH)?;
    Ok(u32::from_be_bytes(bytes))
}
