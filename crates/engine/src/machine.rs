//! What the engine asks of the machine: open files, cores, priority.

#![expect(unsafe_code, reason = "cores and priorities of threads")]

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

/// What [`lower_priority`] adds to a thread's nice value. Beside a load that never sleeps, 110 parts of 1,134 of a core
/// are left to it: several times what recording needs.
const NICER: i32 = 10;
/// So many times as long as a thread's own time slice is the one that it then asks for.
const LONGER: u64 = 4;
/// The longest that the kernel gives.
const LONGEST_SLICE_NS: u64 = 100_000_000;

/// Lets load threads on the same core go before the calling thread as soon as they wake up, for good: no privilege is
/// needed for that, but to go back. Where the system refuses, everything stays as it is. A thread that is scheduled by
/// another policy than the usual one was placed by somebody, and stays there.
///
/// Nice values alone decide about shares, not about who waits: since Linux 6.6 a thread goes on until its slice (1.4 ms
/// on two cores) is used up, whoever wakes up meanwhile; since 6.12 one with a shorter slice does not wait for that. A
/// longer slice alone would not do, because a thread that had its share does wait.
pub fn lower_priority() {
    // SAFETY: all fields are integers; the kernel writes no more than `size` bytes; 0 is the calling thread.
    unsafe {
        let mut own: libc::sched_attr = std::mem::zeroed();
        let size = size_of_val(&own);
        let asked = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut own, size, 0);
        if asked != 0 || own.sched_policy != libc::SCHED_OTHER.cast_unsigned() {
            return;
        }
        own.sched_nice = (own.sched_nice + NICER).min(19);
        own.sched_runtime = (own.sched_runtime * LONGER).min(LONGEST_SLICE_NS);
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const own, 0);
    }
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

    #[test]
    fn open_files_are_counted() {
        let before = open_files();
        let _file = std::fs::File::open("/dev/null").unwrap();
        assert!(before > 2 && open_files() > 2);
    }

    fn own_attributes() -> libc::sched_attr {
        // SAFETY: as in `lower_priority`.
        unsafe {
            let mut own: libc::sched_attr = std::mem::zeroed();
            let size = size_of_val(&own);
            let asked = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut own, size, 0);
            assert_eq!(asked, 0);
            own
        }
    }

    #[test]
    fn a_lower_priority_is_the_thread_s_own_and_ends_with_it() {
        let before = own_attributes();
        let lowered = thread::spawn(|| {
            lower_priority();
            own_attributes()
        });
        let lowered = lowered.join().unwrap();
        assert_eq!(lowered.sched_policy, before.sched_policy);
        assert_eq!(lowered.sched_nice, (before.sched_nice + NICER).min(19));
        assert_eq!(lowered.sched_runtime, before.sched_runtime * LONGER);
        let after = own_attributes();
        assert_eq!(
            (after.sched_nice, after.sched_runtime),
            (before.sched_nice, before.sched_runtime)
        );
    }

    #[test]
    fn a_thread_of_another_policy_stays_as_it_is() {
        let found = thread::spawn(|| {
            // SAFETY: `parameters` is all that is read; 0 is the calling thread.
            unsafe {
                let parameters = libc::sched_param { sched_priority: 0 };
                libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters);
            }
            let before = own_attributes();
            lower_priority();
            (before.sched_nice, own_attributes().sched_nice)
        });
        let (before, after) = found.join().unwrap();
        assert_eq!(before, after);
    }
}
