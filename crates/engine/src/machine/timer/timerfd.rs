//! Linux: a `timerfd`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A kernel timer whose descriptor becomes readable at a set monotonic time.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Sets the time. This also discards an expiry that was not read yet, so the descriptor never has to be read.
    pub fn set(&self, monotonic_ns: u64) {
        // Zero would disarm the timer; a time in the past fires at once.
        let at = monotonic_ns.clamp(1, i64::MAX as u64);
        let setting = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: (at / 1_000_000_000).cast_signed(),
                tv_nsec: (at % 1_000_000_000).cast_signed(),
            },
        };
        let set = timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &setting);
        debug_assert!(set.is_ok(), "a valid time is always accepted");
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
