//! Options of sockets for which there is no safe function.

#![expect(unsafe_code, reason = "a socket option")]

use std::io;
use std::os::fd::AsRawFd;

/// Sets an option whose value is an `int`. An error means that this kernel does not have it.
pub fn set(
    socket: &impl AsRawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the kernel reads an int, which lives as long as the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
