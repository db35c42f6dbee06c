//! Datagrams: a request is one datagram, and so is its answer. If either gets lost, there is no answer in time; answers
//! that come twice, late or unasked are counted.
mod link;
mod matching;
mod memory;
mod socket;

pub use link::{Link, STATUS};
pub use matching::{Matching, write_serial};
pub use socket::Place;
