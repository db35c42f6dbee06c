//! WebSocket: RFC 6455. A connection begins with an upgrade of HTTP/1.1; from then on both sides send messages.
pub mod connection;
pub mod matcher;
pub mod pings;
pub mod upgrade;

pub use connection::{STATUS, WebSocketConnection};
pub use matcher::check;
