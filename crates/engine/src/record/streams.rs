//! Streams of events: when the first one came, how far they were apart, and how the streams ended.

use hdrhistogram::Histogram;

use crate::outcome::Outcome;
use crate::record::histogram::{histogram, record};
use crate::record::sample::Sample;
use crate::record::sorted;
use crate::record::stream_sample::StreamSample;

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
    /// A message of the client is due → its response, where each message is answered by one.
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
