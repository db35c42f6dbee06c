//! The binary over real sockets, on loopback.

mod client;
mod hostile;
mod well_behaved;
