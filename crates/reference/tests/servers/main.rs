//! The binary over real sockets, on loopback.

mod client;
mod delay;
mod extras;
mod grpc;
mod hostile;
mod http2;
mod siblings;
mod well_behaved;
