//! macOS stamps datagrams only: there are no stamps.

use std::io;
use std::os::fd::AsRawFd;

pub fn enable(_socket: &impl AsRawFd) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn stamp_of(_message: &libc::msghdr) -> Option<u64> {
    None
}
