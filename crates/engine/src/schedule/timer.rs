//! Pacing: a queue of due times, and one `timerfd` per worker that wakes the runtime for the earliest.
//! (The runtime's own timers tick in milliseconds.)

#![expect(unsafe_code, reason = "timerfd")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Who is to be woken when. Times are nanoseconds from the start of the run.
#[derive(Debug, Default)]
pub struct TimerQueue {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl TimerQueue {
    pub fn push(&mut self, due: u64, slot: u32) {
        self.heap.push(Reverse((due, slot)));
    }

    /// The next slot that is due at `now`, in order of time.
    pub fn pop_due(&mut self, now: u64) -> Option<u32> {
        let Reverse((due, slot)) = *self.heap.peek()?;
        if due > now {
            return None;
        }
        self.heap.pop();
        Some(slot)
    }

    pub fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due, _))| *due)
    }
}

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

    /// Setting it also takes back an expiry that was not read yet, so it never has to be read.
    pub fn set(&self, monotonic_ns: u64) {
        // A zero would disarm it; a past time fires at once.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_out_in_order_of_time_and_not_before() {
        let mut queue = TimerQueue::default();
        for (due, slot) in [(50, 1), (70, 2), (20, 3), (50, 4)] {
            queue.push(due, slot);
        }
        assert_eq!(queue.next(), Some(20));
        assert_eq!(queue.pop_due(19), None);
        let mut due_at = |now| std::iter::from_fn(|| queue.pop_due(now)).collect::<Vec<_>>();
        assert_eq!(due_at(50), [3, 1, 4]);
        assert!(due_at(69).is_empty());
        assert_eq!(due_at(70), [2]);
        assert_eq!(queue.next(), None);
    }
}
