//! What the engine needs from the machine: open files, cores, priorities, caches.

#![expect(
    unsafe_code,
    reason = "priorities of threads, and a hint to the caches"
)]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::spec::error::StartError;

/// Returns the number of open file descriptors of this process.
pub fn open_files() -> u64 {
    // Since Linux 6.2 the size of this directory is their number. Before that it is 0, and they have to be counted.
    let size = std::fs::metadata("/proc/self/fd").map_or(0, |folder| folder.len());
    if size > 0 {
        return size;
    }
    std::fs::read_dir("/proc/self/fd").map_or(0, |folder| folder.count() as u64 - 1)
}

/// Prefetches memory into the caches without waiting for it.
pub fn prefetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is only a hint: it accesses nothing, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// A future whose memory is prefetched as a whole whenever it is polled.
///
/// When the response to one client among thousands comes, its memory is in none of the caches. Fetching all lines at
/// once takes little more time than fetching one, while a poll meets them one after another: 10,000 devices that each
/// send a request a second took 1.4 µs more of the processor for each request.
pub struct Prefetched<F>(F);

impl<F: Future> Prefetched<F> {
    pub fn new(future: F) -> Self {
        Self(future)
    }
}

impl<F: Future> Future for Prefetched<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        prefetch(std::ptr::from_ref(&*self).cast(), size_of::<Self>());
        // SAFETY: the field is pinned whenever the whole is: nothing moves it, and nothing else gives access to it.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// The cores on which a thread may run.
#[derive(Clone, Copy)]
pub struct Cores(CpuSet);

impl Cores {
    /// Returns those of the calling thread.
    pub fn own() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(None)?))
    }

    /// Restricts the calling thread to these cores.
    pub fn pin(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}

/// Restricts the calling thread to `core`.
pub fn pin(core: usize) -> Result<(), StartError> {
    let mut set = CpuSet::new();
    let pinned = if core < CpuSet::MAX_CPU {
        set.set(core);
        Cores(set).pin()
    } else {
        Err(io::Error::from_raw_os_error(libc::EINVAL))
    };
    pinned.map_err(|error| StartError::Core {
        core,
        error,
        allowed: allowed_cores(),
    })
}

/// Gives the calling thread precedence over all ordinary threads on its core.
///
/// Threads that it starts do not inherit this.
pub fn precede() -> io::Result<()> {
    // SAFETY: `parameters` is all that is read; 0 is the calling thread.
    let result = unsafe {
        let parameters = libc::sched_param {
            sched_priority: libc::sched_get_priority_min(libc::SCHED_RR),
        };
        libc::sched_setscheduler(
            0,
            libc::SCHED_RR | libc::SCHED_RESET_ON_FORK,
            &raw const parameters,
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

fn allowed_cores() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or("unknown").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_counted() {
        let before = open_files();
        let _file = std::fs::File::open("/dev/null").unwrap();
        assert!(before > 2 && open_files() > 2);
    }
}
