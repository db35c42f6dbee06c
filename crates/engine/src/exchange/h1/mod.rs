//! HTTP/1.1.
pub mod connection;
pub mod idle;

pub use connection::H1Connection;
