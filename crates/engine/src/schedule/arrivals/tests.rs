use super::*;
use crate::spec::RateSpec;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn rate(seconds: Option<f64>, from: f64, to: f64) -> RateSpec {
    let duration_ns = seconds.map(|s| (s * SECOND as f64) as u64);
    RateSpec {
        name: String::new(),
        duration_ns,
        from,
        to,
    }
}

fn open(arrivals: Arrivals, rates: Vec<RateSpec>) -> OpenSpec {
    OpenSpec {
        arrivals,
        rates,
        requests: None,
        max_connections: 60,
        requests_per_connection: None,
    }
}

/// The part of `worker` among `workers`.
fn part(spec: &OpenSpec, seed: u64, worker: usize, workers: usize) -> Schedule {
    Schedule::new(
        spec,
        seed,
        Partition::new(spec.max_connections, worker, workers),
    )
}

fn until(mut schedule: Schedule, end: u64) -> Vec<u64> {
    std::iter::from_fn(|| schedule.take_due(end)).collect()
}

#[test]
fn constant_arrivals_stand_on_a_grid_that_begins_at_zero() {
    let spec = open(Arrivals::Constant, vec![rate(None, 1000.0, 1000.0)]);
    let times = until(part(&spec, 1, 0, 1), SECOND - 1);
    assert_eq!(times.len(), 1000);
    for (k, time) in times.iter().enumerate() {
        assert!(
            time.abs_diff(k as u64 * 1_000_000) <= 1,
            "arrival {k} at {time}"
        );
    }
}

#[test]
fn a_ramp_has_the_area_under_its_rate() {
    // 0 → 100/s in 10 s: Λ = 5 t², so arrival k at √(k/5) s; then 100/s.
    let spec = open(Arrivals::Constant, vec![rate(Some(10.0), 0.0, 100.0)]);
    let times = until(part(&spec, 1, 0, 1), 11 * SECOND - 1);
    assert_eq!(times.len(), 600);
    for (k, time) in times.iter().take(500).enumerate() {
        let expected = (k as f64 / 5.0).sqrt() * 1e9;
        assert!(
            (*time as f64 - expected).abs() < 2.0,
            "arrival {k} at {time}, not {expected}"
        );
    }
}

#[test]
fn steps_pauses_and_ramps_down_are_counted_exactly() {
    let rates = vec![
        rate(Some(1.0), 10.0, 10.0),
        rate(Some(2.0), 0.0, 0.0),
        rate(Some(4.0), 20.0, 0.0),
    ];
    let spec = open(Arrivals::Constant, rates);
    let times = until(part(&spec, 1, 0, 1), u64::MAX - 1);
    assert_eq!(times.iter().filter(|t| **t < SECOND).count(), 10);
    assert!(!times.iter().any(|t| (SECOND + 1..3 * SECOND).contains(t)));
    // 10 + 40 in all. The curve ends with rate 0, so the 51st (count 50) is due at its very end or never.
    assert!((50..=51).contains(&times.len()), "{}", times.len());
}

#[test]
fn a_trace_is_taken_as_it_is_and_a_limit_ends_any_process() {
    let spec = open(Arrivals::Trace(vec![3, 5, 5, 90]), vec![]);
    assert_eq!(until(part(&spec, 1, 0, 1), 80), vec![3, 5, 5]);
    assert_eq!(until(part(&spec, 1, 1, 2), 100), vec![5, 90]);
    let mut spec = open(Arrivals::Poisson, vec![rate(None, 1e6, 1e6)]);
    spec.requests = Some(17);
    let shares = (0..3).map(|w| until(part(&spec, 1, w, 3), u64::MAX - 1).len());
    assert_eq!(shares.sum::<usize>(), 17);
}

/// Anderson–Darling statistic of `gaps` against the exponential distribution of known mean 1.
fn anderson_darling(mut gaps: Vec<f64>) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let sum: f64 = gaps
        .iter()
        .zip(gaps.iter().rev())
        .enumerate()
        .map(|(i, (low, high))| (2.0 * i as f64 + 1.0) * ((-(-low).exp_m1()).ln() - high))
        .sum();
    -n - sum / n
}

#[test]
fn poisson_gaps_are_exponential_and_independent() {
    let spec = open(Arrivals::Poisson, vec![rate(None, 100.0, 100.0)]);
    let times = until(part(&spec, 20_261_121, 0, 1), 500 * SECOND);
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e7)
        .collect();
    // 1 % critical value with known parameters: 3.857. Rounding to whole ns has no visible effect at so low a rate.
    let statistic = anderson_darling(gaps.clone());
    assert!(statistic < 3.857, "A² = {statistic}");
    // Lag-1 autocorrelation: standard error 1/√n = 0.0045.
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance: f64 = gaps.iter().map(|g| (g - mean).powi(2)).sum();
    let covariance: f64 = gaps.windows(2).map(|p| (p[0] - mean) * (p[1] - mean)).sum();
    assert!(
        (covariance / variance).abs() < 0.015,
        "{}",
        covariance / variance
    );
}

#[test]
fn the_test_of_the_distribution_can_fail() {
    let uniform: Vec<f64> = (0..50_000)
        .map(|i| (f64::from(i) + 0.5) / 25_000.0)
        .collect();
    assert!(anderson_darling(uniform) > 100.0);
}

#[test]
fn another_seed_is_another_process() {
    let spec = open(Arrivals::Poisson, vec![rate(None, 1000.0, 1000.0)]);
    let times = |seed| until(part(&spec, seed, 0, 1), SECOND);
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

proptest! {
    #[test]
    fn the_workers_together_have_the_plan_exactly(
        poisson: bool, workers in 1usize..9, connections in 1u64..30, seed: u64,
        rates in prop::collection::vec((0.001f64..0.5, 0.0f64..5000.0, 0.0f64..5000.0), 1..5),
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let rates = rates.into_iter().map(|(d, from, to)| rate(Some(d), from, to)).collect();
        let mut spec = open(arrivals, rates);
        spec.max_connections = connections;
        let whole = until(part(&spec, seed, 0, 1), SECOND);
        prop_assert!(whole.is_sorted());
        let mut union: Vec<u64> =
            (0..workers).flat_map(|w| until(part(&spec, seed, w, workers), SECOND)).collect();
        union.sort_unstable();
        prop_assert_eq!(whole, union);
    }
    /// A change of the rate moves no due time before it, and loses or doubles none: the workers together still have the
    /// whole sequence, and after it as many are due as the new rate says.
    #[test]
    fn a_changed_rate_holds_from_its_moment_on(
        poisson: bool, workers in 1usize..5, connections in 1u64..30, seed: u64,
        rates in prop::collection::vec((0.001f64..0.5, 0.0f64..5000.0, 0.0f64..5000.0), 1..4),
        changes in prop::collection::vec((1u64..SECOND / 2, 1.0f64..5000.0, prop::option::of(0usize..4)), 1..4),
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let rates: Vec<RateSpec> = rates.into_iter().map(|(d, from, to)| rate(Some(d), from, to)).collect();
        let phases = rates.len();
        let mut spec = open(arrivals, rates);
        spec.max_connections = connections;
        let mut curve = RateCurve::new(&spec.rates);
        let mut schedule = part(&spec, seed, 0, 1);
        let (mut before, mut at) = (until(schedule.clone(), 2 * SECOND), 0);
        for (wait, rate, phase) in changes {
            at += wait;
            match phase {
                Some(phase) => curve.go_on_with(at, phase % phases),
                None => curve.go_on_at(at, rate),
            }
            schedule.follow(Arc::new(curve.clone()));
            let after = until(schedule.clone(), 4 * SECOND);
            prop_assert!(after.is_sorted());
            let up_to = |times: &[u64]| times.iter().take_while(|time| **time < at).count();
            let stay = up_to(&before);
            prop_assert_eq!(&before[..stay], &after[..up_to(&after)]);
            if phase.is_none() && !poisson {
                let expected = (4 * SECOND - at) as f64 * rate / 1e9;
                prop_assert!((expected - (after.len() - stay) as f64).abs() <= 1.0);
            }
            let mut union: Vec<u64> = (0..workers).flat_map(|worker| {
                let mut own = part(&spec, seed, worker, workers);
                own.follow(Arc::new(curve.clone()));
                until(own, 4 * SECOND)
            }).collect();
            union.sort_unstable();
            prop_assert_eq!(&after, &union);
            before = after;
        }
    }
}
