//! What can be wrong with a response.

use thiserror::Error;

use crate::outcome::Outcome;
use crate::protocol::foreign::Foreign;
use crate::protocol::h1::{MAX_CHUNK_LINE_BYTES, MAX_HEAD_BYTES};

/// Why a response could not be decoded. After any of these the connection is of no use; [`DecodeError::outcome`]
/// says how the request is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Status line or headers: another protocol, a bad character (NUL among them), a missing colon.
    #[error("the response head is not HTTP/1.1 ({0}); is this an HTTP port, without TLS?")]
    Head(httparse::Error),
    #[error("the server answered in {0}, not in HTTP/1.1")]
    Foreign(Foreign),
    #[error("status {0} is out of range 100 to 999")]
    Status(u16),
    #[error("101 Switching Protocols, and no other protocol was asked for")]
    SwitchingProtocols,
    /// Not a row of digits, or more than 2⁶⁴ − 1.
    #[error("Content-Length is not a whole number below 2^64")]
    ContentLength,
    #[error("Content-Length is given twice, with different values")]
    ContentLengthConflict,
    /// No coding named, `chunked` twice, or `chunked` with parameters.
    #[error("Transfer-Encoding is not a list of codings with at most one plain `chunked`")]
    TransferEncoding,
    /// RFC 9112 section 6.1: such a message's framing is faulty.
    #[error("Transfer-Encoding in an HTTP/1.0 response, where it has no meaning")]
    TransferEncodingInHttp10,
    #[error("a chunk-size line does not begin with a hexadecimal number")]
    ChunkSize,
    #[error("a chunk size is 2^64 or more")]
    ChunkSizeOverflow,
    #[error("a chunk extension contains a control character")]
    ChunkExtension,
    /// After the size line or after the data.
    #[error("a chunk is not followed by CR LF where it must be")]
    ChunkLineEnd,
    #[error("the trailer section is malformed ({0})")]
    Trailers(httparse::Error),

    #[error("the response head is larger than {MAX_HEAD_BYTES} bytes")]
    HeadTooLarge,
    #[error("a chunk-size line is longer than {MAX_CHUNK_LINE_BYTES} bytes")]
    ChunkLineTooLong,
    #[error("the trailer section is larger than {MAX_HEAD_BYTES} bytes")]
    TrailersTooLarge,
    #[error("the response body is larger than the limit set for it")]
    BodyTooLarge,

    /// Nothing of the response had come. On a reused connection this is usually the end of the server's idle timeout.
    #[error("the peer closed the connection before it answered")]
    ClosedBeforeHead,
    #[error("the peer closed the connection within the response head")]
    ClosedInHead,
    #[error("the peer closed the connection before the end of the body")]
    ClosedInBody,
}

impl DecodeError {
    /// How a request that ended this way is counted: `Malformed`, `TooLarge` or `ClosedEarly`.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::HeadTooLarge
            | Self::ChunkLineTooLong
            | Self::TrailersTooLarge
            | Self::BodyTooLarge => Outcome::TooLarge,
            Self::ClosedBeforeHead | Self::ClosedInHead | Self::ClosedInBody => {
                Outcome::ClosedEarly
            }
            _ => Outcome::Malformed,
        }
    }
}
