//! Workers with a queue each, as `OwnQueues` by connection has them, that all share one core in slices.
//!
//! So two jobs of different workers progress together, and two of the same worker one after the other. This is what
//! several processes on one core do whose connections are dealt out in turn, as by Node's cluster module.

use super::round_robin::RoundRobin;
use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

struct Queue<J> {
    busy: bool,
    /// Empty unless the worker is busy.
    waiting: VecDeque<(Nanos, J)>,
}

pub struct SharedQueues<J> {
    /// Jobs with their workers.
    core: RoundRobin<(usize, J)>,
    /// By worker.
    queues: Vec<Queue<J>>,
    /// Scratch space; empty between calls.
    finished: Vec<Done<(usize, J)>>,
}

impl<J> SharedQueues<J> {
    pub fn new(workers: usize, slice: Nanos) -> Self {
        assert!(workers > 0, "a server needs at least one worker");
        let idle = || Queue {
            busy: false,
            waiting: VecDeque::new(),
        };
        Self {
            core: RoundRobin::new(1, slice),
            queues: std::iter::repeat_with(idle).take(workers).collect(),
            finished: Vec::new(),
        }
    }
}

impl<J> Discipline<J> for SharedQueues<J> {
    /// The first connection belongs to the first worker, and so on in turn.
    fn arrive(&mut self, now: Nanos, demand: Nanos, connection: u64, job: J) {
        let worker = (connection % self.queues.len() as u64) as usize;
        let queue = &mut self.queues[worker];
        if queue.busy {
            queue.waiting.push_back((demand, job));
        } else {
            queue.busy = true;
            self.core.arrive(now, demand, connection, (worker, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.core.next_event()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some(at) = self.core.next_event().filter(|&at| at <= now) {
            self.core.advance(at, &mut self.finished);
            for Done {
                at,
                job: (worker, job),
            } in self.finished.drain(..)
            {
                done.push(Done { at, job });
                let queue = &mut self.queues[worker];
                match queue.waiting.pop_front() {
                    Some((demand, next)) => self.core.arrive(at, demand, 0, (worker, next)),
                    None => queue.busy = false,
                }
            }
        }
    }
}
