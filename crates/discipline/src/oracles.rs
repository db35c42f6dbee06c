//! The disciplines, checked against exact results of queueing theory on a clock that the test moves.

use super::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const S: Nanos = 1_000_000_000;

/// Draws below a number.
pub(crate) fn drawing(seed: u64) -> impl FnMut(usize) -> usize + Send {
    let mut random = SmallRng::seed_from_u64(seed);
    move |below| random.random_range(0..below)
}

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
        server.arrive(0, demand, job as u64, job);
    }
    let mut done = Vec::new();
    server.advance(Nanos::MAX / 2, &mut done);
    done.sort_by_key(|done| done.job);
    done.into_iter().map(|done| done.at).collect()
}

/// Response times, in units of S, of `clients` clients that ask again at the moment of each response, without the ramp.
fn closed(mut server: impl Discipline<usize>, clients: usize, count: usize) -> Vec<f64> {
    let mut sent_at = vec![0; clients];
    for client in 0..clients {
        server.arrive(0, S, client as u64, client);
    }
    let mut responses = Vec::new();
    let mut done = Vec::new();
    while responses.len() < count {
        step(&mut server, &mut done).expect("a closed system is never idle");
        for Done { at, job: client } in done.drain(..) {
            responses.push((at - sent_at[client]) as f64 / S as f64);
            sent_at[client] = at;
            server.arrive(at, S, client as u64, client);
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
        server.arrive(at, (demand * unit) as Nanos, job as u64, job);
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
    let random = RandomOrder::new(drawing(1));
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

/// Sizes 8, 1, 8, 1 dealt out to two workers in turn: short jobs never queue behind a long one, but the worker that is
/// done with them does not help the other.
#[test]
fn a_queue_of_its_own_leaves_one_worker_idle_while_the_other_one_s_requests_wait() {
    let sizes = [8 * S, S, 8 * S, S];
    let own = OwnQueues::new(2, Assignment::InTurn);
    assert_eq!(burst(own, &sizes), [8 * S, S, 16 * S, 2 * S]);
    assert_eq!(burst(fcfs(2), &sizes), [8 * S, S, 9 * S, 9 * S]);
}

#[test]
fn a_connection_keeps_its_worker() {
    let mut server = OwnQueues::new(2, Assignment::ByConnection);
    for (job, connection) in [4, 4, 7, 4].into_iter().enumerate() {
        server.arrive(0, S, connection, job);
    }
    let mut done = Vec::new();
    server.advance(Nanos::MAX / 2, &mut done);
    done.sort_by_key(|done| done.job);
    let times: Vec<_> = done.iter().map(|done| done.at).collect();
    assert_eq!(times, [S, 2 * S, S, 3 * S]);
}

/// 2 processes of 3 threads: 6 of 8 are in service, each at a third of a core; 2 wait for a thread.
#[test]
fn threads_under_a_lock_share_a_core_for_each_process_and_the_rest_waits() {
    let slice = S / 1000;
    let times = burst(LockedThreads::new(2, 3, slice), &[S; 8]);
    assert!(
        times[..6].iter().all(|at| at.abs_diff(3 * S) <= 3 * slice),
        "{times:?}"
    );
    // each process then has one job left, and one thread to compute it
    assert!(
        times[6..].iter().all(|at| at.abs_diff(4 * S) <= 3 * slice),
        "{times:?}"
    );
}

#[test]
fn threads_under_a_lock_are_workers_with_one_thread_each_and_processor_sharing_with_many() {
    let sizes = [8 * S, S, 4 * S, 2 * S, S];
    assert_eq!(
        burst(LockedThreads::new(2, 1, S / 10), &sizes),
        burst(fcfs(2), &sizes)
    );
    let slice = S / 1000;
    let shared = burst(ProcessorSharing::new(1), &sizes);
    for (sliced, shared) in burst(LockedThreads::new(1, 5, slice), &sizes)
        .into_iter()
        .zip(shared)
    {
        assert!(
            shared.abs_diff(sliced) <= 5 * slice,
            "{sliced} against {shared}"
        );
    }
}

/// As observed of GHC with 8 requests of 40 ms (all at 320), and with 8 of 8 ms (one after another).
#[test]
fn no_response_of_a_batch_of_long_jobs_leaves_before_the_last_is_computed() {
    let slice = 20;
    assert_eq!(burst(GatedAnswers::by_slice(1, slice), &[40; 8]), [320; 8]);
    let staircase: Vec<Nanos> = (1..=8).map(|n| n * 8).collect();
    assert_eq!(burst(GatedAnswers::by_slice(1, slice), &[8; 8]), staircase);
    // a short one that is computed first is answered at once; a long one gives way until all others are computed
    assert_eq!(
        burst(GatedAnswers::by_slice(1, slice), &[8, 40, 8]),
        [8, 56, 56]
    );
}

/// As observed of GHC. The timer ticks at `phase` (for example at 5, 25, 45, …); this decides whether the second and
/// the third job, which take 10 and 5, are computed between two ticks.
#[test]
fn a_response_waits_for_the_batch_if_the_timer_ticked_while_it_was_computed() {
    let timer = |phase| GatedAnswers::by_timer(1, 20, phase);
    assert_eq!(burst(timer(5), &[40; 8]), [320; 8]);
    // 0 to 40; then the newest, 40 to 45, with a tick at 45; then 45 to 55, without a tick
    assert_eq!(burst(timer(5), &[40, 10, 5]), [55, 55, 55]);
    assert_eq!(burst(timer(10), &[40, 10, 5]), [55, 55, 45]);
    assert_eq!(burst(timer(19), &[5, 5, 5]), [5, 15, 10]);
}

/// As observed of Tokio with one worker: the newest waiting job, then the others in the order of arrival.
#[test]
fn the_last_of_a_batch_goes_first_and_the_others_as_they_came() {
    let batch = burst(GatedLifo::slot(), &[S; 5]);
    let steps: Vec<Nanos> = batch.iter().map(|at| at / S).collect();
    assert_eq!(steps, [2, 3, 4, 5, 1]);
}

#[test]
fn workers_that_share_a_core_take_turns_and_each_serves_its_own_connections_in_order() {
    let slice = S / 1000;
    // a burst's connections are numbered in order: 0 and 2 belong to the first worker, 1 and 3 to the second
    let ends = burst(SharedQueues::new(2, slice), &[S, 3 * S, S, S]);
    for (end, expected) in ends.into_iter().zip([2 * S, 5 * S, 4 * S, 6 * S]) {
        assert!(
            end.abs_diff(expected) <= 4 * slice,
            "{end} against {expected}"
        );
    }
}

#[test]
fn the_newest_goes_first_until_it_has_had_a_slice() {
    let newest = burst(RoundRobin::newest_first(1, S), &[2 * S; 3]);
    // the first has the core, then the third, then the second, and once more in this order
    assert_eq!(newest, [4 * S, 6 * S, 5 * S]);
    let short = burst(RoundRobin::newest_first(1, 8 * S), &[S; 4]);
    assert_eq!(short, burst(Workers::new(1, Lifo::default()), &[S; 4]));
}

/// As observed of Go with 8 requests of 40 ms and a watchdog that looks every 10.06 ms: they ended at 198, 228, 259,
/// 289, 293, 302, 312 and 321 ms.
#[test]
fn a_watchdog_lets_two_slices_pass_and_completions_shift_who_is_taken_off() {
    let millisecond = 1_000_000;
    let mut ends = burst(Watchdog::new(1, 10_060_000), &[40 * millisecond; 8]);
    ends.sort_unstable();
    let seen = [198, 228, 259, 289, 293, 302, 312, 321];
    for (end, seen) in ends.into_iter().zip(seen) {
        assert!(
            end.abs_diff(seen * millisecond) <= 4 * millisecond,
            "{end} against {seen}"
        );
    }
    // a job that is alone goes on; short ones are done before any look, and those that waited run in reverse order
    assert_eq!(burst(Watchdog::new(1, 10), &[100]), [100]);
    assert_eq!(burst(Watchdog::new(1, 10), &[3, 3, 3]), [3, 9, 6]);
}

/// Jobs that come together share as under processor sharing; a latecomer of 1 has the core to itself until it is done.
#[test]
fn who_has_had_least_overtakes_all_others() {
    let slice = S / 1000;
    let sizes = [S, 2 * S, 4 * S, 8 * S];
    let shared = burst(ProcessorSharing::new(1), &sizes);
    let least = burst(LeastAttained::new(1, slice), &sizes);
    for (least, shared) in least.into_iter().zip(shared) {
        assert!(
            shared.abs_diff(least) <= 4 * slice,
            "{least} against {shared}"
        );
    }
    let mut server = LeastAttained::new(1, slice);
    let mut done = Vec::new();
    server.arrive(0, 8 * S, 0, 0);
    server.advance(3 * S, &mut done);
    server.arrive(3 * S, S, 1, 1);
    server.advance(Nanos::MAX / 2, &mut done);
    let ends: Vec<_> = done.iter().map(|done| (done.job, done.at)).collect();
    assert_eq!(ends, [(1, 4 * S + slice), (0, 9 * S)]);
}
