//! What all decoders have in common.

use std::io;

/// How many decoded bytes are passed on at a time.
pub const PIECE_BYTES: usize = 16 * 1024;

/// Takes decoded bytes.
pub type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// The decoder of one body.
pub trait Decoder {
    /// Passes what the next bytes decode to to `out`.
    fn feed(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> io::Result<()>;

    /// The coded body has ended; fails unless it is whole.
    fn end(&mut self) -> io::Result<()>;
}

pub fn bytes_behind(what: &str) -> io::Error {
    io::Error::other(format!("bytes after the {what} stream"))
}

pub fn cut_off(what: &str) -> io::Error {
    io::Error::other(format!("the {what} stream is cut off"))
}
