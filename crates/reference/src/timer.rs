//! The server's clock, with one alarm that rings within microseconds of its time.
//!
//! A timerfd watched by the runtime is this precise, whereas tokio's own timers tick in milliseconds.

use jostle_discipline::Nanos;
use rustix::fd::OwnedFd;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::io;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const NANOS_PER_SECOND: Nanos = 1_000_000_000;

pub struct Timer {
    descriptor: AsyncFd<OwnedFd>,
    /// The monotonic time that is this timer's 0.
    epoch: Nanos,
}

impl Timer {
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: an OwnedFd is open, and stays the same descriptor, until it is dropped.
        #[expect(unsafe_code)]
        let descriptor =
            unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?;
        Ok(Self {
            descriptor,
            epoch: monotonic(),
        })
    }

    /// Nanoseconds since the timer was created.
    pub fn now(&self) -> Nanos {
        monotonic() - self.epoch
    }

    /// Sets the alarm to `at`, in place of any earlier setting; `None` turns it off.
    pub fn set(&self, at: Option<Nanos>) -> io::Result<()> {
        // An all-zero setting would turn the alarm off; the epoch is never 0, so this one is not all zero.
        let value = at.map_or(Timespec::default(), |at| timespec(self.epoch + at));
        let setting = Itimerspec {
            it_interval: Timespec::default(),
            it_value: value,
        };
        timerfd_settime(
            self.descriptor.get_ref(),
            TimerfdTimerFlags::ABSTIME,
            &setting,
        )?;
        Ok(())
    }

    /// Waits until the alarm has rung.
    pub async fn expired(&self) -> io::Result<()> {
        loop {
            let mut guard = self.descriptor.readable().await?;
            let read = guard.try_io(|inner| {
                let mut expirations = [0; 8];
                Ok(rustix::io::read(inner.get_ref(), &mut expirations)?)
            });
            if let Ok(result) = read {
                return result.map(|_| ());
            }
        }
    }
}

/// The time of the monotonic clock, in nanoseconds.
pub fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as Nanos * NANOS_PER_SECOND + time.tv_nsec as Nanos
}

fn timespec(nanos: Nanos) -> Timespec {
    Timespec {
        tv_sec: (nanos / NANOS_PER_SECOND).cast_signed(),
        tv_nsec: (nanos % NANOS_PER_SECOND).cast_signed(),
    }
}
