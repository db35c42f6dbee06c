//! Linux: `SO_TIMESTAMPING`. Source: Documentation/networking/timestamping.rst.

#![expect(unsafe_code, reason = "a socket option, and control data")]

use std::io;
use std::mem::size_of_val;
use std::os::fd::AsRawFd;

/// Asks the kernel to stamp the bytes that arrive on `socket` from now on.
pub fn ask(socket: &impl AsRawFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option's value is a number, which lives as long as the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the stamp of what was received, by the wall clock.
pub fn stamp_of(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in the control data and its length.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: it is one of the message's headers, as it is not null.
        let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        if (level, kind) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
            // SAFETY: data of this kind are three times, of which the first is the software stamp.
            let time: libc::timespec = unsafe {
                libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned()
            };
            let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
            return (ns > 0).then_some(ns);
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}
