//! HTTP/1.1.
pub mod codec;
pub mod session;
