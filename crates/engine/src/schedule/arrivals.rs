//! Arrival processes: when requests are due. Pure functions of rate curve, count and seed.
//!
//! The cumulative rate Λ(t) is a piecewise quadratic function (the rate is piecewise linear). Arrival k of a
//! constant process is due at Λ⁻¹(k); of a Poisson process at Λ⁻¹(E₀ + … + Eₖ) with Eᵢ exponential of mean 1.
//! Every worker walks the same sequence and takes its part of it, in proportion to its connections, so that the
//! union over all workers is exactly the plan, whatever their number.

use std::sync::Arc;

use crate::schedule::partition::Partition;
use crate::schedule::random::Rng;
use crate::spec::{Arrivals, OpenSpec, RateSpec};

/// The rate over time.
#[derive(Debug, Clone)]
pub struct RateCurve {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    start_ns: f64,
    /// ∞ for the last piece.
    duration_ns: f64,
    /// Λ at the start.
    count: f64,
    /// Arrivals per ns at the start.
    rate: f64,
    /// Change of the rate per ns.
    slope: f64,
}

impl RateCurve {
    /// Creates the curve. The last rate holds for ever.
    pub fn new(rates: &[RateSpec]) -> Self {
        let mut pieces = Vec::with_capacity(rates.len() + 1);
        let (mut start_ns, mut count, mut last) = (0.0, 0.0, 0.0);
        for spec in rates {
            let (from, to) = (spec.from * 1e-9, spec.to * 1e-9);
            last = to;
            let Some(duration) = spec.duration_ns else {
                break;
            };
            let duration_ns = duration as f64;
            let slope = (to - from) / duration_ns;
            pieces.push(Piece {
                start_ns,
                duration_ns,
                count,
                rate: from,
                slope,
            });
            start_ns += duration_ns;
            count += f64::midpoint(from, to) * duration_ns;
        }
        pieces.push(Piece {
            start_ns,
            duration_ns: f64::INFINITY,
            count,
            rate: last,
            slope: 0.0,
        });
        Self { pieces }
    }

    /// Λ⁻¹: returns when the expected count reaches `count`; `None` if it never does.
    fn time_of(&self, count: f64) -> Option<u64> {
        let after = self.pieces.partition_point(|piece| piece.count <= count);
        // Of several pieces that begin with the same count (the rate is 0 between them), the last continues the count.
        let piece = &self.pieces[after - 1];
        let more = count - piece.count;
        let root = (piece.rate * piece.rate + 2.0 * piece.slope * more)
            .max(0.0)
            .sqrt();
        let denominator = piece.rate + root;
        if more == 0.0 && denominator > 0.0 {
            return Some(piece.start_ns as u64);
        }
        if denominator <= 0.0 {
            // A ramp up from rate 0 reaches its first count at once; a rate of 0 for ever never does.
            return (more == 0.0 && piece.slope > 0.0).then_some(piece.start_ns as u64);
        }
        let within = 2.0 * more / denominator;
        Some((piece.start_ns + within.min(piece.duration_ns)).round() as u64)
    }
}

#[derive(Debug)]
enum Source {
    Constant(RateCurve),
    Poisson(RateCurve),
    Trace(Vec<u64>),
}

/// The seed of a workload's arrivals in a run.
#[must_use]
pub fn seed_of(run: u64, workload: usize) -> u64 {
    run ^ ((workload as u64 + 1) << 48)
}

/// One worker's part of an arrival process, walked in order.
#[derive(Debug, Clone)]
pub struct Schedule {
    source: Arc<Source>,
    stream: Rng,
    /// Sum of the exponential gaps so far (Poisson).
    sum: f64,
    part: Partition,
    /// How many gaps `sum` contains.
    gaps: u64,
    limit: u64,
    next: Option<u64>,
    taken: u64,
}

impl Schedule {
    /// Begins one part of the process. `seed` must be the same for all parts.
    pub fn new(spec: &OpenSpec, seed: u64, part: Partition) -> Self {
        let source = match &spec.arrivals {
            Arrivals::Constant => Source::Constant(RateCurve::new(&spec.rates)),
            Arrivals::Poisson => Source::Poisson(RateCurve::new(&spec.rates)),
            Arrivals::Trace(times) => Source::Trace(times.clone()),
        };
        let mut schedule = Self {
            source: Arc::new(source),
            stream: Rng::new(seed, &[]),
            sum: 0.0,
            part,
            gaps: 0,
            limit: spec.requests.unwrap_or(u64::MAX),
            next: None,
            taken: 0,
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
        self.next = self.find_next();
    }

    /// How many requests have been taken or skipped.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    fn find_next(&mut self) -> Option<u64> {
        let index = self
            .part
            .nth(self.taken)
            .filter(|index| *index < self.limit)?;
        match &*self.source {
            Source::Trace(times) => times.get(index as usize).copied(),
            Source::Constant(curve) => curve.time_of(index as f64),
            Source::Poisson(curve) => {
                while self.gaps <= index {
                    self.sum += self.stream.exponential();
                    self.gaps += 1;
                }
                curve.time_of(self.sum)
            }
        }
    }
}

#[cfg(test)]
mod tests;
