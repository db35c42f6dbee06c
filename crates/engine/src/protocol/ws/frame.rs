//! WebSocket frames without I/O: RFC 6455, section 5. This is the client's side: it masks what it sends, and rejects
//! frames that are masked.
//!
//! ```text
//!   head ──┬─ data frame ──► Data… ──┬─ final ──► End
//!    ▲     │                         └─ not ──┐
//!    │     └─ control frame ──► Ping, Pong, Close
//!    └────────────────────────────────────────┘
//! ```
//!
//! Control frames may come between the frames of a message. The steps yield the same messages, or the same error,
//! whatever the sizes of the pieces in which frames arrive. No part of a message is kept.

use thiserror::Error;

use crate::outcome::Outcome;
use crate::protocol::ws::utf8::Utf8;

/// A control frame carries at most this many bytes.
pub const MAX_CONTROL_BYTES: usize = 125;
/// Two bytes, and an extended length of up to eight.
const MAX_HEAD_BYTES: usize = 10;

const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0F;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7F;
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    Text,
    Binary,
}

/// What the used part of the input was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameStep {
    /// All of the input was used.
    NeedMore,
    /// This many bytes, at the end of what was used, belong to a message.
    Data(usize),
    /// The message is whole.
    End(MessageKind),
    /// To be answered by a pong with the same [`payload`](FrameDecoder::payload).
    Ping,
    Pong,
    /// The peer closes the WebSocket, with this code if it gave one.
    Close(Option<u16>),
}

/// Why the connection must be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("a frame has reserved bits, and no extension was agreed on")]
    ReservedBits,
    #[error("a frame has the opcode {0:#x}, which nothing stands for")]
    Opcode(u8),
    #[error("a frame from the server is masked")]
    Masked,
    #[error("a control frame is fragmented")]
    ControlFragmented,
    #[error("a control frame has more than 125 bytes")]
    ControlTooLong,
    #[error("a frame continues a message, and none had begun")]
    NothingToContinue,
    #[error("a message began before the one before it had ended")]
    Interleaved,
    #[error("the length of a frame is not written in the shortest way")]
    LengthNotMinimal,
    #[error("the length of a frame has its highest bit set")]
    LengthTooLarge,
    #[error("a message is longer than is allowed")]
    TooLarge,
    #[error("a text message is not UTF-8")]
    NotUtf8,
    #[error("a close frame has a body of one byte")]
    CloseBody,
    #[error("a close frame has the code {0}, which must not be sent")]
    CloseCode(u16),
}

impl FrameError {
    pub fn outcome(self) -> Outcome {
        match self {
            Self::TooLarge => Outcome::TooLarge,
            _ => Outcome::Malformed,
        }
    }
}

/// Reads the frames of one connection.
#[derive(Debug)]
pub struct FrameDecoder {
    state: DecoderState,
    head: [u8; MAX_HEAD_BYTES],
    /// Bytes of the head that have come.
    have: usize,
    /// The payload of the control frame that is being read, or was read last.
    control: Vec<u8>,
    /// The type of the message that has begun.
    message: Option<MessageKind>,
    /// Total length of that message's frames so far.
    length: u64,
    /// The largest length of a whole message.
    max_bytes: u64,
    utf8: Utf8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecoderState {
    Head,
    /// In a frame of a message, `left` bytes of which are missing.
    Data {
        left: u64,
        last: bool,
    },
    Control {
        opcode: u8,
        left: usize,
    },
}

impl FrameDecoder {
    /// `max_bytes` is the largest length of a whole message in bytes.
    pub fn new(max_bytes: Option<u64>) -> Self {
        Self {
            state: DecoderState::Head,
            head: [0; MAX_HEAD_BYTES],
            have: 0,
            control: Vec::new(),
            message: None,
            length: 0,
            max_bytes: max_bytes.unwrap_or(u64::MAX),
            utf8: Utf8::default(),
        }
    }

    /// Whether a message has begun and not ended.
    pub fn is_within_message(&self) -> bool {
        self.message.is_some()
    }

    /// The payload of the last control frame.
    pub fn payload(&self) -> &[u8] {
        &self.control
    }

    /// Continues reading. Returns how many bytes of the input were used, and what they were.
    pub fn step(&mut self, input: &[u8]) -> Result<(usize, FrameStep), FrameError> {
        let mut used = 0;
        loop {
            match self.state {
                DecoderState::Head => {
                    used += self.take_head(&input[used..]);
                    if self.have < self.head_length() {
                        return Ok((used, FrameStep::NeedMore));
                    }
                    self.state = self.begin_frame()?;
                    self.have = 0;
                }
                DecoderState::Data { left: 0, last } => {
                    self.state = DecoderState::Head;
                    if last {
                        return Ok((used, FrameStep::End(self.end_message()?)));
                    }
                }
                DecoderState::Data { left, last } => {
                    let room = usize::try_from(left).unwrap_or(usize::MAX);
                    let data = &input[used..][..room.min(input.len() - used)];
                    if data.is_empty() {
                        return Ok((used, FrameStep::NeedMore));
                    }
                    if self.message == Some(MessageKind::Text) && !self.utf8.feed(data) {
                        return Err(FrameError::NotUtf8);
                    }
                    self.state = DecoderState::Data {
                        left: left - data.len() as u64,
                        last,
                    };
                    return Ok((used + data.len(), FrameStep::Data(data.len())));
                }
                DecoderState::Control { opcode, left } => {
                    let data = &input[used..][..left.min(input.len() - used)];
                    self.control.extend_from_slice(data);
                    used += data.len();
                    if data.len() < left {
                        self.state = DecoderState::Control {
                            opcode,
                            left: left - data.len(),
                        };
                        return Ok((used, FrameStep::NeedMore));
                    }
                    self.state = DecoderState::Head;
                    return Ok((used, self.end_control(opcode)?));
                }
            }
        }
    }

    /// Takes as much of the head as has come; returns how many bytes that was.
    fn take_head(&mut self, input: &[u8]) -> usize {
        let mut used = 0;
        while self.have < self.head_length() && used < input.len() {
            let wanted = (self.head_length() - self.have).min(input.len() - used);
            self.head[self.have..][..wanted].copy_from_slice(&input[used..][..wanted]);
            self.have += wanted;
            used += wanted;
        }
        used
    }

    /// The length of the head as far as it is known; the second byte determines it.
    fn head_length(&self) -> usize {
        match self.head[1] & LENGTH {
            _ if self.have < 2 => 2,
            LENGTH_16 => 4,
            LENGTH_64 => 10,
            _ => 2,
        }
    }

    /// Interprets the head, which is complete.
    fn begin_frame(&mut self) -> Result<DecoderState, FrameError> {
        let (first, second) = (self.head[0], self.head[1]);
        let (last, opcode) = (first & FINAL != 0, first & OPCODE);
        if first & RESERVED != 0 {
            return Err(FrameError::ReservedBits);
        }
        if second & MASKED != 0 {
            return Err(FrameError::Masked);
        }
        let length = self.frame_length()?;
        if opcode >= opcode::CLOSE {
            return self.begin_control(opcode, last, length);
        }
        match (opcode, self.message) {
            (opcode::CONTINUATION, None) => return Err(FrameError::NothingToContinue),
            (opcode::CONTINUATION, Some(_)) => {}
            (opcode::TEXT | opcode::BINARY, Some(_)) => return Err(FrameError::Interleaved),
            (opcode::TEXT, None) => self.message = Some(MessageKind::Text),
            (opcode::BINARY, None) => self.message = Some(MessageKind::Binary),
            _ => return Err(FrameError::Opcode(opcode)),
        }
        self.length = self.length.saturating_add(length);
        if self.length > self.max_bytes {
            return Err(FrameError::TooLarge);
        }
        Ok(DecoderState::Data { left: length, last })
    }

    fn frame_length(&self) -> Result<u64, FrameError> {
        let (length, min_length) = match self.head[1] & LENGTH {
            LENGTH_16 => (
                u64::from(u16::from_be_bytes([self.head[2], self.head[3]])),
                u64::from(LENGTH_16),
            ),
            LENGTH_64 => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&self.head[2..]);
                (u64::from_be_bytes(bytes), 1 << 16)
            }
            short => (u64::from(short), 0),
        };
        if length >> 63 != 0 {
            return Err(FrameError::LengthTooLarge);
        }
        if length < min_length {
            return Err(FrameError::LengthNotMinimal);
        }
        Ok(length)
    }

    fn begin_control(
        &mut self,
        opcode: u8,
        last: bool,
        length: u64,
    ) -> Result<DecoderState, FrameError> {
        if opcode > opcode::PONG {
            return Err(FrameError::Opcode(opcode));
        }
        if !last {
            return Err(FrameError::ControlFragmented);
        }
        if length > MAX_CONTROL_BYTES as u64 {
            return Err(FrameError::ControlTooLong);
        }
        self.control.clear();
        Ok(DecoderState::Control {
            opcode,
            left: length as usize,
        })
    }

    fn end_control(&mut self, opcode: u8) -> Result<FrameStep, FrameError> {
        match opcode {
            opcode::PING => Ok(FrameStep::Ping),
            opcode::PONG => Ok(FrameStep::Pong),
            _ => Ok(FrameStep::Close(close_code(&self.control)?)),
        }
    }

    fn end_message(&mut self) -> Result<MessageKind, FrameError> {
        self.length = 0;
        let kind = self.message.take().unwrap_or(MessageKind::Binary);
        if kind == MessageKind::Text && !self.utf8.end() {
            return Err(FrameError::NotUtf8);
        }
        Ok(kind)
    }
}

/// The opcodes (section 11.8).
pub mod opcode {
    pub const CONTINUATION: u8 = 0x0;
    pub const TEXT: u8 = 0x1;
    pub const BINARY: u8 = 0x2;
    pub const CLOSE: u8 = 0x8;
    pub const PING: u8 = 0x9;
    pub const PONG: u8 = 0xA;
}

/// The reason in a close frame's body, after its code.
pub fn close_reason(body: &[u8]) -> &str {
    let reason = body.get(2..).unwrap_or_default();
    std::str::from_utf8(reason).unwrap_or_default()
}

/// The code in a close frame's body, if it has one that may be sent (section 7.4).
fn close_code(body: &[u8]) -> Result<Option<u16>, FrameError> {
    let (code, reason) = match body {
        [] => return Ok(None),
        [_] => return Err(FrameError::CloseBody),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(FrameError::CloseCode(code));
    }
    if std::str::from_utf8(reason).is_err() {
        return Err(FrameError::NotUtf8);
    }
    Ok(Some(code))
}

/// Appends a whole frame to `out`, masked with `key`.
pub fn encode(opcode: u8, payload: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    out.push(FINAL | opcode);
    match payload.len() {
        short @ ..126 => out.push(MASKED | short as u8),
        medium @ 126..=0xFFFF => {
            out.push(MASKED | LENGTH_16);
            out.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            out.push(MASKED | LENGTH_64);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&key);
    let begin = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[begin..], key);
}

/// Masks or unmasks: the operation is its own inverse (section 5.3).
fn mask(bytes: &mut [u8], key: [u8; 4]) {
    let mut chunks = bytes.chunks_exact_mut(4);
    for chunk in &mut chunks {
        for (byte, key) in chunk.iter_mut().zip(key) {
            *byte ^= key;
        }
    }
    for (byte, key) in chunks.into_remainder().iter_mut().zip(key) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests;
