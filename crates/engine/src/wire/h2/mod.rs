//! HTTP/2 (RFC 9113), by ALPN over TLS and with prior knowledge (h2c) without.
//!
//! A client is one stream at a time; on a journey whose steps are sent together, each of them is one. It has a connection
//! of its own, or shares one with the other clients of its worker, where the plan says how many connections there are.
//!
//! ```text
//!  link (one client) ─► pool ─► connection, its task ─► transport
//!     ├─► message, answer           ├─► room: who waits for a stream; history: who waited for whom
//!     └───────────────► codec ◄─────┘
//! ```
mod answer;
pub mod codec;
mod connection;
mod failure;
mod history;
mod link;
mod message;
mod pool;
mod room;

pub use link::Link;
pub use message::{Form, check, encode};
pub use pool::{OneConnection, Pool};
