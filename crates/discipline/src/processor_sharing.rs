//! Processor sharing on `c` cores: each of `n` jobs is served at the rate min(1, c/n), all the time.
//!
//! Calculated in virtual time V, the service that each job present has had since V = 0:
//! dV/dt = min(1, c/n). A job that arrives at V with demand x completes when V reaches its tag V + x, so
//! the order of completion is the order of tags and never changes: one heap, no work per tick.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};
use std::cmp::Ordering;

/// Virtual time in nanoseconds, ordered totally. At 53 bits it stays exact to a nanosecond for 100 days.
#[derive(Clone, Copy, PartialEq)]
struct Virtual(f64);

impl Eq for Virtual {}

impl Ord for Virtual {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Virtual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

pub struct ProcessorSharing<J> {
    cores: f64,
    /// Jobs present, by their tags.
    jobs: Calendar<Virtual, J>,
    /// Virtual time at `moment`.
    virtual_now: f64,
    /// The real moment, in nanoseconds, up to which virtual time is calculated.
    moment: f64,
}

impl<J> ProcessorSharing<J> {
    pub fn new(cores: usize) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        Self {
            cores: cores as f64,
            jobs: Calendar::new(),
            virtual_now: 0.0,
            moment: 0.0,
        }
    }

    /// Real nanoseconds that pass per nanosecond of virtual time: 1 while every job has its own core.
    fn stretch(&self) -> f64 {
        (self.jobs.len() as f64 / self.cores).max(1.0)
    }

    /// The real moment of the next completion, if no job arrives before.
    fn next_completion(&self) -> Option<f64> {
        let Virtual(tag) = self.jobs.first()?;
        Some(self.moment + (tag - self.virtual_now) * self.stretch())
    }
}

impl<J> Discipline<J> for ProcessorSharing<J> {
    fn arrive(&mut self, _now: Nanos, demand: Nanos, _connection: u64, job: J) {
        self.jobs
            .insert(Virtual(self.virtual_now + demand as f64), job);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.next_completion().map(|at| at.ceil() as Nanos)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        let now_exact = now as f64;
        while let Some(at) = self.next_completion().filter(|&at| at <= now_exact) {
            let (tag, job) = self
                .jobs
                .pop_until(Virtual(f64::INFINITY))
                .expect("a completion has a job");
            (self.virtual_now, self.moment) = (tag.0, at);
            done.push(Done {
                at: at.ceil() as Nanos,
                job,
            });
        }
        if self.jobs.len() == 0 {
            self.virtual_now = 0.0; // no job holds a tag: start over, at full precision
        } else {
            self.virtual_now += (now_exact - self.moment) / self.stretch();
        }
        self.moment = now_exact;
    }
}
