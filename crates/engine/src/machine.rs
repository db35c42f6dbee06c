//! What the engine asks of the machine: open files, cores, priority, caches.

#![expect(
    unsafe_code,
    reason = "cores and priorities of threads, and a hint to the caches"
)]

use std::io;

use crate::spec::error::StartError;

/// Open descriptors of this process.
pub fn open_files() -> u64 {
    // Since Linux 6.2 the directory's size is their number; before, it is 0 and they are counted.
    let size = std::fs::metadata("/proc/self/fd").map_or(0, |folder| folder.len());
    if size > 0 {
        return size;
    }
    std::fs::read_dir("/proc/self/fd").map_or(0, |folder| folder.count() as u64 - 1)
}

/// Asks for memory to be brought into the caches, and does not wait for it.
pub fn prefetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it is a hint: nothing is read, and no address is wrong.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// The cores on which a thread may run.
#[derive(Clone, Copy)]
pub struct Cores(libc::cpu_set_t);

impl Cores {
    /// Those of the calling thread.
    pub fn own() -> io::Result<Self> {
        // SAFETY: an all-zero set is an empty set, and a valid place for the answer; 0 is the calling thread.
        let (result, set) = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let result = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
            (result, set)
        };
        if result == 0 {
            return Ok(Self(set));
        }
        Err(io::Error::last_os_error())
    }

    /// Lets the calling thread run on these only.
    pub fn pin(&self) -> io::Result<()> {
        // SAFETY: the set is valid; 0 is the calling thread.
        let result = unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) };
        if result == 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }
}

/// Lets the calling thread run on `core` only.
pub fn pin(core: usize) -> Result<(), StartError> {
    // SAFETY: an all-zero set is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let pinned = if core < libc::CPU_SETSIZE as usize {
        // SAFETY: `core` is within the set.
        unsafe { libc::CPU_SET(core, &mut set) };
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

/// Lets the calling thread run before all ordinary ones of its core. Threads that it starts do not.
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
