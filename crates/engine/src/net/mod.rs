//! Connections: addresses, sockets, TLS, and the buffers that they share.
pub mod buffers;
pub mod datagrams;
pub mod dial;
pub mod failure;
pub mod linger;
pub mod rotation;
pub mod stamped;
pub mod target;
pub mod tls;
pub mod transport;
