//! Bytes without a protocol: a request is what is sent, its answer what comes until it ends as stated.
mod link;
mod until;
#[cfg(test)]
mod until_tests;

pub use link::{Link, STATUS};
pub use until::Until;
