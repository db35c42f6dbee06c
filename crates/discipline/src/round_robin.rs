//! Round robin on `c` cores: a job runs for at most one slice, then goes to the end of the queue.
//!
//! As the slice shrinks this becomes processor sharing; with a slice longer than every demand it is
//! first come, first served. Switching costs nothing. A scheduler may prefer new jobs, the newest first, to those
//! that have had a slice, as Go's does with jobs that have not been in its run queues before.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

/// A job, with the service it still needs.
struct Unfinished<J> {
    remaining: Nanos,
    job: J,
}

pub struct RoundRobin<J> {
    cores: usize,
    slice: Nanos,
    newest_first: bool,
    /// Jobs on a core, by the end of their slice; `remaining` is what will be left then.
    running: Calendar<Nanos, Unfinished<J>>,
    /// Empty unless all cores are busy.
    ready: VecDeque<Unfinished<J>>,
}

impl<J> RoundRobin<J> {
    pub fn new(cores: usize, slice: Nanos) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        assert!(slice > 0, "a slice lasts at least a nanosecond");
        Self {
            cores,
            slice,
            newest_first: false,
            running: Calendar::new(),
            ready: VecDeque::new(),
        }
    }

    /// The same, but jobs that have had no slice yet go before all that have, the newest first.
    pub fn newest_first(cores: usize, slice: Nanos) -> Self {
        Self {
            newest_first: true,
            ..Self::new(cores, slice)
        }
    }

    fn run(&mut self, now: Nanos, next: Unfinished<J>) {
        let run = next.remaining.min(self.slice);
        let remaining = next.remaining - run;
        self.running.insert(
            now + run,
            Unfinished {
                remaining,
                job: next.job,
            },
        );
    }
}

impl<J> Discipline<J> for RoundRobin<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        let newcomer = Unfinished {
            remaining: demand,
            job,
        };
        if self.running.len() < self.cores {
            self.run(now, newcomer);
        } else if self.newest_first {
            self.ready.push_front(newcomer);
        } else {
            self.ready.push_back(newcomer);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.running.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, stopped)) = self.running.pop_until(now) {
            if stopped.remaining == 0 {
                done.push(Done {
                    at,
                    job: stopped.job,
                });
            } else {
                self.ready.push_back(stopped);
            }
            if let Some(next) = self.ready.pop_front() {
                self.run(at, next);
            }
        }
    }
}
