//! HTTP/2 (RFC 9113), by ALPN over TLS and with prior knowledge (h2c) without.
//!
//! A client uses one stream at a time, or one for each step where the steps of a journey are sent together. It has a
//! connection of its own, or shares one with other clients of its worker if the plan sets the number of connections.
//!
//! ```text
//!  connection (one client) ─► pool ─► multiplexed, its task ─► transport
//!                                       ├─► stream_limit: who waits for a stream; history: who waited for whom
//!                                       └─► protocol::h2
//! ```
pub mod connection;
pub mod failure;
pub mod history;
pub mod multiplexed;
pub mod pool;
pub mod stream_limit;

pub use connection::H2Connection;
