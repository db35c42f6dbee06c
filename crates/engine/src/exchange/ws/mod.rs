//! WebSocket: RFC 6455. A connection begins with an upgrade of HTTP/1.1; from then on both sides send messages.
pub mod link;
pub mod pings;
pub mod upgrade;
pub mod wanted;

pub use link::{Link, STATUS};
pub use wanted::check;
