//! Every job is served at once and none waits: as many servers as jobs (queueing theory's delay centre).

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};

pub struct Delay<J> {
    completions: Calendar<Nanos, J>,
}

impl<J> Default for Delay<J> {
    fn default() -> Self {
        Self {
            completions: Calendar::new(),
        }
    }
}

impl<J> Discipline<J> for Delay<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        self.completions.insert(now + demand, job);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.completions.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, job)) = self.completions.pop_until(now) {
            done.push(Done { at, job });
        }
    }
}
