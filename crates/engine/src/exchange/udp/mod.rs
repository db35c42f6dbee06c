//! Datagrams: a request is one datagram, and so is its response. If either gets lost, there is no response in time;
//! responses that come twice, late or unasked are counted.
pub mod connection;
pub mod matching;
pub mod memory;

pub use connection::{STATUS, UdpConnection};
