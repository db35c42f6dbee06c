//! The binary over real sockets, on loopback.

mod client;
mod delay;
mod extras;
mod hostile;
mod siblings;
mod well_behaved;
