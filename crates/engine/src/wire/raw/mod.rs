//! Bytes without a protocol: a request is sent as it is, and its answer is all that comes up to the end that is stated.
mod link;
mod until;
#[cfg(test)]
mod until_tests;

pub use link::{Link, STATUS};
pub use until::Until;
