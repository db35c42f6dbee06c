//! Least attained service first, on `c` cores: the job that has had the least service goes next, for one slice.
//!
//! New jobs thus overtake all others until they have had as much service, and short jobs hardly wait. Schedulers
//! with feedback queues do this; those that let a thread that has just woken catch up come close.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};

struct Unfinished<J> {
    attained: Nanos,
    demand: Nanos,
    job: J,
}

pub struct LeastAttained<J> {
    cores: usize,
    slice: Nanos,
    /// Jobs on a core, by the end of their slice; `attained` is what they will have had then.
    running: Calendar<Nanos, Unfinished<J>>,
    /// Waiting jobs, by attained service; empty unless all cores are busy.
    ready: Calendar<Nanos, Unfinished<J>>,
}

impl<J> LeastAttained<J> {
    pub fn new(cores: usize, slice: Nanos) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        assert!(slice > 0, "a slice lasts at least a nanosecond");
        Self {
            cores,
            slice,
            running: Calendar::new(),
            ready: Calendar::new(),
        }
    }

    fn run(&mut self, now: Nanos, mut next: Unfinished<J>) {
        let run = (next.demand - next.attained).min(self.slice);
        next.attained += run;
        self.running.insert(now + run, next);
    }
}

impl<J> Discipline<J> for LeastAttained<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        let newcomer = Unfinished {
            attained: 0,
            demand,
            job,
        };
        if self.running.len() < self.cores {
            self.run(now, newcomer);
        } else {
            self.ready.insert(0, newcomer);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.running.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, stopped)) = self.running.pop_until(now) {
            if stopped.attained == stopped.demand {
                done.push(Done {
                    at,
                    job: stopped.job,
                });
            } else {
                self.ready.insert(stopped.attained, stopped);
            }
            if let Some((_, next)) = self.ready.pop_until(Nanos::MAX) {
                self.run(at, next);
            }
        }
    }
}
