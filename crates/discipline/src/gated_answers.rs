//! Jobs are computed one after another, each to completion, but a response may have to wait for its turn.
//!
//! A job that has to give way after computing goes to the end of the queue before its response is sent. Of a batch of
//! long jobs, no response is therefore sent before the last of them is computed. GHC's threads behave like this while
//! they do not allocate: its timer cannot stop them, so they give way at the first heap check, which comes before
//! they send.

use super::calendar::Calendar;
use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

/// Which jobs give way, and at which end of the queue new jobs enter.
enum Rule {
    /// Jobs that compute for at least this long give way. New jobs enter at the end.
    Slice(Nanos),
    /// Jobs that compute while a timer ticks, first at `phase` and then once per `period`, give way. New jobs enter at
    /// the beginning.
    Timer { period: Nanos, phase: Nanos },
}

impl Rule {
    /// Whether a job that is computed from `since` until `at` gives way.
    fn gives_way(&self, since: Nanos, at: Nanos) -> bool {
        match *self {
            Self::Slice(slice) => at - since >= slice,
            Self::Timer { period, phase } => {
                let ticks = |until: Nanos| (until + period - phase) / period;
                ticks(at) > ticks(since)
            }
        }
    }
}

/// A job in the queue.
enum Queued<J> {
    /// Not begun, with its demand.
    New(Nanos, J),
    /// Computed; only its response is left to be sent, which takes no time.
    Computed(J),
}

/// A job on a core, and since when.
struct Computing<J> {
    since: Nanos,
    job: J,
}

pub struct GatedAnswers<J> {
    cores: usize,
    rule: Rule,
    /// Jobs on a core, by the end of their computation.
    running: Calendar<Nanos, Computing<J>>,
    /// Empty unless all cores are busy.
    queue: VecDeque<Queued<J>>,
}

impl<J> GatedAnswers<J> {
    /// Jobs that compute for a whole `slice` give way; if it is 0, all jobs do.
    pub fn by_slice(cores: usize, slice: Nanos) -> Self {
        Self::new(cores, Rule::Slice(slice))
    }

    /// Jobs that compute while a timer ticks give way, and the newest waiting job is next.
    ///
    /// The timer ticks for the whole server, whichever job is computing. So a job that takes longer than a `period` is
    /// never answered before all waiting jobs are computed; for a shorter one it depends on where the timer stands.
    pub fn by_timer(cores: usize, period: Nanos, phase: Nanos) -> Self {
        assert!(period > 0, "a period lasts at least a nanosecond");
        let phase = phase % period;
        Self::new(cores, Rule::Timer { period, phase })
    }

    fn new(cores: usize, rule: Rule) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        Self {
            cores,
            rule,
            running: Calendar::new(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, now: Nanos, demand: Nanos, job: J) {
        let since = now;
        self.running.insert(now + demand, Computing { since, job });
    }
}

impl<J> Discipline<J> for GatedAnswers<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        if self.running.len() < self.cores {
            self.run(now, demand, job);
            return;
        }
        let newcomer = Queued::New(demand, job);
        match self.rule {
            Rule::Slice(_) => self.queue.push_back(newcomer),
            Rule::Timer { .. } => self.queue.push_front(newcomer),
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.running.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, Computing { since, job })) = self.running.pop_until(now) {
            if self.rule.gives_way(since, at) {
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
