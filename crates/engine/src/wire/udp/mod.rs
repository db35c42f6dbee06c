//! Datagrams: a request is one, its answer is one. What gets lost has no answer in time; answers that come twice, late
//! or to nobody are counted.
mod link;
mod matching;
mod memory;
mod socket;

pub use link::{Link, STATUS};
pub use matching::{Matching, write_serial};
pub use socket::Place;
