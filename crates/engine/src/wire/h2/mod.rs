//! HTTP/2 (RFC 9113), by ALPN over TLS and with prior knowledge (h2c) without, on the `h2` crate.
//!
//! A client is one stream at a time. It has a connection of its own, or shares one with the other clients of its
//! worker, where the plan says how many connections there are.
//!
//! ```text
//!  link (one client) ─► pool ─► connection ─► io ─► transport
//!     └─► message: a request as HTTP/2 has it
//! ```
mod connection;
mod failure;
mod io;
mod link;
mod message;
mod pool;

pub use link::Link;
pub use message::check;
pub use pool::Pool;
