//! WebSocket frames as a server reads and writes them. Heads are read and written by tungstenite: what checks the
//! engine's client is not the engine's reading of RFC 6455.

use std::io::Cursor;

use tungstenite::protocol::frame::FrameHeader;
pub use tungstenite::protocol::frame::coding::OpCode;
use tungstenite::protocol::frame::coding::{Control, Data};

/// Longer messages are refused.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The code to close with if the client breaks the rules.
pub const PROTOCOL_ERROR: u16 = 1002;

/// The code to close with if a frame is longer than [`MAX_BYTES`].
const TOO_LARGE: u16 = 1009;

/// The most bytes of a control frame.
const MAX_CONTROL_BYTES: u64 = 125;

pub const TEXT: OpCode = OpCode::Data(Data::Text);
pub const CLOSE: OpCode = OpCode::Control(Control::Close);
pub const PING: OpCode = OpCode::Control(Control::Ping);
pub const PONG: OpCode = OpCode::Control(Control::Pong);

/// A client's frame, unmasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub opcode: OpCode,
    /// Whether it is the last frame of its message.
    pub last: bool,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Whether it continues a message, between whose frames no other message may be sent.
    pub fn continues(&self) -> bool {
        self.opcode == OpCode::Data(Data::Continue)
    }

    /// Appends it, without a mask, as a server sends it.
    pub fn write(&self, output: &mut Vec<u8>) {
        put(self.opcode, self.last, &self.payload, output);
    }
}

/// Parses the frame at the start of `input`, and returns it with its length; `None` if it is incomplete. An error is
/// the code to close with.
pub fn parse(input: &[u8]) -> Result<Option<(Frame, usize)>, u16> {
    let mut cursor = Cursor::new(input);
    let Some((head, length)) = FrameHeader::parse(&mut cursor).map_err(|_| PROTOCOL_ERROR)? else {
        return Ok(None);
    };
    let control = matches!(head.opcode, OpCode::Control(_));
    let Some(mask) = head.mask else {
        return Err(PROTOCOL_ERROR);
    };
    if control && (!head.is_final || length > MAX_CONTROL_BYTES)
        || head.rsv1
        || head.rsv2
        || head.rsv3
    {
        return Err(PROTOCOL_ERROR);
    }
    if length > MAX_BYTES {
        return Err(TOO_LARGE);
    }
    let begin = cursor.position() as usize;
    let end = begin + length as usize;
    let Some(payload) = input.get(begin..end) else {
        return Ok(None);
    };
    let unmasked = payload.iter().zip(mask.iter().cycle());
    let frame = Frame {
        opcode: head.opcode,
        last: head.is_final,
        payload: unmasked.map(|(byte, key)| byte ^ key).collect(),
    };
    Ok(Some((frame, end)))
}

/// Appends a frame that is a whole message.
pub fn write(opcode: OpCode, payload: &[u8], output: &mut Vec<u8>) {
    put(opcode, true, payload, output);
}

fn put(opcode: OpCode, last: bool, payload: &[u8], output: &mut Vec<u8>) {
    let head = FrameHeader {
        is_final: last,
        opcode,
        ..FrameHeader::default()
    };
    let written = head.format(payload.len() as u64, output);
    written.expect("memory takes what is written to it");
    output.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard_is_understood() {
        // Section 5.7: a masked "Hello", and what follows it.
        let input = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58rest";
        let hello = Frame {
            opcode: TEXT,
            last: true,
            payload: b"Hello".to_vec(),
        };
        assert_eq!(parse(input), Ok(Some((hello, 11))));
        for end in 0..11 {
            assert_eq!(parse(&input[..end]), Ok(None), "{end} bytes");
        }
    }

    #[test]
    fn what_is_written_has_its_length_in_its_shortest_form() {
        for (length, head) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let mut output = Vec::new();
            write(TEXT, &vec![b'x'; length], &mut output);
            assert_eq!(output.len(), head + length);
            assert_eq!(output[0], 0x81);
        }
    }

    #[test]
    fn clients_that_break_the_rules_are_told_which() {
        let code = |head: &[u8]| parse(&[head, &[0; 4]].concat());
        assert_eq!(code(b"\x81\x05"), Err(1002), "not masked");
        assert_eq!(code(b"\xC1\x80"), Err(1002), "a reserved bit");
        assert_eq!(code(b"\x83\x80"), Err(1002), "a reserved opcode");
        assert_eq!(code(b"\x8B\x80"), Err(1002), "a reserved control opcode");
        assert_eq!(code(b"\x09\x80"), Err(1002), "a ping in parts");
        assert_eq!(code(b"\x89\xFE\0\x7E"), Err(1002), "a ping of 126 bytes");
        assert_eq!(code(b"\x82\xFF\0\0\0\0\x01\0\0\x01"), Err(1009));
    }
}
