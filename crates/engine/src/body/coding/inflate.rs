//! deflate: the zlib form that RFC 9110 means, or the raw one that some servers send under the same name.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};

use crate::body::coding::decoder::{Decoder, PIECE_BYTES, Sink, bytes_behind, cut_off};

#[derive(Default)]
pub struct Inflate {
    /// The first byte, while the second is missing: both together tell the form.
    first: Option<u8>,
    stream: Option<Decompress>,
    ended: bool,
}

impl Inflate {
    fn inflate(&mut self, mut bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        let mut piece = [0; PIECE_BYTES];
        while !self.ended {
            let before = (stream.total_in(), stream.total_out());
            let status = stream.decompress(bytes, &mut piece, FlushDecompress::None)?;
            let taken = (stream.total_in() - before.0) as usize;
            let made = (stream.total_out() - before.1) as usize;
            bytes = &bytes[taken..];
            self.ended = status == Status::StreamEnd;
            out(&piece[..made])?;
            if (taken, made) == (0, 0) {
                break;
            }
        }
        if self.ended && !bytes.is_empty() {
            return Err(bytes_behind("deflate"));
        }
        Ok(())
    }
}

impl Decoder for Inflate {
    fn feed(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()> {
        if self.stream.is_some() {
            return self.inflate(bytes, out);
        }
        let begin: Vec<u8> = self.first.iter().chain(bytes).take(2).copied().collect();
        let &[first, second] = begin.as_slice() else {
            self.first = begin.first().copied();
            return Ok(());
        };
        self.stream = Some(Decompress::new(begins_zlib(first, second)));
        if let Some(first) = self.first.take() {
            self.inflate(&[first], out)?;
        }
        self.inflate(bytes, out)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        Err(cut_off("deflate"))
    }
}

/// RFC 1950 section 2.2.
fn begins_zlib(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
