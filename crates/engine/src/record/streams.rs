//! Streams of events: when the first one came, how far they were apart, and how the streams ended.

use hdrhistogram::Histogram;

use crate::record::filling::{histogram, record};
use crate::record::interval::Outcome;
use crate::record::sample::Sample;
use crate::record::sorted;
use crate::spec::StreamBounds;

/// The streams of one request of one workload within an interval. An event is counted in the interval in which it
/// came, a stream in the one in which it ended.
#[derive(Debug, Clone)]
pub struct StreamSeries {
    pub workload: u32,
    pub request: u32,
    /// Indexed by [`StreamMeasure`], in microseconds.
    pub histograms: [Histogram<u64>; STREAM_MEASURES],
    /// How many events came.
    pub events: u64,
    /// Streams that had all of their events.
    pub whole: u64,
    /// Whole streams that kept their bounds.
    pub met: u64,
    /// Total number of tokens that the whole streams report.
    pub tokens: u64,
    /// Whole streams that were to report a number of tokens, and did not.
    pub without_tokens: u64,
    /// Streams that failed after their first event. Their last gap never ended, and is not recorded.
    pub broken_off: u64,
    /// Streams that had begun and were cut off by the end of the load.
    pub unfinished: u64,
    /// Messages of the client that were due, but whose stream ended before they were answered.
    pub unanswered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum StreamMeasure {
    /// Intended start of the request → its first event.
    First,
    /// An event → the next one of the same stream.
    Gap,
    /// The longest gap of each whole stream of two events or more.
    LongestGap,
    /// Intended start of the request → its last event, for whole streams.
    Last,
    /// (Last − first event) / (tokens − 1), for whole streams that say how many tokens they had.
    PerToken,
    /// Intended start → given up, for streams that had begun. The measure `Censored` includes them as well; the rest of
    /// it are requests without any event.
    GivenUp,
    /// A message of the client is due → its answer, where each message is answered by one.
    RoundTrip,
}
pub const STREAM_MEASURES: usize = 7;
pub const STREAM_MEASURE_NAMES: [&str; STREAM_MEASURES] = [
    "event_first",
    "event_gap",
    "event_longest_gap",
    "event_last",
    "event_per_token",
    "event_given_up",
    "event_round_trip",
];

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
    /// Messages of the client that were answered; those of them at least as late as the bound; those without an answer.
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

impl StreamSeries {
    fn new(workload: u32, request: u32) -> Self {
        Self {
            workload,
            request,
            histograms: std::array::from_fn(|_| histogram()),
            events: 0,
            whole: 0,
            met: 0,
            tokens: 0,
            without_tokens: 0,
            broken_off: 0,
            unfinished: 0,
            unanswered: 0,
        }
    }

    fn record(&mut self, measure: StreamMeasure, ns: u64) {
        record(&mut self.histograms[measure as usize], ns);
    }

    fn add(&mut self, other: &Self) {
        for (sum, histogram) in self.histograms.iter_mut().zip(&other.histograms) {
            *sum += histogram;
        }
        self.events += other.events;
        self.whole += other.whole;
        self.met += other.met;
        self.tokens += other.tokens;
        self.without_tokens += other.without_tokens;
        self.broken_off += other.broken_off;
        self.unfinished += other.unfinished;
        self.unanswered += other.unanswered;
    }
}

/// Records an event: the first one of its stream, or one after a gap.
pub fn add_event(
    series: &mut Vec<StreamSeries>,
    sample: &Sample,
    seen: &StreamSample,
    gap: Option<u64>,
) {
    let series = find(series, sample.workload as u32, sample.request as u32);
    series.events += 1;
    match gap {
        None => series.record(
            StreamMeasure::First,
            seen.last.saturating_sub(sample.intended),
        ),
        Some(gap) => series.record(StreamMeasure::Gap, gap),
    }
}

/// Records that a message of the client was answered, `ns` after it was due.
pub fn add_round_trip(series: &mut Vec<StreamSeries>, sample: &Sample, ns: u64) {
    let series = find(series, sample.workload as u32, sample.request as u32);
    series.record(StreamMeasure::RoundTrip, ns);
}

/// Counts messages of the client that were still unanswered when their stream ended.
pub fn add_unanswered(series: &mut Vec<StreamSeries>, sample: &Sample, messages: u64) {
    let series = find(series, sample.workload as u32, sample.request as u32);
    series.unanswered += messages;
}

/// Records the end of a request in whose stream something was found.
pub fn add_ended(series: &mut Vec<StreamSeries>, sample: &Sample, seen: &StreamSample) {
    let series = find(series, sample.workload as u32, sample.request as u32);
    if sample.outcome.is_censored() && seen.events > 0 {
        let waited = sample.end.saturating_sub(sample.intended);
        series.record(StreamMeasure::GivenUp, waited);
    }
    match sample.outcome {
        Outcome::Ok => {
            series.whole += 1;
            series.met += u64::from(seen.kept_bounds);
            series.without_tokens += u64::from(seen.lacks_tokens);
            if let Some(tokens) = seen.tokens {
                series.tokens += tokens;
                if tokens > 1 {
                    let ns = (seen.last - seen.first) / (tokens - 1);
                    series.record(StreamMeasure::PerToken, ns);
                }
            }
            if seen.events > 0 {
                series.record(
                    StreamMeasure::Last,
                    seen.last.saturating_sub(sample.intended),
                );
            }
            if seen.events > 1 {
                series.record(StreamMeasure::LongestGap, seen.longest_gap);
            }
        }
        _ if seen.events == 0 => {}
        Outcome::Unfinished => series.unfinished += 1,
        _ => series.broken_off += 1,
    }
}

/// Merges series from another worker or another interval.
pub fn append(series: &mut Vec<StreamSeries>, others: &[StreamSeries]) {
    for other in others {
        find(series, other.workload, other.request).add(other);
    }
}

fn find(series: &mut Vec<StreamSeries>, workload: u32, request: u32) -> &mut StreamSeries {
    sorted::entry(
        series,
        |one| (one.workload, one.request),
        &(workload, request),
        || StreamSeries::new(workload, request),
    )
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
        assert!(seen.met(&bounds, 0), "one of ten messages has no answer");
        seen.late_round_trips = 1;
        assert!(!seen.met(&bounds, 0), "and one has it late");
    }

    #[test]
    fn streams_of_several_workers_add_up() {
        let stream = |outcome, times: &[u64]| {
            let mut series = Vec::new();
            let mut sample = Sample::due(0, 1, 0, 0, 5 * MS, None);
            let mut seen = StreamSample::default();
            for at in times {
                let gap = seen.event(*at);
                add_event(&mut series, &sample, &seen, gap);
            }
            sample.outcome = outcome;
            add_ended(&mut series, &sample, &seen);
            series
        };
        assert!(
            stream(Outcome::StreamError, &[])
                .iter()
                .all(|one| one.broken_off == 0),
            "it had not begun"
        );
        let mut sum = stream(Outcome::Ok, &[15 * MS, 25 * MS, 55 * MS]);
        append(&mut sum, &stream(Outcome::StreamStalled, &[9 * MS]));
        append(&mut sum, &stream(Outcome::Unfinished, &[7 * MS, 8 * MS]));
        let [one] = sum.as_slice() else {
            panic!("one request of one workload");
        };
        assert_eq!(
            (one.events, one.whole, one.broken_off, one.unfinished),
            (6, 1, 1, 1)
        );
        let of = |measure: StreamMeasure| {
            let histogram = &one.histograms[measure as usize];
            (histogram.len(), histogram.max().div_ceil(1000))
        };
        assert_eq!(of(StreamMeasure::First), (3, 11));
        assert_eq!(of(StreamMeasure::Gap), (3, 31));
        assert_eq!(of(StreamMeasure::LongestGap), (1, 31));
        assert_eq!(of(StreamMeasure::Last), (1, 51));
        assert_eq!(of(StreamMeasure::GivenUp).0, 2);
    }
}
