//! Go's scheduler: a watchdog looks at the cores once per slice, and interrupts jobs that ran at its last look already.
//!
//! A job thus runs for one to two slices, depending on when it began. An interrupted job goes to the end of a global
//! queue. A free core takes from the local queue; if that is empty, the core first moves its share of the global queue
//! there. Jobs that come while all cores are busy are noticed by the watchdog, or by a core that finds nothing else to
//! do, and enter the queue in reverse order.
//! Source: `sysmon`, `retake`, `injectglist` and `findRunnable` of Go 1.25's runtime/proc.go.
//!
//! Left out: a core looks into the global queue first at every 61st job, and cores steal from each other's local
//! queues (here one queue serves all cores).

use super::{Discipline, Done, Nanos};
use std::collections::VecDeque;

struct Unfinished<J> {
    remaining: Nanos,
    job: J,
}

/// A job on a core.
struct Running<J> {
    ends: Nanos,
    /// When the watchdog first saw it.
    seen: Option<Nanos>,
    job: J,
}

pub struct Watchdog<J> {
    slice: Nanos,
    cores: Vec<Option<Running<J>>>,
    local: VecDeque<Unfinished<J>>,
    global: VecDeque<Unfinished<J>>,
    /// Jobs that neither the watchdog nor a core has noticed yet.
    arrived: Vec<Unfinished<J>>,
    /// When the watchdog looks next. `None` while all cores are idle, since it sleeps then.
    next_look: Option<Nanos>,
}

impl<J> Watchdog<J> {
    pub fn new(cores: usize, slice: Nanos) -> Self {
        assert!(cores > 0, "a server needs at least one core");
        assert!(slice > 0, "a slice lasts at least a nanosecond");
        Self {
            slice,
            cores: std::iter::repeat_with(|| None).take(cores).collect(),
            local: VecDeque::new(),
            global: VecDeque::new(),
            arrived: Vec::new(),
            next_look: None,
        }
    }

    /// Runs a job on a core. A watchdog that has just woken looks often, then less and less often: it notices at once
    /// a job that begins in the first half of a slice, but its first look that may interrupt one comes after one and a
    /// half slices.
    fn run(&mut self, core: usize, now: Nanos, next: Unfinished<J>) {
        let next_look = *self
            .next_look
            .get_or_insert(now + self.slice + self.slice / 2);
        self.cores[core] = Some(Running {
            ends: now + next.remaining,
            seen: (now + self.slice < next_look).then_some(now),
            job: next.job,
        });
    }

    /// Takes the next job for a free core.
    fn take(&mut self) -> Option<Unfinished<J>> {
        if self.local.is_empty() {
            let share = self.global.len().div_ceil(self.cores.len());
            self.local.extend(self.global.drain(..share));
        }
        if self.local.is_empty() {
            self.local.extend(self.arrived.drain(..).rev());
        }
        self.local.pop_front()
    }

    fn refill(&mut self, core: usize, now: Nanos) {
        self.cores[core] = None;
        match self.take() {
            Some(next) => self.run(core, now, next),
            None if self.cores.iter().all(Option::is_none) => self.next_look = None,
            None => (),
        }
    }

    fn look(&mut self, now: Nanos) {
        self.next_look = Some(now + self.slice);
        self.global.extend(self.arrived.drain(..).rev());
        for core in 0..self.cores.len() {
            let Some(running) = &mut self.cores[core] else {
                continue;
            };
            let seen = *running.seen.get_or_insert(now);
            if seen + self.slice <= now
                && let Some(Running { ends, job, .. }) = self.cores[core].take()
            {
                let remaining = ends - now;
                self.global.push_back(Unfinished { remaining, job });
                self.refill(core, now);
            }
        }
    }

    fn next_end(&self) -> Option<(Nanos, usize)> {
        let running = self.cores.iter().enumerate();
        running
            .filter_map(|(core, running)| Some((running.as_ref()?.ends, core)))
            .min()
    }
}

impl<J> Discipline<J> for Watchdog<J> {
    fn arrive(&mut self, now: Nanos, demand: Nanos, _connection: u64, job: J) {
        let newcomer = Unfinished {
            remaining: demand,
            job,
        };
        match self.cores.iter().position(Option::is_none) {
            Some(core) => self.run(core, now, newcomer),
            None => self.arrived.push(newcomer),
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        let (end, _) = self.next_end()?;
        self.next_look.map(|look| look.min(end))
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>) {
        while let Some(at) = self.next_event().filter(|&at| at <= now) {
            match self.next_end().filter(|&(end, _)| end == at) {
                Some((_, core)) => {
                    if let Some(ended) = self.cores[core].take() {
                        done.push(Done { at, job: ended.job });
                    }
                    self.refill(core, at);
                }
                None => self.look(at),
            }
        }
    }
}
