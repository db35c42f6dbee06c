//! Frames (RFC 9113 section 4).

use crate::protocol::h2::reason::{Reason, Violation};

pub const FRAME_HEAD_BYTES: usize = 9;
/// The largest payload that is sent or accepted: the minimum, and the default, of `SETTINGS_MAX_FRAME_SIZE`.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 0x20;

#[derive(Debug, Clone, Copy)]
pub struct FrameHead {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    fn read(bytes: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & (u32::MAX >> 1),
        }
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

pub fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    write_head(payload.len(), kind, flags, stream, out);
    out.extend_from_slice(payload);
}

pub fn write_head(length: usize, kind: u8, flags: u8, stream: u32, out: &mut Vec<u8>) {
    let length = (length as u32).to_be_bytes();
    out.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// A frame, or a part of a DATA frame.
#[derive(Debug)]
pub enum Frame<'a> {
    /// `flow` is what counts against the windows, padding included. `whole`: this is the end of the frame; `end`: it is
    /// also the end of the stream.
    Data {
        stream: u32,
        bytes: &'a [u8],
        flow: usize,
        whole: bool,
        end: bool,
    },
    Other(FrameHead, &'a [u8]),
}

/// Splits what comes, in pieces of any size, into frames. DATA frames are passed on piece by piece; any other frame is
/// kept until it is whole.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// What has come of a frame that is not whole, DATA frames apart.
    rest: Vec<u8>,
    /// The DATA frame that is being read.
    body: Option<PartialData>,
    /// Whether the head of a frame has come yet.
    begun: bool,
}

/// A DATA frame that is not complete.
#[derive(Debug)]
struct PartialData {
    stream: u32,
    /// Bytes still to come, padding included.
    left: usize,
    padding: usize,
    /// Whether the next byte is the length of the padding.
    padded: bool,
    end: bool,
}

impl FrameReader {
    /// Reads all of `input`, and passes each frame to `pass_on`.
    pub fn feed(
        &mut self,
        mut input: &[u8],
        mut pass_on: impl FnMut(Frame<'_>) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        loop {
            if let Some(body) = &mut self.body {
                if input.is_empty() && body.left > 0 {
                    return Ok(());
                }
                if let Some(frame) = body.read(&mut input)? {
                    pass_on(frame)?;
                }
                if body.left == 0 {
                    self.body = None;
                }
            } else if self.rest.is_empty() {
                let Some((head, payload)) = input.split_first_chunk() else {
                    self.rest.extend_from_slice(input);
                    return Ok(());
                };
                let head = self.begin(head)?;
                if self.body.is_some() {
                    input = payload;
                } else if let Some((payload, after)) = payload.split_at_checked(head.length) {
                    pass_on(Frame::Other(head, payload))?;
                    input = after;
                } else {
                    self.rest.extend_from_slice(input);
                    return Ok(());
                }
            } else if !self.complete(&mut input, &mut pass_on)? {
                return Ok(());
            }
        }
    }

    fn begin(&mut self, bytes: &[u8; FRAME_HEAD_BYTES]) -> Result<FrameHead, Violation> {
        let head = FrameHead::read(bytes);
        if head.length > MAX_PAYLOAD_BYTES {
            return Err(match self.begun {
                true => Violation::new(Reason::FRAME_SIZE_ERROR, "a frame is larger than 16 KiB"),
                false if bytes.starts_with(b"HTTP/1") => {
                    Violation::new(Reason::HTTP_1_1_REQUIRED, HTTP_1)
                }
                false => Violation::new(Reason::HTTP_1_1_REQUIRED, NO_HTTP_2),
            });
        }
        self.begun = true;
        if head.kind == DATA {
            let padded = head.has(PADDED);
            if padded && head.length == 0 {
                return Err(BAD_LENGTH);
            }
            self.body = Some(PartialData {
                stream: head.stream,
                left: head.length,
                padding: 0,
                padded,
                end: head.has(END_STREAM),
            });
        }
        Ok(head)
    }

    /// Continues with a frame that is partly kept. Returns false if it is still not whole.
    fn complete(
        &mut self,
        input: &mut &[u8],
        pass_on: &mut impl FnMut(Frame<'_>) -> Result<(), Violation>,
    ) -> Result<bool, Violation> {
        if !self.fill(FRAME_HEAD_BYTES, input) {
            return Ok(false);
        }
        let bytes = *self.rest.first_chunk().expect("it is whole");
        let head = self.begin(&bytes)?;
        if self.body.is_none() {
            if !self.fill(FRAME_HEAD_BYTES + head.length, input) {
                return Ok(false);
            }
            pass_on(Frame::Other(head, &self.rest[FRAME_HEAD_BYTES..]))?;
        }
        self.rest = Vec::new();
        Ok(true)
    }

    /// Fills `rest` up to `wanted` bytes; returns false if fewer have come.
    fn fill(&mut self, wanted: usize, input: &mut &[u8]) -> bool {
        let missing = wanted.saturating_sub(self.rest.len()).min(input.len());
        self.rest.extend_from_slice(&input[..missing]);
        *input = &input[missing..];
        self.rest.len() >= wanted
    }
}

const HTTP_1: &str = "the server answered in HTTP/1.1: it does not take HTTP/2 without TLS (h2c)";
const NO_HTTP_2: &str = "the server does not speak HTTP/2: its response begins with no frame of it";
pub const BAD_LENGTH: Violation = Violation {
    reason: Reason::FRAME_SIZE_ERROR,
    what: "a frame's length does not fit its type",
};
pub const PADDING: &str = "a frame has more padding than payload";

impl PartialData {
    /// Reads the next part; `None` if nothing has come.
    fn read<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Frame<'a>>, Violation> {
        let mut flow = 0;
        if self.padded
            && let Some((length, rest)) = input.split_first()
        {
            *input = rest;
            self.padded = false;
            self.padding = usize::from(*length);
            self.left -= 1;
            flow = 1;
            if self.padding > self.left {
                return Err(Violation::new(Reason::PROTOCOL_ERROR, PADDING));
            }
        }
        let (part, rest) = input.split_at(self.left.min(input.len()));
        *input = rest;
        let unpadded = self.left.saturating_sub(self.padding);
        let bytes = &part[..part.len().min(unpadded)];
        self.left -= part.len();
        flow += part.len();
        let whole = self.left == 0;
        Ok((flow > 0 || whole).then_some(Frame::Data {
            stream: self.stream,
            bytes,
            flow,
            whole,
            end: self.end && whole,
        }))
    }
}
