//! Content codings (RFC 9110 section 8.4): whatever looks at a body sees it decoded, piece by piece as it comes; bytes are
//! counted as they arrived.
//!
//! What a body may decode to has a limit, and so have the windows of the decoders, which are all that is held.

pub mod brotli;
pub mod decoder;
pub mod gzip;
pub mod inflate;
pub mod zstd;

use std::io;

use crate::body::coding::decoder::{Decoder, Sink};
use crate::outcome::{Failure, Outcome};

/// The largest decoded body where the plan sets no limit.
const MAX_DECODED_BYTES: u64 = 64 * 1024 * 1024;
/// A body may be coded so many times.
const MAX_CODINGS: usize = 4;
/// How much of a `Content-Encoding` is shown.
const SHOWN_BYTES: usize = 60;

/// Words that servers write where the body has no coding: names of character sets and of encodings of the storage.
const NO_CODINGS: [&[u8]; 11] = [
    b"",
    b"identity",
    b"none",
    b"utf-8",
    b"utf8",
    b"iso-8859-1",
    b"us-ascii",
    b"binary",
    b"7bit",
    b"8bit",
    b"aws-chunked",
];

/// A coded body on its way in.
pub struct Coded {
    /// In the order in which the codings are undone.
    decoders: Vec<Box<dyn Decoder>>,
    /// `Content-Encoding`, as it is shown.
    codings: String,
    /// How many more bytes may be decoded, by all decoders together.
    left: u64,
    /// Whether it has any bytes: a response to HEAD or without content names the coding that its body would have.
    begun: bool,
    failure: Option<Failure>,
}

impl Coded {
    /// The body of a response with this `Content-Encoding`, which may decode to at most `limit` bytes; `None` if the
    /// header says that it is not coded.
    pub fn of(header: &[u8], limit: Option<u64>) -> Option<Self> {
        let names = header.split(|byte| *byte == b',');
        let names = names.map(|name| name.trim_ascii().to_ascii_lowercase());
        let codings: Vec<_> = names
            .filter(|name| !NO_CODINGS.contains(&name.as_slice()))
            .collect();
        let decoders: Vec<_> = match codings.len() {
            0 => return None,
            1..=MAX_CODINGS => codings.iter().rev().map(|name| decoder(name)).collect(),
            _ => vec![Box::new(Unknown)],
        };
        Some(Self {
            decoders,
            codings: header[..header.len().min(SHOWN_BYTES)]
                .escape_ascii()
                .to_string(),
            left: limit.unwrap_or(MAX_DECODED_BYTES),
            begun: false,
            failure: None,
        })
    }

    /// Takes the next bytes of the body, and passes what they decode to to `look`. After a failure it takes nothing more.
    pub fn feed(&mut self, bytes: &[u8], look: &mut dyn FnMut(&[u8])) {
        if self.failure.is_some() || bytes.is_empty() {
            return;
        }
        self.begun = true;
        let mut look = |piece: &[u8]| {
            look(piece);
            Ok(())
        };
        if let Err(error) = pass(&mut self.decoders, bytes, &mut self.left, &mut look) {
            self.failure = Some(self.explain(&error));
        }
    }

    /// Ends the body. Returns why it could not be decoded, if so.
    pub fn end(mut self) -> Option<Failure> {
        if self.failure.is_some() || !self.begun {
            return self.failure;
        }
        let mut decoders = self.decoders.iter_mut();
        let error = decoders.find_map(|decoder| decoder.end().err())?;
        Some(self.explain(&error))
    }

    fn explain(&self, error: &io::Error) -> Failure {
        let codings = &self.codings;
        match error.kind() {
            io::ErrorKind::FileTooLarge => Failure::new(
                Outcome::TooLarge,
                "the decoded body is larger than its limit",
            ),
            _ => Failure::new(
                Outcome::WrongBody,
                format!("Content-Encoding {codings}: {error}"),
            ),
        }
    }
}

/// Passes `bytes` through the decoders, one after another, and what comes out to `look`.
fn pass(
    decoders: &mut [Box<dyn Decoder>],
    bytes: &[u8],
    left: &mut u64,
    look: &mut Sink<'_>,
) -> io::Result<()> {
    let Some((first, rest)) = decoders.split_first_mut() else {
        return look(bytes);
    };
    first.feed(bytes, &mut |piece| {
        let more = left.checked_sub(piece.len() as u64);
        *left = more.ok_or(io::ErrorKind::FileTooLarge)?;
        pass(rest, piece, left, look)
    })
}

fn decoder(name: &[u8]) -> Box<dyn Decoder> {
    match name {
        b"gzip" | b"x-gzip" => Box::<gzip::Gzip>::default(),
        b"deflate" => Box::<inflate::Inflate>::default(),
        b"br" => Box::<brotli::Brotli>::default(),
        b"zstd" => Box::<zstd::Zstd>::default(),
        _ => Box::new(Unknown),
    }
}

/// Any other coding.
struct Unknown;

impl Decoder for Unknown {
    fn feed(&mut self, _bytes: &[u8], _out: &mut Sink<'_>) -> io::Result<()> {
        Err(io::Error::other("jostle cannot decode it"))
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
