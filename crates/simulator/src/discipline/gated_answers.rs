//! Jobs are computed one after another, each to its end, but the answer of a long one waits for its turn.
//!
//! Who has computed for a whole slice goes to the end of the queue before the answer leaves. So of a batch of
//! long jobs no answer leaves before the last of them is computed. GHC's threads do this while they do not
//! allocate: its timer cannot stop them, so they give way at the first heap check, which comes before they send.

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

/// A job on a core.
struct Computing<J> {
    gives_way: bool,
    job: J,
}

pub struct GatedAnswers<J> {
    cores: usize,
    slice: Nanos,
    /// By the end of the computation.
    running: Calendar<Nanos, Computing<J>>,
    /// Empty unless all cores are busy.
    queue: VecDeque<Queued<J>>,
}

impl<J> GatedAnswers<J> {
    /// `slice`: who computes for so long gives way; 0: everybody does.
    pub fn new(cores: usize, slice: Nanos) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        Self {
            cores,
            slice,
            running: Calendar::new(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, now: Nanos, demand: Nanos, job: J) {
        let gives_way = demand >= self.slice;
        self.running
            .insert(now + demand, Computing { gives_way, job });
    }
}

impl<J> Discipline<J> for GatedAnswers<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        if self.running.len() < self.cores {
            self.run(now, demand, job);
        } else {
            self.queue.push_back(Queued::New(demand, job));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.running.first()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some((at, Computing { gives_way, job })) = self.running.pop_until(now) {
            if gives_way {
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
