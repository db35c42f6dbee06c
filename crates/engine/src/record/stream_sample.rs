//! One stream of events as its client sees it.

use crate::spec::StreamBounds;

/// What a client has seen of one stream. Times are nanoseconds from the start of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamSample {
    pub events: u64,
    /// When the first event came, and the last one.
    pub first: u64,
    pub last: u64,
    pub longest_gap: u64,
    /// Gaps at least as long as the bound.
    pub late: u64,
    /// Messages of the client that were answered; those of them at least as late as the bound; those without a
    /// response.
    pub round_trips: u64,
    pub late_round_trips: u64,
    pub unanswered: u64,
    pub tokens: Option<u64>,
    /// Whether its number of tokens was wanted, and no event told it.
    pub lacks_tokens: bool,
    /// When one of its events was an error.
    pub failed: Option<u64>,
    /// When the stream was whole: at its last event, or at the text that ends it.
    pub whole: Option<u64>,
    /// Whether a whole stream kept its bounds, if it has any.
    pub kept_bounds: bool,
}

impl StreamSample {
    /// Notes an event and returns the gap before it, unless it is the first.
    pub fn event(&mut self, at: u64) -> Option<u64> {
        let gap = (self.events > 0).then(|| at.saturating_sub(self.last));
        if self.events == 0 {
            self.first = at;
        }
        self.events += 1;
        self.last = at;
        self.longest_gap = self.longest_gap.max(gap.unwrap_or(0));
        gap
    }

    /// When the stream was whole or had failed: nothing more of it counts.
    pub fn over(&self) -> Option<u64> {
        self.whole.or(self.failed)
    }

    /// Whether the stream kept its bounds.
    pub fn met(&self, bounds: &StreamBounds, intended: u64) -> bool {
        let soon = |ns| self.events > 0 && self.first.saturating_sub(intended) < ns;
        // The tolerance absorbs rounding: of ten gaps with a share of 1 - 0.9, one may be late.
        let few = |late: u64, of: u64, share: f64| late as f64 <= share * of as f64 + 1e-6;
        let round_trips = self.round_trips + self.unanswered;
        let answered = bounds.round_trip_ns.is_none_or(|_| {
            let late = self.late_round_trips + self.unanswered;
            few(late, round_trips, bounds.late_round_trips)
        });
        bounds.first_ns.is_none_or(soon)
            && few(self.late, self.events.saturating_sub(1), bounds.late)
            && answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_stream_keeps_its_bounds_or_does_not() {
        let bounds = StreamBounds {
            first_ns: Some(10 * MS),
            gap_ns: Some(5 * MS),
            late: 0.5,
            round_trip_ns: None,
            late_round_trips: 0.0,
        };
        let mut seen = StreamSample::default();
        assert!(!seen.met(&bounds, 0), "no event came");
        seen.event(9 * MS);
        assert!(seen.met(&bounds, 0));
        assert!(!seen.met(
            &StreamBounds {
                first_ns: Some(9 * MS),
                ..bounds
            },
            0
        ));
        seen.event(20 * MS);
        seen.late = 1;
        assert!(!seen.met(&bounds, 0), "the only gap is late");
        seen.event(21 * MS);
        assert!(seen.met(&bounds, 0), "one of two is");
        for at in 22..30 {
            seen.event(at * MS);
        }
        let late = 1.0 - 0.9;
        let bounds = StreamBounds { late, ..bounds };
        assert!(seen.met(&bounds, 0), "one of ten");
        seen.unanswered = 1;
        assert!(seen.met(&bounds, 0), "no bound of round trips");
        let bounds = StreamBounds {
            round_trip_ns: Some(MS),
            late_round_trips: late,
            ..bounds
        };
        seen.round_trips = 9;
        assert!(seen.met(&bounds, 0), "one of ten messages has no response");
        seen.late_round_trips = 1;
        assert!(!seen.met(&bounds, 0), "and one has it late");
    }
}
