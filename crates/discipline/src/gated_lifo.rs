//! One worker that takes all waiting jobs as a batch and serves the batch from its end.
//!
//! Jobs that arrive meanwhile wait at the gate for the next batch. This is how an event loop behaves that
//! collects ready sockets and handles them last first, as the libev of Node's early years did. A Tokio worker
//! takes only the newest job of a batch first, out of a slot for the task that became ready most recently, and
//! the others in the order in which they came.

use super::{Discipline, Done, Nanos};

/// How long the gate stays open once the worker has nothing to do: just long enough that a client that
/// asks again at the very moment of a response belongs to the next batch.
const GATE_CLOSES_AFTER: Nanos = 1;

enum Worker<J> {
    Idle,
    /// Takes the jobs that are at the gate at this moment.
    Gathering(Nanos),
    Serving(Nanos, J),
}

pub struct GatedLifo<J> {
    worker: Worker<J>,
    /// The rest of the batch in service; its end is served first.
    batch: Vec<(Nanos, J)>,
    /// Whether only the newest of a batch goes first, and the others are served in the order of arrival.
    slot: bool,
    /// Jobs that wait for the next batch.
    gate: Vec<(Nanos, J)>,
}

impl<J> Default for GatedLifo<J> {
    fn default() -> Self {
        Self {
            worker: Worker::Idle,
            batch: Vec::new(),
            slot: false,
            gate: Vec::new(),
        }
    }
}

impl<J> GatedLifo<J> {
    /// The newest of a batch goes first, then the others in the order of arrival.
    pub fn slot() -> Self {
        Self {
            slot: true,
            ..Self::default()
        }
    }

    /// Takes all jobs at the gate; the one that is served first stands at the end.
    fn take_batch(&mut self) {
        std::mem::swap(&mut self.batch, &mut self.gate);
        if self.slot
            && let Some(last) = self.batch.pop()
        {
            self.batch.reverse();
            self.batch.push(last);
        }
    }

    /// What the worker does after becoming free at `now`.
    fn next_task(&mut self, now: Nanos) -> Worker<J> {
        match self.batch.pop() {
            Some((demand, job)) => Worker::Serving(now + demand, job),
            None => Worker::Gathering(now + GATE_CLOSES_AFTER),
        }
    }
}

impl<J> Discipline<J> for GatedLifo<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        self.gate.push((demand, job));
        if matches!(self.worker, Worker::Idle) {
            self.worker = Worker::Gathering(now + GATE_CLOSES_AFTER);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        match self.worker {
            Worker::Idle => None,
            Worker::Gathering(at) | Worker::Serving(at, _) => Some(at),
        }
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while self.next_event().is_some_and(|at| at <= now) {
            self.worker = match std::mem::replace(&mut self.worker, Worker::Idle) {
                Worker::Serving(at, job) => {
                    done.push(Done { at, job });
                    self.next_task(at)
                }
                Worker::Gathering(at) if !self.gate.is_empty() => {
                    self.take_batch();
                    self.next_task(at)
                }
                Worker::Gathering(_) | Worker::Idle => Worker::Idle,
            };
        }
    }
}
