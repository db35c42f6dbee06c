//! The disciplines against exact results of queueing theory, on a clock that the test moves.

use super::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const S: Nanos = 1_000_000_000;

/// Completes the next job or jobs at their time; `None` once the server is idle.
fn step(server: &mut impl Discipline<usize>, done: &mut Vec<Done<usize>>) -> Option<Nanos> {
    while done.is_empty() {
        let now = server.next_event()?;
        server.advance(now, done);
    }
    done.last().map(|done| done.at)
}

/// The completion times of jobs that all arrive at 0, by job.
fn burst(mut server: impl Discipline<usize>, demands: &[Nanos]) -> Vec<Nanos> {
    for (job, &demand) in demands.iter().enumerate() {
        server.arrive(0, demand, job);
    }
    let mut done = Vec::new();
    server.advance(Nanos::MAX / 2, &mut done);
    done.sort_by_key(|done| done.job);
    done.into_iter().map(|done| done.at).collect()
}

/// Response times, in units of S, of `clients` who ask again at the moment of each answer, without the ramp.
fn closed(mut server: impl Discipline<usize>, clients: usize, answers: usize) -> Vec<f64> {
    let mut asked = vec![0; clients];
    for client in 0..clients {
        server.arrive(0, S, client);
    }
    let mut responses = Vec::new();
    let mut done = Vec::new();
    while responses.len() < answers {
        step(&mut server, &mut done).expect("a closed system is never idle");
        for Done { at, job: client } in done.drain(..) {
            responses.push((at - asked[client]) as f64 / S as f64);
            asked[client] = at;
            server.arrive(at, S, client);
        }
    }
    responses.split_off(2 * clients)
}

/// Pairs of demand and response, in units of S, of a Poisson stream of `jobs` at `rate` per S.
fn open(
    mut server: impl Discipline<usize>,
    rate: f64,
    jobs: usize,
    mut draw: impl FnMut(&mut SmallRng) -> f64,
) -> Vec<(f64, f64)> {
    let mut random = SmallRng::seed_from_u64(20_101_121);
    let unit = S as f64;
    let mut now = 0.0;
    let mut arrivals = Vec::with_capacity(jobs);
    let mut done = Vec::with_capacity(jobs);
    for job in 0..jobs {
        now -= (1.0 - random.random::<f64>()).ln() / rate;
        let (at, demand) = ((now * unit) as Nanos, draw(&mut random));
        server.advance(at, &mut done);
        server.arrive(at, (demand * unit) as Nanos, job);
        arrivals.push((at, demand));
    }
    server.advance(Nanos::MAX / 2, &mut done);
    done.sort_by_key(|done| done.job);
    done.iter()
        .map(|done| {
            (
                arrivals[done.job].1,
                (done.at - arrivals[done.job].0) as f64 / unit,
            )
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn standard_deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    mean(
        &values
            .iter()
            .map(|value| (value - centre).powi(2))
            .collect::<Vec<_>>(),
    )
    .sqrt()
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

/// How many standard errors (from the means of batches) the mean of `values` lies from `expected`.
fn z(values: &[f64], expected: f64) -> f64 {
    let batches: Vec<f64> = values
        .chunks(values.len() / 40)
        .take(40)
        .map(mean)
        .collect();
    (mean(&batches) - expected) / (standard_deviation(&batches) / (39.0_f64).sqrt())
}

fn all_near(values: &[f64], expected: f64) -> bool {
    values.iter().all(|value| (value - expected).abs() < 1e-6)
}

fn fcfs(workers: usize) -> Workers<usize, Fifo<(Nanos, usize)>> {
    Workers::new(workers, Fifo::default())
}

#[test]
fn closed_first_come_first_served_gives_everyone_n_s_over_c() {
    assert!(all_near(&closed(fcfs(1), 15, 300), 15.0));
    assert!(all_near(&closed(fcfs(3), 15, 300), 5.0));
}

#[test]
fn closed_first_come_first_served_takes_the_floor_and_the_ceiling_where_c_does_not_divide_n() {
    let responses = closed(fcfs(4), 15, 300);
    assert!(
        responses
            .iter()
            .all(|&response| all_near(&[response], 3.0) || all_near(&[response], 4.0))
    );
    assert!((mean(&responses) - 15.0 / 4.0).abs() < 0.02);
}

#[test]
fn closed_processor_sharing_gives_everyone_n_s_over_c() {
    assert!(all_near(&closed(ProcessorSharing::new(1), 15, 300), 15.0));
    assert!(all_near(&closed(ProcessorSharing::new(2), 15, 300), 7.5));
}

#[test]
fn processor_sharing_completes_sizes_1_2_4_8_when_it_should() {
    let sizes = [S, 2 * S, 4 * S, 8 * S];
    assert_eq!(
        burst(ProcessorSharing::new(1), &sizes),
        [4 * S, 7 * S, 11 * S, 15 * S]
    );
    assert_eq!(
        burst(ProcessorSharing::new(2), &sizes),
        [2 * S, 7 * S / 2, 11 * S / 2, 19 * S / 2]
    );
    assert_eq!(burst(ProcessorSharing::new(4), &sizes), sizes);
}

#[test]
fn round_robin_spreads_a_burst_of_equals_over_one_last_round() {
    let (clients, slice) = (15, S / 10);
    let times = burst(RoundRobin::new(1, slice), &[S; 15]);
    assert_eq!(times[0], clients * S - (clients - 1) * slice);
    assert_eq!(times[14], clients * S);
}

#[test]
fn round_robin_with_short_slices_is_processor_sharing_and_with_long_ones_first_come_first_served() {
    let sizes = [8 * S, S, 4 * S, 2 * S];
    let shared = burst(ProcessorSharing::new(1), &sizes);
    for (sliced, shared) in burst(RoundRobin::new(1, S / 1000), &sizes)
        .into_iter()
        .zip(shared)
    {
        assert!(shared - sliced <= 4 * S / 1000, "{sliced} against {shared}");
    }
    assert_eq!(
        burst(RoundRobin::new(1, 8 * S), &sizes),
        burst(fcfs(1), &sizes)
    );
}

#[test]
fn closed_lifo_serves_two_lucky_clients_in_two_s_and_starves_the_rest() {
    assert!(all_near(
        &closed(Workers::new(1, Lifo::default()), 15, 300),
        2.0
    ));
}

#[test]
fn closed_random_order_has_mean_n_s_and_a_geometric_spread() {
    let random = RandomOrder::new(SmallRng::seed_from_u64(1));
    let responses = closed(Workers::new(1, random), 15, 60_000);
    assert!((mean(&responses) - 15.0).abs() < 0.1);
    let variation = standard_deviation(&responses) / mean(&responses);
    assert!((0.87..0.93).contains(&variation), "CV {variation}");
    assert!(
        max(&responses) > 4.0 * 15.0,
        "with nobody served late, this is no random order"
    );
}

/// METHOD E20: the batch of 15 is served in reverse, so responses are uniform on 1, 3, …, 29.
#[test]
fn closed_gated_lifo_alternates_between_first_and_last() {
    let responses = closed(GatedLifo::default(), 15, 15 * 20);
    assert!((mean(&responses) - 15.0).abs() < 1e-6);
    assert!((max(&responses) - 29.0).abs() < 1e-6);
    assert!((standard_deviation(&responses) - 8.640_987_597_88).abs() < 1e-6);
}

/// METHOD E7: M/G/1 processor sharing at ρ = 0.8 is insensitive to the law of sizes: E[T(x)] = x/(1 − ρ).
#[test]
fn open_processor_sharing_is_insensitive_to_the_law_of_sizes() {
    let two_sizes = |random: &mut SmallRng| {
        if random.random_bool(1.0 / 3.0) {
            2.0
        } else {
            0.5
        }
    };
    let pairs = open(ProcessorSharing::new(1), 0.8, 400_000, two_sizes);
    let responses: Vec<f64> = pairs.iter().map(|&(_, response)| response).collect();
    assert!(
        z(&responses, 5.0).abs() < 4.0,
        "E[T] = {}",
        mean(&responses)
    );
    let large: Vec<f64> = pairs
        .iter()
        .filter(|(demand, _)| *demand > 1.0)
        .map(|&(_, response)| response)
        .collect();
    assert!(z(&large, 10.0).abs() < 4.0, "E[T(2)] = {}", mean(&large));
}

/// METHOD E6: M/D/1 at ρ = 0.8 waits 2 on average; E8: M/D/4, 0.386094930847.
#[test]
fn open_first_come_first_served_waits_as_long_as_exact_formulae_say() {
    for (workers, expected) in [(1, 2.0), (4, 0.386_094_930_847)] {
        let pairs = open(fcfs(workers), 0.8 * workers as f64, 400_000, |_| 1.0);
        let waits: Vec<f64> = pairs
            .iter()
            .map(|&(demand, response)| response - demand)
            .collect();
        assert!(
            z(&waits, expected).abs() < 4.0,
            "{workers} workers: {}",
            mean(&waits)
        );
    }
}
