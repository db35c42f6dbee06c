//! Workers with a queue each, and a core each.
//!
//! A request may thus wait although another worker is idle. This is how several processes behave that each accept
//! their own connections (`SO_REUSEPORT`), or servers behind a balancer that deals out requests.

use super::calendar::Calendar;
use super::queues::Queues;
use super::{Discipline, Done, Nanos};
use serde::{Deserialize, Serialize};

/// Which worker a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// Each request goes to the next worker.
    InTurn,
    /// Each connection belongs to a worker: the first connection to the first worker, and so on in turn.
    ByConnection,
}

pub struct OwnQueues<J> {
    assignment: Assignment,
    queues: Queues<J>,
    /// Jobs in service with their workers, by the moment of completion.
    in_service: Calendar<Nanos, (usize, J)>,
    arrived: u64,
}

impl<J> OwnQueues<J> {
    pub fn new(workers: usize, assignment: Assignment) -> Self {
        Self {
            assignment,
            queues: Queues::new(workers),
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
        let worker = self.queues.worker(number);
        if let Some((demand, job)) = self.queues.begin(worker, demand, job) {
            self.in_service.insert(now + demand, (worker, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.in_service.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, (worker, job))) = self.in_service.pop_until(now) {
            done.push(Done { at, job });
            if let Some((demand, next)) = self.queues.next(worker) {
                self.in_service.insert(at + demand, (worker, next));
            }
        }
    }
}
