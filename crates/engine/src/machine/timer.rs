//! One `timerfd` per worker, which wakes the runtime. (The runtime's own timers have a resolution of a millisecond.)

#![expect(unsafe_code, reason = "timerfd")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A kernel timer that becomes readable at a set monotonic time.
#[derive(Debug)]
pub struct TimerFd(OwnedFd);

impl TimerFd {
    pub fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: no pointers are passed; the result is checked before it is owned.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just created, is valid, and belongs to nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sets the time. This also discards an expiry that was not read yet, so the descriptor never has to be read.
    pub fn set(&self, monotonic_ns: u64) {
        // Zero would disarm the timer; a time in the past fires at once.
        let at = monotonic_ns.clamp(1, i64::MAX as u64);
        let never = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = libc::timespec {
            tv_sec: (at / 1_000_000_000).cast_signed(),
            tv_nsec: (at % 1_000_000_000).cast_signed(),
        };
        let setting = libc::itimerspec {
            it_interval: never,
            it_value: value,
        };
        // SAFETY: the descriptor is open, `setting` is valid, the old value is not asked for.
        let result = unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const setting,
                std::ptr::null_mut(),
            )
        };
        debug_assert_eq!(result, 0, "a valid time is always accepted");
    }
}

impl AsRawFd for TimerFd {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}
