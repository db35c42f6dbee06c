//! Datagrams: a request is one datagram, and so is its answer. If either gets lost, there is no answer in time; answers
//! that come twice, late or unasked are counted.
pub mod connection;
pub mod matching;
pub mod memory;

pub use connection::{STATUS, UdpConnection};
