//! The engine's one reader of JSON (RFC 8259): for captures, checks, scripts and the matching of messages.
//!
//! A [`Search`] finds the value at a [`Pointer`] as a document streams by, and a [`JsonSink`] takes in the value that
//! was found. What is passed over on the way is not checked, so a document has no largest size and no greatest depth
//! there; what is read is checked down to its last byte ([`read`]). Both follow the same rules: of several members with
//! the same name the last counts, a byte order mark before a document and a record separator after it are skipped, and
//! a number keeps the digits that it is written with.

pub mod pointer;
pub mod problem;
pub mod reader;
pub mod search;
pub mod value;

pub use pointer::Pointer;
pub use problem::Problem;
pub use reader::{Discard, JsonSink, is_number, read};
pub use search::Search;
pub use value::Json;

/// The longest document or value that is held to be looked at as a whole, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;
/// How deep the lists and objects of a value that is read may be nested.
pub const MAX_DEPTH: usize = 128;
/// May stand before a text in UTF-8, as some servers and editors write it (RFC 8259 section 8.1).
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// May stand after a document, as in some protocols over WebSocket.
pub const RECORD_SEPARATOR: u8 = 0x1e;

/// White space between the parts of a document.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a string is written into a document without escapes, as most are. It checks all bytes, because stopping at
/// the first one that needs an escape takes several times as long.
pub fn is_plain(text: &[u8]) -> bool {
    let plain = |byte: u8| byte.is_ascii() && byte >= b' ' && byte != b'"' && byte != b'\\';
    text.iter().fold(true, |all, byte| all & plain(*byte))
}
