//! HTTP/1.1.
pub mod codec;
mod idle;
mod link;

pub use link::Link;
