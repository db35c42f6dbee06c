//! brotli (RFC 7932). A decoder holds the window that the stream asks for, of at most 16 MiB, for as long as its
//! response comes.

use std::io;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use crate::body::coding::decoder::{Decoder, PIECE_BYTES, Sink, bytes_behind, cut_off};

pub struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

impl Default for Brotli {
    fn default() -> Self {
        let alloc = StandardAlloc::default;
        Self {
            // Without the large windows that are no part of the RFC.
            state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())),
            ended: false,
        }
    }
}

impl Decoder for Brotli {
    fn feed(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()> {
        let (mut left, mut at) = (bytes.len(), 0);
        let mut piece = [0; PIECE_BYTES];
        while !self.ended {
            let (mut room, mut made, mut total) = (PIECE_BYTES, 0, 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut at,
                bytes,
                &mut room,
                &mut made,
                &mut piece,
                &mut total,
                &mut self.state,
            );
            out(&piece[..made])?;
            match result {
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultSuccess => self.ended = true,
                BrotliResult::ResultFailure => {
                    return Err(io::Error::other("the brotli stream is damaged"));
                }
            }
        }
        if left > 0 {
            return Err(bytes_behind("brotli"));
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        Err(cut_off("brotli"))
    }
}
