//! A number of workers, each with its own queue: first come, first served in each, and no job changes queues.

use super::Nanos;
use std::collections::VecDeque;

struct Queue<J> {
    busy: bool,
    /// Jobs with their demands; empty unless the worker is busy.
    waiting: VecDeque<(Nanos, J)>,
}

/// One queue per worker.
pub struct Queues<J>(Vec<Queue<J>>);

impl<J> Queues<J> {
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a server needs at least one worker");
        let idle = || Queue {
            busy: false,
            waiting: VecDeque::new(),
        };
        Self(std::iter::repeat_with(idle).take(workers).collect())
    }

    /// The worker of the job or connection with this number, if workers get them in turn.
    pub fn worker(&self, number: u64) -> usize {
        (number % self.0.len() as u64) as usize
    }

    /// Returns the job if the worker begins it at once; otherwise the job waits.
    pub fn begin(&mut self, worker: usize, demand: Nanos, job: J) -> Option<(Nanos, J)> {
        let queue = &mut self.0[worker];
        if queue.busy {
            queue.waiting.push_back((demand, job));
            return None;
        }
        queue.busy = true;
        Some((demand, job))
    }

    /// Returns the job that the worker begins after it has finished one.
    pub fn next(&mut self, worker: usize) -> Option<(Nanos, J)> {
        let queue = &mut self.0[worker];
        let next = queue.waiting.pop_front();
        queue.busy = next.is_some();
        next
    }
}
