//! Pauses: at the end of every period the service stands still, as for a garbage collection or a checkpoint.
//!
//! Service time is time without pauses. A discipline knows only service time, so every completion is exact.

use jostle_discipline::Nanos;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    pub period: Nanos,
    /// Shorter than the period; 0 if there are no pauses.
    pub length: Nanos,
}

impl Pauses {
    pub const NONE: Self = Self {
        period: 1,
        length: 0,
    };

    /// How much of the time until `at` was service time.
    pub fn service_time(self, at: Nanos) -> Nanos {
        let working = self.period - self.length;
        at / self.period * working + (at % self.period).min(working)
    }

    /// The earliest moment at which this much service time has passed.
    pub fn moment(self, service_time: Nanos) -> Nanos {
        let working = self.period - self.length;
        let Some(before) = service_time.checked_sub(1) else {
            return 0;
        };
        before / working * self.period + before % working + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_served_in_a_pause() {
        let pauses = Pauses {
            period: 100,
            length: 30,
        };
        assert_eq!(pauses.service_time(50), 50);
        assert_eq!(pauses.service_time(70), 70);
        assert_eq!(pauses.service_time(99), 70);
        assert_eq!(pauses.service_time(105), 75);
        assert_eq!(pauses.moment(69), 69);
        assert_eq!(pauses.moment(75), 105);
        assert_eq!(pauses.moment(70), 70);
        assert_eq!(pauses.moment(71), 101);
        assert_eq!(pauses.moment(0), 0);
    }

    #[test]
    fn without_pauses_all_time_is_service_time() {
        assert_eq!(Pauses::NONE.service_time(12_345), 12_345);
        assert_eq!(Pauses::NONE.moment(12_345), 12_345);
    }
}
