//! Frames (RFC 9113 section 4).

use super::endpoint::Violation;
use super::reason::Reason;

pub const FRAME_HEAD_BYTES: usize = 9;
/// No frame that comes may carry more: the least that a client has to allow, and what it allows unless it says otherwise.
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
pub struct Head {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
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

/// A frame, or a part of one that carries a body.
#[derive(Debug)]
pub enum Frame<'a> {
    /// `flow`: what counts against the windows, the padding too. `whole`: the frame has come to its end; `end`: so has
    /// its stream.
    Data {
        stream: u32,
        bytes: &'a [u8],
        flow: usize,
        whole: bool,
        end: bool,
    },
    Other(Head, &'a [u8]),
}

/// Takes frames from what comes, in pieces of any size. Bodies pass by; of another frame what has come is kept until it
/// is whole.
#[derive(Debug, Default)]
pub struct Reader {
    rest: Vec<u8>,
    body: Option<Body>,
    /// The head of a frame has come.
    begun: bool,
}

/// A frame that carries a body, and is not at its end.
#[derive(Debug)]
struct Body {
    stream: u32,
    /// Bytes to come, with the padding.
    left: usize,
    padding: usize,
    /// The first byte to come says how long the padding is.
    padded: bool,
    end: bool,
}

impl Reader {
    /// Reads all of `input`; `take` has each frame.
    pub fn feed(
        &mut self,
        mut input: &[u8],
        mut take: impl FnMut(Frame<'_>) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        loop {
            if let Some(body) = &mut self.body {
                if input.is_empty() && body.left > 0 {
                    return Ok(());
                }
                if let Some(frame) = body.read(&mut input)? {
                    take(frame)?;
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
                    take(Frame::Other(head, payload))?;
                    input = after;
                } else {
                    self.rest.extend_from_slice(input);
                    return Ok(());
                }
            } else if !self.complete(&mut input, &mut take)? {
                return Ok(());
            }
        }
    }

    fn begin(&mut self, bytes: &[u8; FRAME_HEAD_BYTES]) -> Result<Head, Violation> {
        let head = Head::read(bytes);
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
                return Err(Violation::new(Reason::FRAME_SIZE_ERROR, TOO_SHORT));
            }
            self.body = Some(Body {
                stream: head.stream,
                left: head.length,
                padding: 0,
                padded,
                end: head.has(END_STREAM),
            });
        }
        Ok(head)
    }

    /// Goes on with a frame of which a part is kept. False if it is still not whole.
    fn complete(
        &mut self,
        input: &mut &[u8],
        take: &mut impl FnMut(Frame<'_>) -> Result<(), Violation>,
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
            take(Frame::Other(head, &self.rest[FRAME_HEAD_BYTES..]))?;
        }
        self.rest = Vec::new();
        Ok(true)
    }

    /// Keeps so many bytes in all; false if fewer have come.
    fn fill(&mut self, wanted: usize, input: &mut &[u8]) -> bool {
        let missing = wanted.saturating_sub(self.rest.len()).min(input.len());
        self.rest.extend_from_slice(&input[..missing]);
        *input = &input[missing..];
        self.rest.len() >= wanted
    }
}

const HTTP_1: &str = "the server answered in HTTP/1.1: it does not take HTTP/2 without TLS (h2c)";
const NO_HTTP_2: &str = "the server does not speak HTTP/2: its answer begins with no frame of it";
pub const TOO_SHORT: &str = "a frame is too short for what it carries";
pub const PADDING: &str = "a frame has more padding than payload";

impl Body {
    /// The next part; `None`: so far there is only the length of the padding.
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
