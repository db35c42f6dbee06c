//! HTTP/1.1.
pub mod idle;
pub mod link;

pub use link::Link;
