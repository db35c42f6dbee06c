//! HTTP/1.1 without I/O: requests become bytes before the run, bytes become events during it.
//!
//! Nothing here knows of sockets or clocks. A client reads into a buffer that it shares with others and passes what
//! it has read to its [`ResponseDecoder`], which says how much it took and what that was:
//!
//! ```text
//!   begin ──► head ──┬─ no body ───────────────────────────────────► End
//!              ▲     ├─ content-length ──► Body… ──────────────────► End
//!              └ 1xx ┤
//!                    ├─ chunked ──► size ──┬─ 0 ──► trailers ──────► End
//!                    │               ▲     └─ n ──► Body… ──► CRLF ┐
//!                    │               └─────────────────────────────┘
//!                    └─ until the peer closes ──► Body… ──► eof ───► End
//! ```
//!
//! How a body is delimited is decided in one place, `framing.rs`, by RFC 9112 section 6.3. However a response is split
//! into pieces on its way, its events carry the same status, the same body and the same end or error.
pub(crate) mod chunked;
pub(crate) mod error;
pub(crate) mod framing;
pub(crate) mod head;
pub(crate) mod response;

#[cfg(test)]
mod tests;

pub use error::DecodeError;
pub use head::HeadValues;
pub use response::{ONLY_INTERIM, ResponseDecoder, ResponseStep};

/// A head may have this many bytes in any number of lines, its blank line included; so may a trailer section.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// A chunk's size line may have this many bytes, its CRLF included.
pub const MAX_CHUNK_LINE_BYTES: u16 = 4096;
