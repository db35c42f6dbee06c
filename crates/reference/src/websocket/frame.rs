//! WebSocket frames as a server reads and writes them: RFC 6455, section 5.

/// Longer messages are refused.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The code to close with if the client breaks the rules.
pub const PROTOCOL_ERROR: u16 = 1002;

/// The most bytes of a control frame.
const MOST_CONTROL_BYTES: u8 = 125;

const FINAL: u8 = 0x80;
const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 0x81;
pub const CLOSE: u8 = 0x88;
pub const PING: u8 = 0x89;
pub const PONG: u8 = 0x8A;

/// A client's frame, unmasked.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// The final bit, reserved bits and the opcode.
    pub first: u8,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Whether it continues a message, between whose frames no other message may be sent.
    pub fn continues(&self) -> bool {
        opcode(self.first) == CONTINUATION
    }

    /// Whether another frame continues its message.
    pub fn is_continued(&self) -> bool {
        self.first & FINAL == 0
    }
}

/// Parses the frame at the start of `input`, and returns it with its length; `None` if it is incomplete. An error is
/// the code to close with.
pub fn parse(input: &[u8]) -> Result<Option<(Frame, usize)>, u16> {
    const TOO_LARGE: u16 = 1009;
    let [first, second, ..] = *input else {
        return Ok(None);
    };
    let opcode = opcode(first);
    let control = opcode & 0x08 != 0;
    let whole = first & FINAL != 0;
    if !matches!(opcode, 0x0..=0x2 | 0x8..=0xA)
        || control && (!whole || second & 0x7F > MOST_CONTROL_BYTES)
        || first & 0x70 != 0
        || second & 0x80 == 0
    {
        return Err(PROTOCOL_ERROR);
    }
    let (extended, length) = match second & 0x7F {
        126 => (2, number(input.get(2..4))),
        127 => (8, number(input.get(2..10))),
        length => (0, Some(u64::from(length))),
    };
    let Some(length) = length else {
        return Ok(None);
    };
    if length > MOST_BYTES {
        return Err(TOO_LARGE);
    }
    let begin = 2 + extended + 4;
    let end = begin + length as usize;
    let (Some(key), Some(payload)) = (input.get(begin - 4..begin), input.get(begin..end)) else {
        return Ok(None);
    };
    let payload = payload.iter().zip(key.iter().cycle());
    let payload = payload.map(|(byte, key)| byte ^ key).collect();
    Ok(Some((Frame { first, payload }, end)))
}

fn opcode(first: u8) -> u8 {
    first & 0x0F
}

fn number(bytes: Option<&[u8]>) -> Option<u64> {
    let bytes = bytes?.iter();
    Some(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Appends a frame.
pub fn write(first: u8, payload: &[u8], output: &mut Vec<u8>) {
    output.push(first);
    match payload.len() {
        short @ ..126 => output.push(short as u8),
        medium @ 126..=0xFFFF => {
            output.push(126);
            output.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            output.push(127);
            output.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
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
            first: TEXT,
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
        }
    }

    #[test]
    fn clients_that_break_the_rules_are_told_which() {
        assert_eq!(parse(b"\x81\x05"), Err(1002), "not masked");
        assert_eq!(parse(b"\xC1\x80"), Err(1002), "a reserved bit");
        assert_eq!(parse(b"\x83\x80"), Err(1002), "a reserved opcode");
        assert_eq!(parse(b"\x8B\x80"), Err(1002), "a reserved control opcode");
        assert_eq!(parse(b"\x09\x80"), Err(1002), "a ping in parts");
        assert_eq!(parse(b"\x89\xFE"), Err(1002), "a ping of 126 bytes or more");
        let long = [0x82, 0xFF, 0, 0, 0, 0, 1, 0, 0, 1];
        assert_eq!(parse(&long), Err(1009));
    }
}
