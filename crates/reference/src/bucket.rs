//! A token bucket: limits how many requests pass per second on average, and how many at once.

use jostle_discipline::Nanos;

pub struct Bucket {
    /// Time between two tokens.
    gap: Nanos,
    size: u64,
    /// When the bucket will be full again.
    full: Nanos,
}

impl Bucket {
    /// Creates a full bucket.
    pub fn new(per_second: f64, burst: u64) -> Self {
        Self {
            gap: (1e9 / per_second).round() as Nanos,
            size: burst,
            full: 0,
        }
    }

    /// Takes a token, if there is one at `now`.
    pub fn take(&mut self, now: Nanos) -> bool {
        let full = self.full.max(now);
        let there_is = full - now <= (self.size - 1) * self.gap;
        if there_is {
            self.full = full + self.gap;
        }
        there_is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Nanos = 1_000_000;

    #[test]
    fn a_burst_passes_and_then_as_many_as_the_rate_says() {
        let mut bucket = Bucket::new(100.0, 3);
        let passed: Vec<bool> = (0..5).map(|_| bucket.take(0)).collect();
        assert_eq!(passed, [true, true, true, false, false]);
        let passed = (1..=100).filter(|n| bucket.take(n * MILLISECOND)).count();
        assert_eq!(passed, 10, "100 ms at 100/s");
    }

    #[test]
    fn an_idle_bucket_is_full_and_no_more() {
        let mut bucket = Bucket::new(100.0, 3);
        let later = 3_600_000 * MILLISECOND;
        assert_eq!((0..9).filter(|_| bucket.take(later)).count(), 3);
    }
}
