//! One clock for everything: `CLOCK_MONOTONIC`, in nanoseconds from the start of the run.

#![expect(unsafe_code, reason = "clock_gettime")]

use std::time::{SystemTime, UNIX_EPOCH};

/// The clock of one run. Copies agree on all threads.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The monotonic time of t = 0.
    zero_ns: u64,
}

impl Clock {
    pub fn starting_at(monotonic_ns: u64) -> Self {
        Self {
            zero_ns: monotonic_ns,
        }
    }

    /// Returns the nanoseconds since the start; 0 before it.
    pub fn now(self) -> u64 {
        self.of(monotonic_ns())
    }

    /// Converts a monotonic time to nanoseconds since the start; 0 before it.
    pub fn of(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_sub(self.zero_ns)
    }

    /// Returns the monotonic time of `ns` after the start, as a kernel timer needs it.
    pub fn monotonic(self, ns: u64) -> u64 {
        self.zero_ns.saturating_add(ns)
    }
}

pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the CPU time that the calling thread has used.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the wall-clock time.
pub fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_nanos() as u64)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the response; both clocks exist on every Linux and macOS that Rust supports.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
