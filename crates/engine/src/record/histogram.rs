//! Histograms of times in microseconds.

use hdrhistogram::Histogram;

/// Range and precision of histograms: 1 µs to 1 h with 3 digits, in microseconds. They start small and grow on demand.
pub const LOWEST_US: u64 = 1;
pub const HIGHEST_US: u64 = 3_600_000_000;
pub const DIGITS: u8 = 3;

#[inline]
pub fn record(histogram: &mut Histogram<u64>, ns: u64) {
    histogram
        .record(microseconds(ns))
        .expect("histograms grow with their values");
}

/// Converts to the unit and range of the histograms: whole microseconds from 1 µs to 1 h.
#[inline]
pub fn microseconds(ns: u64) -> u64 {
    (ns.saturating_add(500) / 1000).clamp(LOWEST_US, HIGHEST_US)
}

/// An empty histogram. It is small and grows with its values.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("3 digits are allowed")
}
