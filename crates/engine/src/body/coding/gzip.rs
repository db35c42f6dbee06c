//! gzip (RFC 1952): members, one after another.

use std::io::{self, Write as _};

use flate2::write::GzDecoder;

use crate::body::coding::decoder::{Decoder, Sink, bytes_behind, cut_off};

const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub struct Gzip {
    member: GzDecoder<Vec<u8>>,
}

impl Default for Gzip {
    fn default() -> Self {
        Self {
            member: GzDecoder::new(Vec::new()),
        }
    }
}

impl Gzip {
    fn pass_on(&mut self, out: &mut Sink<'_>) -> io::Result<()> {
        let decoded = self.member.get_mut();
        if !decoded.is_empty() {
            out(decoded)?;
            decoded.clear();
        }
        Ok(())
    }
}

impl Decoder for Gzip {
    fn feed(&mut self, mut bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.member.write(bytes)?;
            self.pass_on(out)?;
            if taken == 0 {
                self.member.try_finish()?;
                self.pass_on(out)?;
                if bytes[0] != MAGIC[0] || bytes.get(1).is_some_and(|byte| *byte != MAGIC[1]) {
                    return Err(bytes_behind("gzip"));
                }
                *self = Self::default();
            }
            bytes = &bytes[taken..];
        }
        self.member.flush()?;
        self.pass_on(out)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.member.header().is_none() {
            return Err(cut_off("gzip"));
        }
        self.member.try_finish()
    }
}
