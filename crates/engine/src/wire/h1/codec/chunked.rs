//! The chunked transfer coding (RFC 9112 section 7.1), up to the trailer section.

use super::{DecodeError, MAX_CHUNK_LINE_BYTES};

/// Where in the chunks the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    /// The size as far as it is read; within the data, the bytes of it that are still to come.
    left: u64,
    /// Bytes of the size line so far, at most [`MAX_CHUNK_LINE_BYTES`].
    line: u16,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
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
    /// That many of the consumed bytes, at their end, are body.
    Data(usize),
    /// The trailer section begins.
    Trailers,
}

impl Chunks {
    pub const BEGIN: Self = Self {
        left: 0,
        line: 0,
        place: Place::Size,
    };

    /// Consumes up to one chunk's data; a chunk that is larger than `allowance` is refused at its size line.
    pub fn step(
        &mut self,
        input: &[u8],
        allowance: &mut u64,
    ) -> Result<(usize, ChunkStep), DecodeError> {
        let mut used = 0;
        while let Some(&byte) = input.get(used) {
            match self.place {
                Place::Trailers => return Ok((used, ChunkStep::Trailers)),
                Place::Data => {
                    let data = self.left.min((input.len() - used) as u64);
                    self.left -= data;
                    if self.left == 0 {
                        self.place = Place::DataCr;
                    }
                    return Ok((used + data as usize, ChunkStep::Data(data as usize)));
                }
                Place::DataCr | Place::DataLf => self.data_end(byte)?,
                _ => self.size_line(byte, allowance)?,
            }
            used += 1;
        }
        Ok((used, ChunkStep::NeedMore))
    }

    fn data_end(&mut self, byte: u8) -> Result<(), DecodeError> {
        *self = match (self.place, byte) {
            (Place::DataCr, b'\r') => Self {
                place: Place::DataLf,
                ..*self
            },
            (Place::DataLf, b'\n') => Self::BEGIN,
            _ => return Err(DecodeError::ChunkLineEnd),
        };
        Ok(())
    }

    fn size_line(&mut self, byte: u8, allowance: &mut u64) -> Result<(), DecodeError> {
        if self.line == MAX_CHUNK_LINE_BYTES {
            return Err(DecodeError::ChunkLineTooLong);
        }
        self.place = match (self.place, byte) {
            (Place::Size, _) if byte.is_ascii_hexdigit() => {
                self.digit(byte)?;
                Place::Size
            }
            (Place::Size, _) if self.line == 0 => return Err(DecodeError::ChunkSize),
            (Place::Size | Place::AfterSize, b' ' | b'\t') => Place::AfterSize,
            (Place::Size | Place::AfterSize, b';') => Place::Extension,
            (Place::Size | Place::AfterSize | Place::Extension, b'\r') => Place::SizeLf,
            (Place::Size | Place::AfterSize, _) => return Err(DecodeError::ChunkSize),
            (Place::Extension, _) if byte != b'\t' && byte.is_ascii_control() => {
                return Err(DecodeError::ChunkExtension);
            }
            (Place::Extension, _) => Place::Extension,
            (Place::SizeLf, b'\n') if self.left == 0 => Place::Trailers,
            (Place::SizeLf, b'\n') => {
                *allowance = allowance
                    .checked_sub(self.left)
                    .ok_or(DecodeError::BodyTooLarge)?;
                Place::Data
            }
            _ => return Err(DecodeError::ChunkLineEnd),
        };
        self.line += 1;
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<(), DecodeError> {
        if self.left >> 60 != 0 {
            return Err(DecodeError::ChunkSizeOverflow);
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        self.left = self.left << 4 | u64::from(digit);
        Ok(())
    }
}
