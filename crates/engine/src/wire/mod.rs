//! Connections and what goes over them.
pub mod dial;
pub mod h1;
pub mod resolve;
pub mod tls;
pub mod verify;
