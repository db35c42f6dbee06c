//! macOS: a `kqueue` with one timer.

#![expect(unsafe_code, reason = "kqueue and kevent")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{null, null_mut};

use crate::machine::clock;

/// A kernel timer whose descriptor becomes readable at a set monotonic time.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    pub fn new() -> io::Result<Self> {
        // SAFETY: it takes nothing.
        let queue = unsafe { libc::kqueue() };
        if queue < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is an open descriptor that nothing else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(queue) }))
    }

    /// Sets the time. This also discards an expiry that was not read yet, so the descriptor never has to be read.
    pub fn set(&self, monotonic_ns: u64) {
        let left = monotonic_ns.saturating_sub(clock::monotonic_ns());
        let timer = libc::kevent {
            ident: 0,
            filter: libc::EVFILT_TIMER,
            flags: libc::EV_ADD | libc::EV_ONESHOT,
            fflags: libc::NOTE_NSECONDS,
            data: left.min(i64::MAX as u64) as isize,
            udata: null_mut(),
        };
        // SAFETY: the descriptor is open, one event is read, and there is no room for events to be written.
        let set = unsafe {
            libc::kevent(
                self.0.as_raw_fd(),
                &raw const timer,
                1,
                null_mut(),
                0,
                null(),
            )
        };
        debug_assert!(set == 0, "a valid time is always accepted");
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
