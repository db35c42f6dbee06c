//! HTTP/1.1.
pub mod codec;
mod link;

pub use link::Link;
