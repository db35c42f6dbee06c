//! Protocols without I/O: bytes in; events, "more" or an error out.
pub mod foreign;
pub mod grpc;
pub mod h1;
pub mod h2;
pub mod head;
pub mod location;
pub mod url;
pub mod ws;
