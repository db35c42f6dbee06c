//! The chunked transfer coding (RFC 9112 section 7.1), up to the trailer section.

use crate::protocol::h1::MAX_CHUNK_LINE_BYTES;
use crate::protocol::h1::error::DecodeError;

/// The position of the next byte within the chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    /// The size as read so far; within the data, the number of bytes still to come.
    size_left: u64,
    /// Bytes of the size line so far, at most [`MAX_CHUNK_LINE_BYTES`].
    line: u16,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Size,
    /// White space between the size and an extension, or the line's end.
    AfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// The last chunk, of size 0, is over.
    Trailers,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkStep {
    /// All input is consumed.
    NeedMore,
    /// This many of the consumed bytes, at their end, are body.
    Data(usize),
    /// The trailer section begins.
    Trailers,
}

impl Chunks {
    pub const BEGIN: Self = Self {
        size_left: 0,
        line: 0,
        stage: Stage::Size,
    };

    /// Consumes up to one chunk's data; a chunk that is larger than `allowance` is refused at its size line.
    pub fn step(
        &mut self,
        input: &[u8],
        allowance: &mut u64,
    ) -> Result<(usize, ChunkStep), DecodeError> {
        let mut used = 0;
        while let Some(&byte) = input.get(used) {
            match self.stage {
                Stage::Trailers => return Ok((used, ChunkStep::Trailers)),
                Stage::Data => {
                    let data = self.size_left.min((input.len() - used) as u64);
                    self.size_left -= data;
                    if self.size_left == 0 {
                        self.stage = Stage::DataCr;
                    }
                    return Ok((used + data as usize, ChunkStep::Data(data as usize)));
                }
                Stage::DataCr | Stage::DataLf => self.data_end(byte)?,
                _ => self.size_line(byte, allowance)?,
            }
            used += 1;
        }
        Ok((used, ChunkStep::NeedMore))
    }

    fn data_end(&mut self, byte: u8) -> Result<(), DecodeError> {
        *self = match (self.stage, byte) {
            (Stage::DataCr, b'\r') => Self {
                stage: Stage::DataLf,
                ..*self
            },
            (Stage::DataLf, b'\n') => Self::BEGIN,
            _ => return Err(DecodeError::ChunkLineEnd),
        };
        Ok(())
    }

    fn size_line(&mut self, byte: u8, allowance: &mut u64) -> Result<(), DecodeError> {
        if self.line == MAX_CHUNK_LINE_BYTES {
            return Err(DecodeError::ChunkLineTooLong);
        }
        self.stage = match (self.stage, byte) {
            (Stage::Size, _) if byte.is_ascii_hexdigit() => {
                self.digit(byte)?;
                Stage::Size
            }
            (Stage::Size, _) if self.line == 0 => return Err(DecodeError::ChunkSize),
            (Stage::Size | Stage::AfterSize, b' ' | b'\t') => Stage::AfterSize,
            (Stage::Size | Stage::AfterSize, b';') => Stage::Extension,
            (Stage::Size | Stage::AfterSize | Stage::Extension, b'\r') => Stage::SizeLf,
            (Stage::Size | Stage::AfterSize, _) => return Err(DecodeError::ChunkSize),
            (Stage::Extension, _) if byte != b'\t' && byte.is_ascii_control() => {
                return Err(DecodeError::ChunkExtension);
            }
            (Stage::Extension, _) => Stage::Extension,
            (Stage::SizeLf, b'\n') if self.size_left == 0 => Stage::Trailers,
            (Stage::SizeLf, b'\n') => {
                *allowance = allowance
                    .checked_sub(self.size_left)
                    .ok_or(DecodeError::BodyTooLarge)?;
                Stage::Data
            }
            _ => return Err(DecodeError::ChunkLineEnd),
        };
        self.line += 1;
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<(), DecodeError> {
        if self.size_left >> 60 != 0 {
            return Err(DecodeError::ChunkSizeOverflow);
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        self.size_left = self.size_left << 4 | u64::from(digit);
        Ok(())
    }
}
