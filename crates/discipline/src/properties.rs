//! Properties of every discipline under every sequence of arrivals.

use super::*;
use crate::oracles::drawing;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const END: Nanos = Nanos::MAX / 2;

/// Gap since the last arrival, and demand.
type Arrival = (Nanos, Nanos);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec((0..3_000_u64, 1..5_000_u64), 1..60)
}

/// The server with number `which`, with `c` workers or cores.
fn server(which: usize, c: usize) -> Box<dyn Discipline<usize>> {
    match which {
        0 => Box::new(Workers::new(c, Fifo::default())),
        1 => Box::new(Workers::new(c, Lifo::default())),
        2 => Box::new(Workers::new(c, RandomOrder::new(drawing(7)))),
        3 => Box::new(ProcessorSharing::new(c)),
        4 => Box::new(RoundRobin::new(c, 700)),
        5 => Box::new(RoundRobin::newest_first(c, 700)),
        6 => Box::new(OwnQueues::new(c, Assignment::InTurn)),
        7 => Box::new(OwnQueues::new(c, Assignment::ByConnection)),
        8 => Box::new(LockedThreads::new(c, 3, 700)),
        9 => Box::new(GatedAnswers::by_slice(c, 1_000)),
        10 => Box::new(LeastAttained::new(c, 700)),
        11 => Box::new(Watchdog::new(c, 700)),
        12 => Box::new(GatedLifo::slot()),
        13 => Box::new(GatedAnswers::by_timer(c, 1_000, 300)),
        14 => Box::new(SharedQueues::new(c, 700)),
        _ => Box::new(GatedLifo::default()),
    }
}

const SERVERS: usize = 16;
const PROCESSOR_SHARING: usize = 3;

/// Completion times by job, if the server is told the time only at arrivals (and is late for everything else).
fn completions(server: &mut dyn Discipline<usize>, arrivals: &[Arrival]) -> Vec<Nanos> {
    let (mut now, mut done) = (0, Vec::new());
    for (job, &(gap, demand)) in arrivals.iter().enumerate() {
        now += gap;
        server.advance(now, &mut done);
        server.arrive(now, demand, job as u64, job);
    }
    server.advance(END, &mut done);
    assert_eq!(server.next_event(), None, "idle at the end");
    assert!(
        done.is_sorted_by_key(|done| done.at),
        "completions come in their order"
    );
    done.sort_by_key(|done| done.job);
    assert!(
        done.iter().map(|done| done.job).eq(0..arrivals.len()),
        "each job completes once"
    );
    done.into_iter().map(|done| done.at).collect()
}

/// The same, if the server's timer is precise.
fn completions_on_time(server: &mut dyn Discipline<usize>, arrivals: &[Arrival]) -> Vec<Nanos> {
    let (mut now, mut done) = (0, Vec::new());
    for (job, &(gap, demand)) in arrivals.iter().enumerate() {
        now += gap;
        while let Some(event) = server.next_event().filter(|&event| event <= now) {
            server.advance(event, &mut done);
        }
        server.advance(now, &mut done);
        server.arrive(now, demand, job as u64, job);
    }
    while let Some(event) = server.next_event() {
        server.advance(event, &mut done);
    }
    done.sort_by_key(|done| done.job);
    done.into_iter().map(|done| done.at).collect()
}

/// Kiefer and Wolfowitz: each job goes to the worker that is free first.
fn kiefer_wolfowitz(workers: usize, arrivals: &[Arrival]) -> Vec<Nanos> {
    let mut free: BinaryHeap<Reverse<Nanos>> = (0..workers).map(|_| Reverse(0)).collect();
    let mut now = 0;
    let mut times = Vec::new();
    for &(gap, demand) in arrivals {
        now += gap;
        let Reverse(free_at) = free.pop().expect("there is a worker");
        let completion = free_at.max(now) + demand;
        free.push(Reverse(completion));
        times.push(completion);
    }
    times
}

/// Processor sharing from its definition: the remaining demands of all jobs shrink at the same rate.
struct ByDefinition {
    cores: f64,
    now: f64,
    /// Job and remaining demand.
    present: Vec<(usize, f64)>,
    times: Vec<f64>,
}

impl ByDefinition {
    fn completions(cores: usize, arrivals: &[Arrival]) -> Vec<f64> {
        let times = vec![0.0; arrivals.len()];
        let mut shared = Self {
            cores: cores as f64,
            now: 0.0,
            present: Vec::new(),
            times,
        };
        let mut arrival = 0;
        for (job, &(gap, demand)) in arrivals.iter().enumerate() {
            arrival += gap;
            shared.run_until(arrival as f64);
            shared.present.push((job, demand as f64));
        }
        shared.run_until(f64::INFINITY);
        shared.times
    }

    fn run_until(&mut self, end: f64) {
        while self.now < end && !self.present.is_empty() {
            let rate = (self.cores / self.present.len() as f64).min(1.0);
            let shortest = self
                .present
                .iter()
                .map(|&(_, left)| left)
                .fold(f64::INFINITY, f64::min);
            let span = (end - self.now).min(shortest / rate);
            self.now += span;
            for (_, left) in &mut self.present {
                *left -= span * rate;
            }
            for (job, _) in self.present.extract_if(.., |(_, left)| *left <= 1e-7) {
                self.times[job] = self.now;
            }
        }
        self.now = end;
    }
}

proptest! {
    #[test]
    fn every_job_gets_its_demand_and_capacity_is_never_exceeded(
        arrivals in arrivals(), which in 0..SERVERS, c in 1..5_usize,
    ) {
        let c = if which == SERVERS - 1 { 1 } else { c };
        let times = completions(&mut *server(which, c), &arrivals);
        let (mut now, mut work) = (0, 0);
        for (&(gap, demand), &time) in arrivals.iter().zip(&times) {
            now += gap;
            work += demand;
            prop_assert!(time >= now + demand, "a job arriving at {now} with {demand} completed at {time}");
        }
        let last = *times.iter().max().expect("there are jobs");
        prop_assert!(last * c as u64 >= work, "{work} of work done by {last} on {c}");
    }

    /// With one worker or core, all disciplines that never idle while work waits end their busy periods together.
    #[test]
    fn work_is_conserved(arrivals in arrivals(), which in 0..SERVERS) {
        let end = |times: Vec<Nanos>| times.into_iter().max().expect("there are jobs");
        let expected = end(kiefer_wolfowitz(1, &arrivals));
        let simulated_end = end(completions(&mut *server(which, 1), &arrivals));
        // gates take a nanosecond each; shared completions are rounded up
        prop_assert!((expected..=expected + arrivals.len() as u64).contains(&simulated_end), "{simulated_end} for {expected}");
    }

    #[test]
    fn a_late_timer_does_not_move_completions(arrivals in arrivals(), which in 0..SERVERS, c in 1..5_usize) {
        let late = completions(&mut *server(which, c), &arrivals);
        let on_time = completions_on_time(&mut *server(which, c), &arrivals);
        let tolerance = u64::from(which == PROCESSOR_SHARING);
        for (late, on_time) in late.iter().zip(&on_time) {
            prop_assert!(late.abs_diff(*on_time) <= tolerance, "{late} against {on_time}");
        }
    }

    #[test]
    fn first_come_first_served_is_kiefer_and_wolfowitz(arrivals in arrivals(), c in 1..5_usize) {
        prop_assert_eq!(completions(&mut Workers::new(c, Fifo::default()), &arrivals), kiefer_wolfowitz(c, &arrivals));
    }

    #[test]
    fn virtual_time_is_processor_sharing_by_definition(arrivals in arrivals(), c in 1..5_usize) {
        let calculated = completions(&mut ProcessorSharing::new(c), &arrivals);
        for (calculated, defined) in calculated.into_iter().zip(ByDefinition::completions(c, &arrivals)) {
            prop_assert!((calculated as f64 - defined).abs() <= 1.001, "{calculated} against {defined}");
        }
    }

    #[test]
    fn a_delay_makes_nobody_wait(arrivals in arrivals()) {
        let mut now = 0;
        let expected = arrivals.iter().map(|&(gap, demand)| { now += gap; now + demand }).collect::<Vec<_>>();
        prop_assert_eq!(completions(&mut Delay::default(), &arrivals), expected);
    }
}
