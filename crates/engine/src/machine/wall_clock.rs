//! Converts wall-clock timestamps, such as those of the kernel, to the clock of the run.
//!
//! The wall clock may be set at any time, so both clocks are read together for every conversion. A timestamp that may
//! be from before the wall clock was set, or that cannot be right, is rejected.

use std::cell::Cell;

use crate::machine::clock::{Clock, monotonic_ns, unix_ns};

/// Both clocks count as read at one moment if reading them took no longer than this. Otherwise they are read again, up
/// to `TRIES` times in all.
const MAX_READING_NS: u64 = 5_000;
const TRIES: usize = 4;

/// How exactly a moment is known, in ns.
const TOLERANCE_NS: u64 = 10_000;

/// The kernel slews the wall clock by at most 1/2000. If it deviates by more than 1/1000, it was set.
const SLEW_RATIO: u64 = 1_000;

/// One worker's view of the wall clock.
#[derive(Debug)]
pub struct WallClock {
    clock: Clock,
    last: Cell<ClockPair>,
    /// When the worker last noticed that the wall clock had been set.
    set_at: Cell<u64>,
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
struct ClockPair {
    monotonic_ns: u64,
    unix_ns: u64,
}

impl ClockPair {
    /// Reads both clocks. `None` if too much time passed between the two readings every time.
    fn read() -> Option<Self> {
        (0..TRIES).find_map(|_| {
            let before = monotonic_ns();
            let unix_ns = unix_ns();
            let elapsed = monotonic_ns() - before;
            (elapsed <= MAX_READING_NS).then_some(Self {
                monotonic_ns: before + elapsed / 2,
                unix_ns,
            })
        })
    }

    /// How far the wall clock is ahead of the monotonic clock.
    fn ahead_ns(self) -> i64 {
        self.unix_ns.wrapping_sub(self.monotonic_ns).cast_signed()
    }

    /// Whether the wall clock was set between `earlier` and now.
    fn is_set_since(self, earlier: Self) -> bool {
        let passed = self.monotonic_ns.saturating_sub(earlier.monotonic_ns);
        self.ahead_ns().abs_diff(earlier.ahead_ns()) > TOLERANCE_NS + passed / SLEW_RATIO
    }
}

impl WallClock {
    pub fn new(clock: Clock) -> Self {
        let last = ClockPair {
            monotonic_ns: monotonic_ns(),
            unix_ns: unix_ns(),
        };
        Self {
            clock,
            last: Cell::new(last),
            set_at: Cell::new(0),
        }
    }

    /// Converts the wall-clock time `unix_ns`, which lies between `earliest` and now, to the clock of the run.
    ///
    /// `None` if that cannot be done reliably.
    pub fn to_run_clock(&self, unix_ns: u64, earliest: u64) -> Option<u64> {
        self.convert(ClockPair::read()?, unix_ns, earliest)
    }

    fn convert(&self, pair: ClockPair, unix_ns: u64, earliest: u64) -> Option<u64> {
        let now = self.clock.of(pair.monotonic_ns);
        if pair.is_set_since(self.last.replace(pair)) {
            self.set_at.set(now);
        }
        if earliest < self.set_at.get() {
            return None;
        }
        let age = pair
            .unix_ns
            .cast_signed()
            .wrapping_sub(unix_ns.cast_signed());
        let at = now.cast_signed().checked_sub(age)?;
        let at = u64::try_from(at).ok()?;
        let plausible = earliest.saturating_sub(TOLERANCE_NS)..=now + TOLERANCE_NS;
        plausible
            .contains(&at)
            .then(|| at.max(earliest).min(now.max(earliest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const HOUR: u64 = 3_600_000 * MS;
    const UNIX: u64 = 500_000 * HOUR;
    /// When the load began, by the monotonic clock.
    const ZERO: u64 = HOUR;

    /// Both clocks at `at`, when the wall clock has been set forward by `set_by`.
    fn pair(at: u64, set_by: i64) -> ClockPair {
        ClockPair {
            monotonic_ns: ZERO + at,
            unix_ns: (UNIX + at).strict_add_signed(set_by),
        }
    }

    fn wall_clock() -> WallClock {
        WallClock {
            clock: Clock::starting_at(ZERO),
            last: Cell::new(pair(0, 0)),
            set_at: Cell::new(0),
        }
    }

    #[test]
    fn what_was_told_by_the_wall_clock_was_when_it_was() {
        let wall = wall_clock();
        let stamp = UNIX + 70 * MS;
        assert_eq!(
            wall.convert(pair(90 * MS, 0), stamp, 50 * MS),
            Some(70 * MS)
        );
        // The wall clock was slewed meanwhile.
        assert_eq!(
            wall.convert(pair(91 * MS, 500), stamp, 0),
            Some(70 * MS - 500)
        );
    }

    #[test]
    fn what_cannot_be_is_not_believed_and_a_little_is_put_right() {
        let wall = wall_clock();
        let moment = |at: u64| wall.convert(pair(90 * MS, 0), UNIX + at, 50 * MS);
        assert_eq!(moment(50 * MS - 5_000), Some(50 * MS));
        assert_eq!(moment(90 * MS + 5_000), Some(90 * MS));
        assert_eq!(moment(49 * MS), None);
        assert_eq!(moment(91 * MS), None);
        for far in [0, u64::MAX, i64::MAX as u64] {
            assert_eq!(wall.convert(pair(90 * MS, 0), far, 50 * MS), None);
        }
    }

    #[test]
    fn a_wall_clock_that_is_set_makes_nothing_earlier_or_later() {
        let (hour, a_bit) = (HOUR.cast_signed(), 30 * MS.cast_signed());
        for by in [hour, -hour, a_bit, -a_bit] {
            let wall = wall_clock();
            // The bytes came at 70 ms, and the clock was set at 80 ms: by the new clock they came at another time.
            let stamp = UNIX + 70 * MS;
            assert_eq!(wall.convert(pair(90 * MS, by), stamp, 50 * MS), None);
            // A later stamp is rejected too if the earliest moment for it is before the setting was noticed.
            let stamp = (UNIX + 85 * MS).strict_add_signed(by);
            assert_eq!(wall.convert(pair(91 * MS, by), stamp, 60 * MS), None);
            // A stamp for which the earliest moment is after that is accepted.
            let stamp = (UNIX + 93 * MS).strict_add_signed(by);
            assert_eq!(
                wall.convert(pair(95 * MS, by), stamp, 90 * MS),
                Some(93 * MS)
            );
        }
    }

    #[test]
    fn the_machine_s_own_clocks_agree() {
        let clock = Clock::starting_at(monotonic_ns().saturating_sub(HOUR));
        let wall = WallClock::new(clock);
        let before = clock.now();
        let converted = (0..1_000).find_map(|_| wall.to_run_clock(unix_ns(), before));
        assert!((before..=clock.now()).contains(&converted.unwrap()));
    }
}
