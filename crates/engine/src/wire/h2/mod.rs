//! HTTP/2 (RFC 9113), by ALPN over TLS and with prior knowledge (h2c) without.
//!
//! A client uses one stream at a time, or one for each step where the steps of a journey are sent together. It has a
//! connection of its own, or shares one with other clients of its worker if the plan sets the number of connections.
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

pub use connection::check_alpn;
pub use link::Link;
pub use message::{Form, check, encode};
pub use pool::{OneConnection, Pool};
