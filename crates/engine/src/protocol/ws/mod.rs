//! WebSocket frames (RFC 6455).
pub mod frame;
pub mod utf8;
