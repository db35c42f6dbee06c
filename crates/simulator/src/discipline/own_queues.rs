//! A number of workers, each with a queue of its own: first come, first served in each, and nobody changes queues.
//!
//! So a request may wait although another worker is idle. This is what several processes do that each accept
//! connections of their own (`SO_REUSEPORT`), or a balancer that deals requests out.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Which worker a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// Each request goes to the next worker.
    InTurn,
    /// Each connection has its worker: the first connection the first, and so on in turn.
    ByConnection,
}

struct Queue<J> {
    busy: bool,
    /// Empty unless the worker is busy.
    waiting: VecDeque<(Nanos, J)>,
}

pub struct OwnQueues<J> {
    assignment: Assignment,
    /// By worker.
    queues: Vec<Queue<J>>,
    /// Jobs in service with their workers, by the moment of completion.
    in_service: Calendar<Nanos, (usize, J)>,
    arrived: u64,
}

impl<J> OwnQueues<J> {
    pub fn new(workers: usize, assignment: Assignment) -> Self {
        assert!(workers > 0, "a server needs at least one worker");
        let idle = || Queue {
            busy: false,
            waiting: VecDeque::new(),
        };
        Self {
            assignment,
            queues: std::iter::repeat_with(idle).take(workers).collect(),
            in_service: Calendar::new(),
            arrived: 0,
        }
    }
}

impl<J> Discipline<J> for OwnQueues<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, connection: u64, job: J) {
        let number = match self.assignment {
            Assignment::InTurn => self.arrived,
            Assignment::ByConnection => connection,
        };
        self.arrived += 1;
        let worker = (number % self.queues.len() as u64) as usize;
        let queue = &mut self.queues[worker];
        if queue.busy {
            queue.waiting.push_back((demand, job));
        } else {
            queue.busy = true;
            self.in_service.insert(now + demand, (worker, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.in_service.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, (worker, job))) = self.in_service.pop_until(now) {
            done.push(Done { at, job });
            match self.queues[worker].waiting.pop_front() {
                Some((demand, next)) => self.in_service.insert(at + demand, (worker, next)),
                None => self.queues[worker].busy = false,
            }
        }
    }
}
