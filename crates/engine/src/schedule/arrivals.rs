//! Arrival processes: when requests are due. Pure functions of rate curve, count and seed.
//!
//! With Λ(t), the integral of the rate, arrival k of a constant process is due at Λ⁻¹(k); of a Poisson process at
//! Λ⁻¹(E₀ + … + Eₖ) with Eᵢ exponential of mean 1. Every worker walks the same sequence and takes its part of it, in
//! proportion to its connections, so that the union over all workers is exactly the plan, whatever their number. A
//! change of the rate changes Λ from then on, and never the count: no arrival is lost or comes twice.

use std::sync::Arc;

use crate::schedule::partition::Partition;
use crate::schedule::random::Rng;
use crate::schedule::rate_curve::RateCurve;
use crate::spec::{Arrivals, OpenSpec};

#[derive(Debug, Clone)]
enum Process {
    Constant,
    Poisson,
    Trace(Arc<[u64]>),
}

/// The seed of a workload's arrivals in a run.
#[must_use]
pub fn seed_of(run: u64, workload: usize) -> u64 {
    run ^ ((workload as u64 + 1) << 48)
}

/// One worker's part of an arrival process, walked in order.
#[derive(Debug, Clone)]
pub struct Schedule {
    process: Process,
    curve: Arc<RateCurve>,
    random: Rng,
    /// Sum of the exponential gaps so far (Poisson).
    sum: f64,
    part: Partition,
    /// How many gaps `sum` contains.
    gaps: u64,
    limit: u64,
    next: Option<u64>,
    taken: u64,
    /// Everything that was due before this has been taken or skipped.
    taken_until: u64,
}

impl Schedule {
    /// Begins one part of the process. `seed` must be the same for all parts.
    pub fn new(spec: &OpenSpec, seed: u64, part: Partition) -> Self {
        let mut schedule = Self {
            process: match &spec.arrivals {
                Arrivals::Constant => Process::Constant,
                Arrivals::Poisson => Process::Poisson,
                Arrivals::Trace(times) => Process::Trace(times.as_slice().into()),
            },
            curve: Arc::new(RateCurve::new(&spec.rates)),
            random: Rng::new(seed, &[]),
            sum: 0.0,
            part,
            gaps: 0,
            limit: spec.requests.unwrap_or(u64::MAX),
            next: None,
            taken: 0,
            taken_until: 0,
        };
        schedule.next = schedule.find_next();
        schedule
    }

    /// Returns when the next request is due; `None` after the last.
    pub fn peek(&self) -> Option<u64> {
        self.next
    }

    /// Takes the next request if it is due at `now`; returns its time.
    pub fn take_due(&mut self, now: u64) -> Option<u64> {
        let due = self.next.filter(|due| *due <= now)?;
        self.skip(1);
        Some(due)
    }

    /// Skips the next `count` requests.
    pub fn skip(&mut self, count: u64) {
        self.taken += count;
        self.taken_until = self.next.map_or(self.taken_until, |due| due + 1);
        self.next = self.find_next();
    }

    /// How many requests have been taken or skipped.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The phase in which a request with this intended start is counted.
    #[must_use]
    pub fn phase_at(&self, intended: u64) -> usize {
        self.curve.phase_at(intended)
    }

    /// The moment before which everything that was due has been taken or skipped: the rate may change from then on.
    pub fn taken_until(&self) -> u64 {
        self.taken_until
    }

    /// Goes on by `curve`, which must be the same as the one before up to `taken_until`.
    pub fn follow(&mut self, curve: Arc<RateCurve>) {
        self.curve = curve;
        self.next = self.find_next();
    }

    fn find_next(&mut self) -> Option<u64> {
        let index = self
            .part
            .nth(self.taken)
            .filter(|index| *index < self.limit)?;
        match &self.process {
            Process::Trace(times) => times.get(index as usize).copied(),
            Process::Constant => self.curve.time_of(index as f64),
            Process::Poisson => {
                while self.gaps <= index {
                    self.sum += self.random.exponential();
                    self.gaps += 1;
                }
                self.curve.time_of(self.sum)
            }
        }
    }
}

#[cfg(test)]
mod tests;
