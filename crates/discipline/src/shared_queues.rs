//! Workers with a queue each, as in `OwnQueues` by connection, that all share one core in slices.
//!
//! Two jobs of different workers thus progress together, and two of the same worker one after the other. This is how
//! several processes on one core behave if connections are dealt out to them in turn, as by Node's cluster module.

use super::queues::Queues;
use super::round_robin::RoundRobin;
use super::{Discipline, Done, Nanos};

pub struct SharedQueues<J> {
    /// Jobs with their workers.
    core: RoundRobin<(usize, J)>,
    queues: Queues<J>,
    /// Scratch space; empty between calls.
    finished: Vec<Done<(usize, J)>>,
}

impl<J> SharedQueues<J> {
    pub fn new(workers: usize, slice: Nanos) -> Self {
        Self {
            core: RoundRobin::new(1, slice),
            queues: Queues::new(workers),
            finished: Vec::new(),
        }
    }
}

impl<J> Discipline<J> for SharedQueues<J> {
    /// The first connection belongs to the first worker, and so on in turn.
    fn arrive(&mut self, now: Nanos, demand: Nanos, connection: u64, job: J) {
        let worker = self.queues.worker(connection);
        if let Some((demand, job)) = self.queues.begin(worker, demand, job) {
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
                if let Some((demand, next)) = self.queues.next(worker) {
                    self.core.arrive(at, demand, 0, (worker, next));
                }
            }
        }
    }
}
