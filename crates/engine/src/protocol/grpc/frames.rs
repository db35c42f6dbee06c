//! Messages with their prefixes.

/// A flag, and the length of the message.
const PREFIX_BYTES: usize = 5;

/// Appends a message with its prefix, uncompressed.
pub fn write(message: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(message.len()).expect("a message of a plan is shorter than 4 GiB");
    out.push(0);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(message);
}

/// The messages in what [`write`] has written.
pub fn split(mut frames: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (frame, rest) = frames.split_at_checked(first(frames)?)?;
        frames = rest;
        Some(&frame[PREFIX_BYTES..])
    })
}

/// The length of the first message in what [`write`] has written, prefix included.
pub fn first(frames: &[u8]) -> Option<usize> {
    let (prefix, _) = frames.split_first_chunk::<PREFIX_BYTES>()?;
    Some(PREFIX_BYTES + length(*prefix))
}

fn length([_, length @ ..]: [u8; PREFIX_BYTES]) -> usize {
    u32::from_be_bytes(length) as usize
}

/// Reads messages that come in pieces of any size.
#[derive(Debug, Default)]
pub struct MessageReader {
    prefix: [u8; PREFIX_BYTES],
    /// Bytes of the prefix that have come.
    begun: usize,
    /// Bytes of the message that are still to come.
    left: usize,
}

/// What a reader has found.
#[derive(Debug, PartialEq, Eq)]
pub enum MessagePiece<'a> {
    /// A message begins.
    Begin {
        compressed: bool,
        length: usize,
    },
    Bytes(&'a [u8]),
    End,
}

impl MessageReader {
    /// Takes the next piece from `bytes`; `None` if everything has been read.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<MessagePiece<'a>> {
        if self.begun < PREFIX_BYTES {
            let wanted = PREFIX_BYTES - self.begun;
            let (prefix, rest) = bytes.split_at(bytes.len().min(wanted));
            self.prefix[self.begun..][..prefix.len()].copy_from_slice(prefix);
            self.begun += prefix.len();
            *bytes = rest;
            self.left = length(self.prefix);
            let compressed = self.prefix[0] != 0;
            let length = self.left;
            return (self.begun == PREFIX_BYTES)
                .then_some(MessagePiece::Begin { compressed, length });
        }
        if self.left == 0 {
            self.begun = 0;
            return Some(MessagePiece::End);
        }
        let (piece, rest) = bytes.split_at(bytes.len().min(self.left));
        self.left -= piece.len();
        *bytes = rest;
        (!piece.is_empty()).then_some(MessagePiece::Bytes(piece))
    }

    /// Whether a message has begun and not ended.
    pub fn is_incomplete(&self) -> bool {
        self.begun > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_whatever_their_pieces() {
        let messages: [&[u8]; 3] = [b"hello", b"", &[7; 300]];
        let mut frames = Vec::new();
        for message in &messages {
            write(message, &mut frames);
        }
        assert!(split(&frames).eq(messages));
        for size in [1, 4, 5, 7, 1000] {
            let (mut reader, mut read, mut message) =
                (MessageReader::default(), Vec::new(), Vec::new());
            for mut bytes in frames.chunks(size) {
                while let Some(piece) = reader.next(&mut bytes) {
                    match piece {
                        MessagePiece::Begin { compressed, length } => {
                            assert_eq!((compressed, length), (false, messages[read.len()].len()));
                        }
                        MessagePiece::Bytes(bytes) => message.extend_from_slice(bytes),
                        MessagePiece::End => read.push(std::mem::take(&mut message)),
                    }
                }
            }
            assert_eq!(read, messages, "pieces of {size}");
            assert!(!reader.is_incomplete());
        }
        let mut reader = MessageReader::default();
        assert_eq!(reader.next(&mut frames[..4].as_ref()), None);
        assert!(reader.is_incomplete());
    }
}
