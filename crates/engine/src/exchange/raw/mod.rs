//! Bytes without a protocol: a request is sent as it is, and its response is all that comes up to the end that is
//! stated.
pub mod connection;
pub mod until;

pub use connection::{RawConnection, STATUS};
