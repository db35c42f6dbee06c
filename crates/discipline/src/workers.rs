//! A number of workers, each running one job to completion; waiting jobs are taken in the order of `W`.
//!
//! With [`Fifo`](super::Fifo) and one worker this is an event loop that runs each handler to completion;
//! with several it is a pre-forking server with one shared queue.

use super::calendar::Calendar;
use super::waiting::Waiting;
use super::{Discipline, Done, Nanos};

/// A job that waits, with its demand.
type Demanding<J> = (Nanos, J);

pub struct Workers<J, W> {
    count: usize,
    /// Jobs in service, by the moment of their completion; never more than `count`.
    busy: Calendar<Nanos, J>,
    /// Empty unless all workers are busy.
    waiting: W,
}

impl<J, W: Waiting<Demanding<J>>> Workers<J, W> {
    pub fn new(count: usize, waiting: W) -> Self {
        assert!(count > 0, "a server needs at least one worker");
        Self {
            count,
            busy: Calendar::new(),
            waiting,
        }
    }
}

impl<J, W: Waiting<Demanding<J>>> Discipline<J> for Workers<J, W> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        if self.busy.len() < self.count {
            self.busy.insert(now + demand, job);
        } else {
            self.waiting.push((demand, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.busy.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, job)) = self.busy.pop_until(now) {
            done.push(Done { at, job });
            if let Some((demand, next)) = self.waiting.pop() {
                self.busy.insert(at + demand, next);
            }
        }
    }
}
