//! How journeys ended, and how long they took.

use hdrhistogram::Histogram;

use crate::outcome::Outcome;
use crate::record::histogram::{histogram, record};
use crate::record::sorted;

/// One journey of one workload within an interval, counting the iterations that ended in it.
#[derive(Debug, Clone)]
pub struct JourneySeries {
    pub workload: u32,
    pub journey: u32,
    /// Indexed by [`JourneyMeasure`], in microseconds.
    pub histograms: [Histogram<u64>; JOURNEY_MEASURES],
    pub completed: u64,
    /// Iterations that were cut off by the end of the load.
    pub unfinished: u64,
    /// Iterations that a failed step ended: the step, its outcome, and how often.
    pub ended: Vec<(u32, Outcome, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum JourneyMeasure {
    /// Intended start of the first step → end of the last response, for completed journeys.
    Whole,
    /// The same without the pauses between the steps.
    Active,
    /// Intended start → end of the load, for journeys that it cut off. Right-censored.
    Censored,
}
pub const JOURNEY_MEASURES: usize = 3;
pub const JOURNEY_MEASURE_NAMES: [&str; JOURNEY_MEASURES] =
    ["journey", "journey_active", "journey_censored"];

/// One journey from its intended start to its end.
#[derive(Debug, Clone, Copy)]
pub struct JourneySample {
    pub workload: usize,
    pub journey: usize,
    pub intended: u64,
    pub end: u64,
    /// Total length of the pauses between the steps, in nanoseconds.
    pub paused: u64,
    pub how: HowEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowEnded {
    Completed,
    Unfinished,
    /// Ended by this step, with this outcome.
    Failed(usize, Outcome),
}

impl JourneySeries {
    fn new(workload: u32, journey: u32) -> Self {
        Self {
            workload,
            journey,
            histograms: std::array::from_fn(|_| histogram()),
            completed: 0,
            unfinished: 0,
            ended: Vec::new(),
        }
    }

    fn add_sample(&mut self, sample: &JourneySample) {
        let time = sample.end.saturating_sub(sample.intended);
        match sample.how {
            HowEnded::Completed => {
                self.completed += 1;
                self.record(JourneyMeasure::Whole, time);
                self.record(JourneyMeasure::Active, time.saturating_sub(sample.paused));
            }
            HowEnded::Unfinished => {
                self.unfinished += 1;
                self.record(JourneyMeasure::Censored, time);
            }
            HowEnded::Failed(step, outcome) => self.end_at(step as u32, outcome, 1),
        }
    }

    fn record(&mut self, measure: JourneyMeasure, ns: u64) {
        record(&mut self.histograms[measure as usize], ns);
    }

    fn end_at(&mut self, step: u32, outcome: Outcome, count: u64) {
        let same = |known: &&mut (u32, Outcome, u64)| (known.0, known.1) == (step, outcome);
        match self.ended.iter_mut().find(same) {
            Some((_, _, sum)) => *sum += count,
            None => self.ended.push((step, outcome, count)),
        }
    }

    fn add(&mut self, other: &Self) {
        for (sum, histogram) in self.histograms.iter_mut().zip(&other.histograms) {
            *sum += histogram;
        }
        self.completed += other.completed;
        self.unfinished += other.unfinished;
        for (step, outcome, count) in &other.ended {
            self.end_at(*step, *outcome, *count);
        }
    }
}

/// Records a journey in the series it belongs to.
pub fn add_sample(series: &mut Vec<JourneySeries>, sample: &JourneySample) {
    find(series, sample.workload as u32, sample.journey as u32).add_sample(sample);
}

/// Merges series from another worker or another interval.
pub fn append(series: &mut Vec<JourneySeries>, others: &[JourneySeries]) {
    for other in others {
        find(series, other.workload, other.journey).add(other);
    }
}

fn find(series: &mut Vec<JourneySeries>, workload: u32, journey: u32) -> &mut JourneySeries {
    sorted::entry(
        series,
        |one| (one.workload, one.journey),
        &(workload, journey),
        || JourneySeries::new(workload, journey),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journeys_of_several_workers_add_up() {
        let sample = |journey, how| JourneySample {
            workload: 0,
            journey,
            intended: 1_000_000,
            end: 11_000_000,
            paused: 4_000_000,
            how,
        };
        let mut one = Vec::new();
        add_sample(&mut one, &sample(1, HowEnded::Completed));
        add_sample(
            &mut one,
            &sample(0, HowEnded::Failed(2, Outcome::CaptureFailed)),
        );
        let mut other = Vec::new();
        add_sample(
            &mut other,
            &sample(0, HowEnded::Failed(2, Outcome::CaptureFailed)),
        );
        add_sample(&mut other, &sample(0, HowEnded::Unfinished));
        append(&mut one, &other);
        assert_eq!(one.len(), 2);
        assert_eq!(one[0].ended, [(2, Outcome::CaptureFailed, 2)]);
        assert_eq!(
            (one[0].completed, one[0].unfinished, one[1].completed),
            (0, 1, 1)
        );
        let time =
            |measure: JourneyMeasure, of: &JourneySeries| of.histograms[measure as usize].max();
        assert!((10_000..10_010).contains(&time(JourneyMeasure::Whole, &one[1])));
        assert!((6_000..6_006).contains(&time(JourneyMeasure::Active, &one[1])));
        assert!((10_000..10_010).contains(&time(JourneyMeasure::Censored, &one[0])));
    }
}
