//! The rate of an open load over time, as planned and as changed since.

use crate::spec::RateSpec;

/// The rate over time, and its integral Λ(t): how many requests are due by then.
///
/// The rate is piecewise linear, so Λ is piecewise quadratic.
#[derive(Debug, Clone)]
pub struct RateCurve {
    planned: Vec<RateSpec>,
    pieces: Vec<Piece>,
    end_ns: u64,
}

#[derive(Debug, Clone)]
struct Piece {
    start_ns: f64,
    /// As planned, also where another piece follows earlier; ∞ for the last one.
    duration_ns: f64,
    /// Λ at the start.
    count: f64,
    /// Requests per ns at the start.
    rate: f64,
    /// Change of the rate per ns.
    slope: f64,
    /// The phase in which its requests are counted.
    phase: usize,
}

impl Piece {
    fn constant(start_ns: f64, count: f64, rate: f64, phase: usize) -> Self {
        Self {
            start_ns,
            duration_ns: f64::INFINITY,
            count,
            rate,
            slope: 0.0,
            phase,
        }
    }

    fn rate_at(&self, now: f64) -> f64 {
        self.rate + self.slope * (now - self.start_ns)
    }

    fn count_at(&self, now: f64) -> f64 {
        self.count + f64::midpoint(self.rate, self.rate_at(now)) * (now - self.start_ns)
    }
}

impl RateCurve {
    /// Creates the curve. The last rate holds for ever.
    #[must_use]
    pub fn new(rates: &[RateSpec]) -> Self {
        let mut curve = Self {
            planned: rates.to_vec(),
            pieces: Vec::with_capacity(rates.len() + 1),
            end_ns: u64::MAX,
        };
        curve.append(0, 0, 0.0);
        curve
    }

    /// Appends what is planned from phase `first` on, to begin at `start` with this `count`.
    fn append(&mut self, first: usize, start: u64, mut count: f64) {
        let (mut start_ns, mut last) = (start as f64, 0.0);
        let mut end_ns = Some(start);
        for (phase, spec) in self.planned.iter().enumerate().skip(first) {
            let (from, to) = (spec.from * 1e-9, spec.to * 1e-9);
            last = to;
            end_ns = end_ns.zip(spec.duration_ns).map(|(end, ns)| end + ns);
            let Some(duration) = spec.duration_ns else {
                break;
            };
            let duration_ns = duration as f64;
            self.pieces.push(Piece {
                start_ns,
                duration_ns,
                count,
                rate: from,
                slope: (to - from) / duration_ns,
                phase,
            });
            start_ns += duration_ns;
            count += f64::midpoint(from, to) * duration_ns;
        }
        let last_phase = self.planned.len().saturating_sub(1);
        self.pieces
            .push(Piece::constant(start_ns, count, last, last_phase));
        self.end_ns = self.end_ns.min(end_ns.unwrap_or(u64::MAX));
    }

    /// When all that is planned is over; `u64::MAX` if the last rate has no end.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// The phase in which a request with this intended start is counted.
    #[must_use]
    pub fn phase_at(&self, intended: u64) -> usize {
        self.piece_at(intended as f64).phase
    }

    /// The number of the phase after that at `now`; `None` if there is none.
    #[must_use]
    pub fn phase_after(&self, now: u64) -> Option<usize> {
        let next = self.phase_at(now) + 1;
        (next < self.planned.len()).then_some(next)
    }

    /// The rate at `now`, per second.
    #[must_use]
    pub fn rate_at(&self, now: u64) -> f64 {
        self.piece_at(now as f64).rate_at(now as f64) * 1e9
    }

    /// Whether the rate stays as it is from `now` on.
    #[must_use]
    #[expect(
        clippy::float_cmp,
        reason = "rates that are meant to be the same are the same number"
    )]
    pub fn is_constant_from(&self, now: u64) -> bool {
        let place = self.place_at(now as f64);
        let rate = self.pieces[place].rate;
        let mut rest = self.pieces[place..].iter();
        rest.all(|piece| piece.slope == 0.0 && piece.rate == rate)
    }

    /// Goes on at this rate per second from `at` on. Whatever was to come after `at` does not.
    pub fn go_on_at(&mut self, at: u64, rate: f64) {
        let (count, phase) = self.cut(at);
        self.pieces
            .push(Piece::constant(at as f64, count, rate * 1e-9, phase));
    }

    /// Goes on at `at` with the beginning of a phase. Whatever else was to come after `at` does not.
    pub fn go_on_with(&mut self, at: u64, phase: usize) {
        let (count, _) = self.cut(at);
        self.append(phase, at, count);
    }

    /// Removes what comes after `at`. Returns Λ and the phase there.
    fn cut(&mut self, at: u64) -> (f64, usize) {
        let at = at as f64;
        let piece = self.piece_at(at);
        let found = (piece.count_at(at), piece.phase);
        self.pieces.retain(|piece| piece.start_ns < at);
        found
    }

    fn place_at(&self, now: f64) -> usize {
        self.pieces.partition_point(|piece| piece.start_ns <= now) - 1
    }

    fn piece_at(&self, now: f64) -> &Piece {
        &self.pieces[self.place_at(now)]
    }

    /// Λ⁻¹: returns when the expected count reaches `count`; `None` if it never does.
    pub(super) fn time_of(&self, count: f64) -> Option<u64> {
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
