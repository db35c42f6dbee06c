//! Jobs are computed one after another, each to its end, but an answer waits if a timer ticked meanwhile.
//!
//! The timer ticks for the whole server, whoever is computing. GHC's asks the thread that computes to give way; one
//! that does not allocate gives way at its first heap check, which comes before it sends, and then stands at the end
//! of the queue. Who has just come stands at its beginning, the newest first. So a job that takes longer than a
//! period never answers before all that wait are computed, and a shorter one by chance: as the timer stands.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

/// A job in the queue.
enum Queued<J> {
    /// Not begun, with its demand.
    New(Nanos, J),
    /// Computed; nothing is left but to send its answer, which takes no time.
    Computed(J),
}

/// A job on a core, since when.
struct Computing<J> {
    since: Nanos,
    job: J,
}

pub struct GatedByTimer<J> {
    cores: usize,
    period: Nanos,
    /// When the timer ticks first.
    phase: Nanos,
    /// By the end of the computation.
    running: Calendar<Nanos, Computing<J>>,
    /// Empty unless all cores are busy.
    queue: VecDeque<Queued<J>>,
}

impl<J> GatedByTimer<J> {
    pub fn new(cores: usize, period: Nanos, phase: Nanos) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        assert!(period > 0, "a period lasts at least a nanosecond");
        Self {
            cores,
            period,
            phase: phase % period,
            running: Calendar::new(),
            queue: VecDeque::new(),
        }
    }

    /// How often the timer has ticked until then.
    fn ticks(&self, at: Nanos) -> Nanos {
        (at + self.period - self.phase) / self.period
    }

    fn run(&mut self, now: Nanos, demand: Nanos, job: J) {
        let since = now;
        self.running.insert(now + demand, Computing { since, job });
    }
}

impl<J> Discipline<J> for GatedByTimer<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        if self.running.len() < self.cores {
            self.run(now, demand, job);
        } else {
            self.queue.push_front(Queued::New(demand, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.running.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, Computing { since, job })) = self.running.pop_until(now) {
            if self.ticks(at) > self.ticks(since) {
                self.queue.push_back(Queued::Computed(job));
            } else {
                done.push(Done { at, job });
            }
            while let Some(next) = self.queue.pop_front() {
                match next {
                    Queued::Computed(job) => done.push(Done { at, job }),
                    Queued::New(demand, job) => {
                        self.run(at, demand, job);
                        break;
                    }
                }
            }
        }
    }
}
