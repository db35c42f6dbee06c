//! Processes of several threads each, under a lock that lets one thread of a process compute at a time.
//!
//! The threads of a process share its one core in slices. A job that finds all threads taken waits, first come, first
//! served, for one in any process. Puma behaves like this on a Ruby with a global lock.

use super::round_robin::RoundRobin;
use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

struct Process<J> {
    core: RoundRobin<J>,
    /// Threads that have a job.
    taken: usize,
}

pub struct LockedThreads<J> {
    processes: Vec<Process<J>>,
    /// Number of threads of each process.
    threads: usize,
    /// Empty unless all threads are taken.
    waiting: VecDeque<(Nanos, J)>,
    /// Scratch space; empty between calls.
    finished: Vec<Done<J>>,
}

impl<J> LockedThreads<J> {
    pub fn new(processes: usize, threads: usize, slice: Nanos) -> Self {
        assert!(processes > 0, "a server needs at least one process");
        assert!(threads > 0, "a process needs at least one thread");
        let idle = || Process {
            core: RoundRobin::new(1, slice),
            taken: 0,
        };
        Self {
            processes: std::iter::repeat_with(idle).take(processes).collect(),
            threads,
            waiting: VecDeque::new(),
            finished: Vec::new(),
        }
    }

    /// The next moment at which anything changes, and in which process.
    fn next(&self) -> Option<(Nanos, usize)> {
        let events = self.processes.iter().enumerate();
        events
            .filter_map(|(index, process)| Some((process.core.next_event()?, index)))
            .min()
    }
}

impl<J> Discipline<J> for LockedThreads<J> {
    /// Gives the job to the process with the fewest jobs.
    fn arrive(&mut self, now: Nanos, demand: Nanos, connection: u64, job: J) {
        let emptiest = self
            .processes
            .iter_mut()
            .min_by_key(|process| process.taken);
        match emptiest.filter(|process| process.taken < self.threads) {
            Some(process) => {
                process.taken += 1;
                process.core.arrive(now, demand, connection, job);
            }
            None => self.waiting.push_back((demand, job)),
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.next().map(|(at, _)| at)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, index)) = self.next().filter(|&(at, _)| at <= now) {
            let process = &mut self.processes[index];
            process.core.advance(at, &mut self.finished);
            for finished in self.finished.drain(..) {
                done.push(finished);
                match self.waiting.pop_front() {
                    Some((demand, job)) => process.core.arrive(at, demand, 0, job),
                    None => process.taken -= 1,
                }
            }
        }
    }
}
