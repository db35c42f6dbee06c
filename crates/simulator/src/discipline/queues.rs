//! A number of workers, each with a queue of its own: first come, first served in each, and nobody changes queues.

use super::Nanos;
use std::collections::VecDeque;

struct Queue<J> {
    busy: bool,
    /// Jobs with their demands; empty unless the worker is busy.
    waiting: VecDeque<(Nanos, J)>,
}

/// By worker.
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

    /// Whose the so-manieth job or connection is, where workers get them in turn.
    pub fn worker(&self, number: u64) -> usize {
        (number % self.0.len() as u64) as usize
    }

    /// The job, if the worker begins it at once; otherwise it waits.
    pub fn begin(&mut self, worker: usize, demand: Nanos, job: J) -> Option<(Nanos, J)> {
        let queue = &mut self.0[worker];
        if queue.busy {
            queue.waiting.push_back((demand, job));
            return None;
        }
        queue.busy = true;
        Some((demand, job))
    }

    /// The job that the worker begins after one is done.
    pub fn next(&mut self, worker: usize) -> Option<(Nanos, J)> {
        let queue = &mut self.0[worker];
        let next = queue.waiting.pop_front();
        queue.busy = next.is_some();
        next
    }
}
