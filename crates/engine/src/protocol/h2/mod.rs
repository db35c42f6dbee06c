//! HTTP/2 on the wire: frames, their header blocks, and what each side of a connection may do. No I/O.
//!
//! A connection asks the server not to use a header table for its responses (`SETTINGS_HEADER_TABLE_SIZE` 0), and uses
//! none for its requests, so that an idle connection needs no memory for tables.
pub(crate) mod endpoint;
pub(crate) mod frame;
pub(crate) mod hpack;
pub(crate) mod huffman;
pub(crate) mod message;
pub(crate) mod reason;
pub(crate) mod response_head;
pub(crate) mod stream;

pub use endpoint::{Ending, Endpoint, GoAway};
#[cfg(test)]
pub use hpack::FieldDecoder;
pub use hpack::{Fields, encode};
pub use reason::{Reason, Violation};
pub use stream::{Stream, StreamEvent};
