//! Linux: cores by number, and `SCHED_RR`.

#![expect(unsafe_code, reason = "priorities of threads")]

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::spec::error::StartError;

/// The cores on which a thread may run.
#[derive(Clone, Copy)]
pub struct Cores(CpuSet);

impl Cores {
    /// Returns those of the calling thread.
    pub fn of_this_thread() -> io::Result<Self> {
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
pub fn use_real_time_priority() -> io::Result<()> {
    // SAFETY: the priority is all that the kernel reads; 0 is the calling thread. The kernel is called itself, because
    // musl's `sched_setscheduler` always refuses.
    let result = unsafe {
        let priority = libc::sched_get_priority_min(libc::SCHED_RR);
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_RR | libc::SCHED_RESET_ON_FORK,
            &raw const priority,
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
    use std::thread;

    use super::*;

    /// The kernel's number of this thread's policy.
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux has it");
        let (_, after_the_name) = stat.rsplit_once(") ").expect("the name stands in brackets");
        after_the_name
            .split(' ')
            .nth(38)
            .and_then(|policy| policy.parse().ok())
            .expect("the 41st field of all")
    }

    #[test]
    fn a_thread_has_real_time_priority_or_is_not_permitted_it() {
        let tried = thread::spawn(|| use_real_time_priority().map(|()| policy()));
        match tried.join().expect("it does not panic") {
            Ok(policy) => assert_eq!(policy, libc::SCHED_RR),
            Err(refused) => assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
