//! Linux: `SO_TIMESTAMPING`. Source: Documentation/networking/timestamping.rst.

#![expect(unsafe_code, reason = "control data of a message")]

use std::io;
use std::os::fd::AsRawFd;

use crate::machine::socket_option;

/// Asks the kernel to stamp the bytes that arrive on `socket` from now on.
pub fn enable(socket: &impl AsRawFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    let flags = flags.cast_signed();
    socket_option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
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
