//! WebSocket: RFC 6455. A connection begins with an upgrade of HTTP/1.1; from then on both sides send messages.
pub mod frame;
mod link;
mod pings;
mod upgrade;
mod utf8;
mod wanted;

pub use link::{Link, STATUS};
pub use upgrade::Upgrade;
pub use wanted::check;
