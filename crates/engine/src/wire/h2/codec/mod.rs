//! HTTP/2 on the wire: frames, their header blocks, and what a connection's two sides may do. No I/O.
//!
//! A connection tells the server to keep no header table for its answers (`SETTINGS_HEADER_TABLE_SIZE` 0), and uses none for
//! its requests: an idle connection then costs nothing for it.
mod endpoint;
mod frame;
mod hpack;
mod huffman;
mod reason;
mod stream;

pub use endpoint::{Ending, Endpoint, Goodbye, Violation};
#[cfg(test)]
pub use hpack::Decoder;
pub use hpack::{Fields, encode};
pub use reason::Reason;
pub use stream::{Event, Stream};
