//! The binary over real sockets, on loopback.

mod client;
mod delay;
mod hostile;
mod well_behaved;
