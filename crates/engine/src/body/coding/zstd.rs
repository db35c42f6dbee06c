//! zstd (RFC 8878): frames, one after another, of which some are to be skipped. A frame's checksum is read, but not
//! compared, as its hash would need another crate.
//!
//! A decoder holds the window that the frame asks for, of at most 8 MiB, and a block of 128 KiB, for as long as its
//! response comes.

use std::io::{self, Read as _};

use ruzstd::decoding::FrameDecoder;

use crate::body::coding::decoder::{Decoder, PIECE_BYTES, Sink, cut_off};

/// The largest window, as RFC 9659 asks of a user agent.
const MAX_WINDOW_BYTES: u64 = 8 * 1024 * 1024;
/// The longest head of a frame (section 3.1.1.1).
const MAX_HEAD_BYTES: usize = 18;
const BLOCK_HEAD_BYTES: usize = 3;
const MAX_BLOCK_BYTES: usize = 128 * 1024;
const CHECKSUM_BYTES: usize = 4;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A frame, or the end.
    Frame,
    /// The rest of a frame that is skipped.
    Skipped(usize),
    Block,
    Checksum,
}

pub struct Zstd {
    frame: FrameDecoder,
    stage: Stage,
    /// What is not decoded yet: less than the head of a frame or a block.
    held: Vec<u8>,
}

impl Default for Zstd {
    fn default() -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(MAX_WINDOW_BYTES);
        Self {
            frame,
            stage: Stage::Frame,
            held: Vec::new(),
        }
    }
}

impl Zstd {
    /// Decodes the next thing. Returns how many bytes it took; `None` if it is not whole.
    fn step(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match self.stage {
            _ if bytes.is_empty() => Ok(None),
            Stage::Frame => self.begin(bytes),
            Stage::Skipped(left) => {
                let taken = left.min(bytes.len());
                self.stage = match left - taken {
                    0 => Stage::Frame,
                    left => Stage::Skipped(left),
                };
                Ok(Some(taken))
            }
            Stage::Block => {
                let Some(length) = block_bytes(bytes)? else {
                    return Ok(None);
                };
                let Some(block) = bytes.get(..length) else {
                    return Ok(None);
                };
                self.decode(block)?;
                if bytes[0] & 1 == 1 {
                    let whole = self.frame.is_finished();
                    self.stage = if whole { Stage::Frame } else { Stage::Checksum };
                }
                Ok(Some(length))
            }
            Stage::Checksum => {
                let Some(checksum) = bytes.get(..CHECKSUM_BYTES) else {
                    return Ok(None);
                };
                self.decode(checksum)?;
                self.stage = Stage::Frame;
                Ok(Some(CHECKSUM_BYTES))
            }
        }
    }

    fn begin(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        if let Some((&[kind, 0x2a, 0x4d, 0x18, length @ ..], _)) = bytes.split_first_chunk::<8>()
            && (0x50..=0x5f).contains(&kind)
        {
            self.stage = match u32::from_le_bytes(length) {
                0 => Stage::Frame,
                length => Stage::Skipped(length as usize),
            };
            return Ok(Some(8));
        }
        let mut rest = bytes;
        match self.frame.reset(&mut rest) {
            Ok(()) => {
                self.stage = Stage::Block;
                Ok(Some(bytes.len() - rest.len()))
            }
            Err(_) if bytes.len() < MAX_HEAD_BYTES => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> io::Result<()> {
        let decoded = self.frame.decode_from_to(bytes, &mut []);
        decoded.map(|_| ()).map_err(io::Error::other)
    }

    fn write_decoded(&mut self, out: &mut Sink<'_>) -> io::Result<()> {
        let mut piece = [0; PIECE_BYTES];
        loop {
            match self.frame.read(&mut piece)? {
                0 => return Ok(()),
                length => out(&piece[..length])?,
            }
        }
    }
}

impl Decoder for Zstd {
    fn feed(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(taken) = self.step(&held[at..])? {
            at += taken;
            self.write_decoded(out)?;
        }
        held.drain(..at);
        self.held = held;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if self.stage == Stage::Frame && self.held.is_empty() {
            return Ok(());
        }
        Err(cut_off("zstd"))
    }
}

/// The length of the block at the beginning of `bytes`, its head included (section 3.1.1.2).
fn block_bytes(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(&[a, b, c]) = bytes.first_chunk::<BLOCK_HEAD_BYTES>() else {
        return Ok(None);
    };
    let head = u32::from_le_bytes([a, b, c, 0]) as usize;
    let size = head >> 3;
    // A block of one byte, repeated so many times, has only that byte.
    let length = if head >> 1 & 3 == 1 { 1 } else { size };
    if size > MAX_BLOCK_BYTES {
        return Err(io::Error::other("a zstd block is larger than 128 KiB"));
    }
    Ok(Some(BLOCK_HEAD_BYTES + length))
}
