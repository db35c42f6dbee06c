//! The random stream: `SplitMix64` (Steele, Lea, Flood 2014). It has eight bytes of state, so every client has its own.
//!
//! The distributions are computed here too, with nothing but sums, products and comparisons, so that they do not depend
//! on a library or a machine: a recorded seed gives the same load for ever.

use std::f64::consts::LN_2;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Creates an independent stream for each `(seed, labels)`; labels are, for example, workload and client number.
    pub fn new(seed: u64, labels: &[u64]) -> Self {
        let start = labels.iter().fold(mix(seed ^ GOLDEN), |state, label| {
            mix(state ^ mix(label.wrapping_add(GOLDEN)))
        });
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform in [0, 1): a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next() >> 11) as f64 * STEP
    }

    /// Uniform over 0..`end`, which is not 0; without bias (Lemire 2019).
    pub fn below(&mut self, end: u64) -> u64 {
        let mut wide = u128::from(self.next()) * u128::from(end);
        let unfair = end.wrapping_neg() % end;
        while (wide as u64) < unfair {
            wide = u128::from(self.next()) * u128::from(end);
        }
        (wide >> 64) as u64
    }

    /// Uniform over `from..=to`, where `from` must not be greater than `to`.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        let offset = match (to.wrapping_sub(from) as u64).checked_add(1) {
            Some(count) => self.below(count),
            None => self.next(),
        };
        from.wrapping_add(offset.cast_signed())
    }

    /// Exponential with mean 1: algorithm SA of Ahrens and Dieter (1972), which needs no logarithm.
    pub fn exponential(&mut self) -> f64 {
        let mut unit = self.unit();
        while unit == 0.0 {
            unit = self.unit();
        }
        let mut whole = 0.0;
        loop {
            unit += unit;
            if unit > 1.0 {
                break;
            }
            whole += LN_2;
        }
        unit -= 1.0;
        if unit <= LN_2 {
            return whole + unit;
        }
        let mut smallest = self.unit();
        for limit in &LN_2_SERIES[1..] {
            smallest = smallest.min(self.unit());
            if unit <= *limit {
                break;
            }
        }
        whole + smallest * LN_2
    }
}

/// Σ (ln 2)ⁱ / i! for i from 1 to k, for k = 1, 2, … until the sum is 1.
const LN_2_SERIES: [f64; 16] = [
    LN_2,
    0.933_373_687_519_046,
    0.988_877_796_183_867_6,
    0.998_495_925_291_496_1,
    0.999_829_281_106_138_9,
    0.999_983_316_410_072_8,
    0.999_998_569_143_876_7,
    0.999_999_890_692_555_8,
    0.999_999_992_473_415_9,
    0.999_999_999_528_327_5,
    0.999_999_999_972_881_4,
    0.999_999_999_998_559_8,
    0.999_999_999_999_929,
    0.999_999_999_999_996_8,
    0.999_999_999_999_999_9,
    1.0,
];

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_labels_give_the_same_stream_and_others_another() {
        let draw = |labels: &[u64]| Rng::new(7, labels).next();
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
        assert_ne!(draw(&[1]), draw(&[1, 0]));
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated_and_uniform() {
        let sums: Vec<f64> = (0..64)
            .map(|client| {
                let mut stream = Rng::new(1, &[0, client]);
                (0..1000).map(|_| stream.unit()).sum::<f64>() / 1000.0
            })
            .collect();
        // The standard error of one mean is 0.0091; that of the mean of all is 0.0011.
        assert!(sums.iter().all(|mean| (mean - 0.5).abs() < 0.05));
        assert!((sums.iter().sum::<f64>() / 64.0 - 0.5).abs() < 0.005);
    }

    #[test]
    fn the_first_values_of_a_seed_are_these_for_ever() {
        // Published for SplitMix64 with state 1234567.
        let mut stream = Rng(1_234_567);
        let first = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([stream.next(), stream.next()], first);

        let mut stream = Rng::new(20_261_122, &[3, 5]);
        assert_eq!([0; 4].map(|_| stream.below(1000)), [594, 428, 600, 5]);
        assert_eq!([0; 4].map(|_| stream.between(-5, 5)), [-3, -4, -1, 4]);
        let units = [0; 4].map(|_| stream.unit().to_bits());
        let expected = [
            0x3fc1_efc5_09b7_5abc,
            0x3fea_0cfd_a97d_603b,
            0x3fd8_9786_78a7_4e0a,
            0x3fd0_4569_7524_80be,
        ];
        assert_eq!(units, expected);
        let gaps = [0; 4].map(|_| stream.exponential().to_bits());
        let expected = [
            0x3fd6_1642_c4fe_54a4,
            0x3fe4_d60f_cf5d_c3d8,
            0x4005_be1f_49f3_bbbf,
            0x3fd3_f821_a3e0_f88c,
        ];
        assert_eq!(gaps, expected);
    }

    #[test]
    fn whole_numbers_fill_their_range_evenly() {
        let mut stream = Rng::new(2, &[]);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[(stream.between(-2, 3) + 2) as usize] += 1;
        }
        // The standard error is 91.
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 400),
            "{counts:?}"
        );
        // 2⁶⁴ is far from a multiple of this range: without rejection every third number would come twice as often.
        let end = 3 << 62;
        let thirds = (0..60_000)
            .filter(|_| stream.below(end).is_multiple_of(3))
            .count();
        assert!(thirds.abs_diff(20_000) < 500, "{thirds}");
        assert_eq!((stream.below(1), stream.between(7, 7)), (0, 7));
        let any = (0..100).map(|_| stream.between(i64::MIN, i64::MAX));
        assert!(any.map(i64::signum).sum::<i64>().abs() < 60);
    }

    #[test]
    fn exponential_values_have_the_distribution() {
        let mut stream = Rng::new(5, &[]);
        let mut values: Vec<f64> = (0..100_000).map(|_| stream.exponential()).collect();
        values.sort_by(f64::total_cmp);
        // Kolmogorov–Smirnov test: 1.95 / √n at the 0.1 % level.
        let n = values.len() as f64;
        let distance = values.iter().enumerate().map(|(i, value)| {
            let expected = -(-value).exp_m1();
            (expected - i as f64 / n)
                .abs()
                .max((expected - (i + 1) as f64 / n).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
    }
}
