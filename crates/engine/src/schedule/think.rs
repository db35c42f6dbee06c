//! Think times: the pause of a closed client between a response and its next request.

use crate::schedule::random::Rng;
use crate::spec::ThinkSpec;

/// Returns the client's pause number `turn` (from 1) of this kind, in nanoseconds.
pub fn pause(spec: &ThinkSpec, turn: u64, random: &mut Rng) -> u64 {
    match spec {
        ThinkSpec::None => 0,
        ThinkSpec::Constant { ns } => *ns,
        ThinkSpec::Uniform { ns, spread } => {
            let factor = 1.0 + spread * (2.0 * random.unit() - 1.0);
            (*ns as f64 * factor) as u64
        }
        ThinkSpec::Exponential { mean_ns } => (*mean_ns as f64 * random.exponential()) as u64,
        ThinkSpec::List { ns } => ns[(turn as usize - 1) % ns.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(spec: &ThinkSpec) -> Vec<u64> {
        let mut stream = Rng::new(3, &[]);
        (1..=20_000)
            .map(|turn| pause(spec, turn, &mut stream))
            .collect()
    }

    fn mean(times: &[u64]) -> f64 {
        times.iter().sum::<u64>() as f64 / times.len() as f64
    }

    #[test]
    fn uniform_stays_in_its_range_and_fills_it() {
        let times = draw(&ThinkSpec::Uniform {
            ns: 900_000,
            spread: 0.1,
        });
        let (low, high) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        assert!((810_000..811_000).contains(low) && (989_000..=990_000).contains(high));
        assert!((mean(&times) - 900_000.0).abs() < 2_000.0);
    }

    #[test]
    fn exponential_has_its_mean_and_its_median() {
        let mut times = draw(&ThinkSpec::Exponential { mean_ns: 1_000_000 });
        assert!((mean(&times) - 1e6).abs() < 3e4);
        times.sort_unstable();
        assert!((times[10_000] as f64 - 1e6 * 2f64.ln()).abs() < 3e4);
    }

    #[test]
    fn constants_and_lists_are_exact() {
        assert!(draw(&ThinkSpec::None).iter().all(|t| *t == 0));
        assert!(draw(&ThinkSpec::Constant { ns: 5 }).iter().all(|t| *t == 5));
        assert_eq!(
            draw(&ThinkSpec::List { ns: vec![1, 2, 3] })[..4],
            [1, 2, 3, 1]
        );
    }
}
