//! Simulated runs, checked against exact results of queueing theory and against the balances that every run must keep.

use jostle_engine::interval::{Interval, Measure};
use jostle_engine::outcome::Outcome;
use jostle_engine::spec::RunSpec;
use serde_json::{Value, json};

use crate::Simulation;
use crate::spec::{ServerSpec, SpecError};
use jostle_discipline::spec::ZeroParameter;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn run(load: &Value, duration_ns: Option<u64>, interval_ns: u64) -> RunSpec {
    serde_json::from_value(json!({
        "seed": 20_101_121, "threads": 1, "interval_ns": interval_ns, "duration_ns": duration_ns,
        "workloads": [{
            "name": "w", "role": "measured", "target": {"host": "simulated", "port": 1},
            "requests": [{"name": "r", "method": "GET", "path": "/"}],
            "load": load,
            "timeouts": {"connect_ns": S, "total_ns": 3600 * S},
        }],
    }))
    .unwrap()
}

fn server(discipline: &Value, time: &Value) -> ServerSpec {
    serde_json::from_value(json!({"discipline": discipline, "services": [[{"time": time}]]}))
        .unwrap()
}

fn poisson(per_second: f64) -> Value {
    json!({"open": {
        "arrivals": "poisson", "rates": [{"duration_ns": null, "from": per_second, "to": per_second}],
        "max_connections": 1_000_000,
    }})
}

fn closed(clients: u64, think: &Value) -> Value {
    json!({"closed": {"clients": clients, "think": think}})
}

fn exponential(mean_ns: u64) -> Value {
    json!({"exponential": {"mean_ns": mean_ns}})
}

fn simulate(run: RunSpec, server: ServerSpec) -> Vec<Interval> {
    Simulation::new(run, server).unwrap().collect()
}

/// Sums a figure over all series.
fn total(intervals: &[Interval], of: impl Fn(&jostle_engine::interval::Series) -> u128) -> u128 {
    let series = intervals.iter().flat_map(|interval| &interval.series);
    series.map(of).sum()
}

fn count(intervals: &[Interval], outcome: Outcome) -> u128 {
    total(intervals, |series| {
        u128::from(series.outcomes[outcome as usize])
    })
}

fn mean_response_s(intervals: &[Interval]) -> f64 {
    total(intervals, |series| series.response_sum_ns) as f64
        / count(intervals, Outcome::Ok) as f64
        / 1e9
}

/// How many standard errors the mean of a figure of each interval lies from `expected`; the first tenth is warm-up.
fn z(intervals: &[Interval], expected: f64, figure: impl Fn(&[Interval]) -> f64) -> f64 {
    let settled = &intervals[intervals.len() / 10..];
    let values: Vec<f64> = settled.chunks(1).map(figure).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
}

fn quantile_ms(intervals: &[Interval], p: f64) -> f64 {
    let mut all = jostle_engine::hdrhistogram::Histogram::<u64>::new(3).unwrap();
    for series in intervals.iter().flat_map(|interval| &interval.series) {
        all.add(&series.histograms[Measure::Response as usize])
            .unwrap();
    }
    all.value_at_quantile(p) as f64 / 1e3
}

/// METHOD E5: M/M/1 at ρ = 0.8 and a mean service of 1 ms.
#[test]
fn one_worker_with_poisson_arrivals_responses_as_mm1() {
    let intervals = simulate(
        run(&poisson(800.0), Some(1000 * S), 20 * S),
        server(&json!({"workers": {"workers": 1}}), &exponential(MS)),
    );
    let far = z(&intervals, 0.005, mean_response_s);
    assert!(far.abs() < 4.0, "{far}: {}", mean_response_s(&intervals));
    let (p99, p999) = (
        quantile_ms(&intervals, 0.99),
        quantile_ms(&intervals, 0.999),
    );
    assert!((p99 / 23.0259 - 1.0).abs() < 0.08, "p99 {p99} ms");
    assert!((p999 / 34.5388 - 1.0).abs() < 0.15, "p99.9 {p999} ms");
}

/// METHOD E2, E3: M/M/10 at ρ = 0.8 waits 0.2046 of a service on average; its p99 response is 4.946.
#[test]
fn ten_workers_with_poisson_arrivals_response_as_mm10() {
    let intervals = simulate(
        run(&poisson(8000.0), Some(60 * S), S),
        server(&json!({"workers": {"workers": 10}}), &exponential(MS)),
    );
    let far = z(&intervals, 0.001_204_590_075_398, mean_response_s);
    assert!(far.abs() < 4.0, "{far}: {}", mean_response_s(&intervals));
    let p99 = quantile_ms(&intervals, 0.99);
    assert!((p99 / 4.946_111 - 1.0).abs() < 0.03, "p99 {p99} ms");
}

/// METHOD E10, E11: finite crowds (the machine repairman): throughput and mean response time.
#[test]
fn a_crowd_that_thinks_has_the_throughput_of_the_finite_source_model() {
    let cases = [
        (1, 20, 100 * MS, S, 9.981_309_501_48, 1.003_745_099_48),
        (
            4,
            100,
            50 * MS,
            900 * MS,
            79.953_761_083_5,
            0.350_722_900_898,
        ),
    ];
    for (workers, clients, service, think, throughput, response) in cases {
        let intervals = simulate(
            run(
                &closed(clients, &exponential(think)),
                Some(5000 * S),
                50 * S,
            ),
            server(
                &json!({"workers": {"workers": workers}}),
                &exponential(service),
            ),
        );
        let rate = |some: &[Interval]| count(some, Outcome::Ok) as f64 / (50.0 * some.len() as f64);
        let (by_rate, by_time) = (
            z(&intervals, throughput, rate),
            z(&intervals, response, mean_response_s),
        );
        assert!(
            by_rate.abs() < 4.0 && by_time.abs() < 4.0,
            "{workers}: {by_rate}, {by_time}"
        );
    }
}

/// METHOD E20: a batch of 15 served from its end: 1 to 29 services, 15 on average.
#[test]
fn a_gate_that_serves_from_the_end_alternates_between_first_and_last() {
    let intervals = simulate(
        run(&closed(15, &json!("none")), Some(300 * S), 300 * S),
        server(&json!("gated-lifo"), &json!({"constant": {"ns": S}})),
    );
    let series = &intervals[0].series[0];
    let responses = &series.histograms[Measure::Response as usize];
    assert!((responses.max() as f64 / 29e6 - 1.0).abs() < 0.001);
    assert!((responses.min() as f64 / 1e6 - 1.0).abs() < 0.001);
}

/// METHOD E24: at ρ = 0.8 the coefficient of variation is 1 for first come, first served, and 1.5275 for sharing.
#[test]
fn sharing_spreads_response_times_more_than_queueing() {
    for (discipline, expected, within) in [
        (json!({"workers": {"workers": 1}}), 1.0, 0.05),
        (json!({"processor-sharing": {"cores": 1}}), 1.527_525, 0.08),
    ] {
        let intervals = simulate(
            run(&poisson(800.0), Some(1000 * S), 1000 * S),
            server(&discipline, &exponential(MS)),
        );
        let responses = &intervals[0].series[0].histograms[Measure::Response as usize];
        let variation = responses.stdev() / responses.mean();
        assert!(
            (variation - expected).abs() < within,
            "{discipline}: {variation}"
        );
    }
}

fn phased() -> Value {
    json!({"closed": {
        "clients": 400, "think": {"uniform": {"ns": 300 * MS, "spread": 0.5}},
        "requests_per_client": 7, "renew": true,
        "phases": [
            {"name": "up", "duration_ns": 10 * S, "from": 0, "to": 400},
            {"name": "top", "duration_ns": 10 * S, "from": 400, "to": 400},
            {"name": "down", "duration_ns": 10 * S, "from": 400, "to": 0},
        ],
    }})
}

#[test]
fn every_request_that_was_due_has_an_outcome_and_the_books_of_time_balance() {
    let overloaded = json!({"constant": {"ns": 5 * MS}});
    for load in [phased(), poisson(300.0), closed(50, &json!("none"))] {
        let intervals = simulate(
            run(&load, Some(30 * S), S),
            server(&json!({"workers": {"workers": 1}}), &overloaded),
        );
        let due: u64 = intervals
            .iter()
            .map(|interval| interval.workloads[0].due)
            .sum();
        let sent: u64 = intervals
            .iter()
            .map(|interval| interval.workloads[0].sent)
            .sum();
        let ended = total(&intervals, |series| {
            series.outcomes.iter().map(|count| u128::from(*count)).sum()
        });
        let never = count(&intervals, Outcome::NeverSent);
        assert_eq!(ended, u128::from(due));
        assert_eq!(u128::from(sent), u128::from(due) - never);
        let held: u128 = intervals
            .iter()
            .map(|interval| interval.workloads[0].in_flight_ns)
            .sum();
        assert_eq!(held, total(&intervals, |series| series.busy_sum_ns));
        assert_eq!(intervals.iter().filter(|interval| interval.last).count(), 1);
        assert_eq!(intervals.last().unwrap().end_ns, 30 * S);
    }
}

#[test]
fn the_number_of_clients_follows_the_phases() {
    let intervals = simulate(
        run(&phased(), None, S),
        server(
            &json!({"processor-sharing": {"cores": 4}}),
            &exponential(MS),
        ),
    );
    let clients: Vec<u64> = intervals
        .iter()
        .map(|interval| interval.workloads[0].clients)
        .collect();
    assert_eq!(clients.len(), 30);
    assert!(
        clients[9] >= 396
            && clients[10..20]
                .iter()
                .all(|clients_then| *clients_then == 400),
        "{clients:?}"
    );
    assert!(clients[..10].is_sorted() && clients[20..].is_sorted_by(|one, next| one >= next));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let figures = |seed: u64| {
        let mut spec = run(&phased(), None, S);
        spec.seed = seed;
        let intervals = simulate(
            spec,
            server(
                &json!({"random-order": {"workers": 2}}),
                &exponential(8 * MS),
            ),
        );
        (
            total(&intervals, |series| series.response_sum_ns),
            count(&intervals, Outcome::Ok),
        )
    };
    assert_eq!(figures(5), figures(5));
    assert_ne!(figures(5), figures(6));
}

#[test]
fn a_client_that_gives_up_thinks_and_asks_again_while_the_server_works_on() {
    let mut spec = run(&closed(1, &json!({"constant": {"ns": S}})), Some(10 * S), S);
    spec.workloads[0].timeouts.total_ns = S;
    let intervals = simulate(
        spec,
        server(
            &json!({"workers": {"workers": 1}}),
            &json!({"constant": {"ns": 3 * S}}),
        ),
    );
    assert_eq!(count(&intervals, Outcome::ResponseTimeout), 5);
    assert_eq!(count(&intervals, Outcome::Ok), 0);
}

#[test]
fn a_run_of_so_many_requests_ends_with_the_last_response() {
    let load = json!({"closed": {"clients": 3, "requests": 10}});
    let intervals = simulate(
        run(&load, None, 3600 * S),
        server(
            &json!({"workers": {"workers": 1}}),
            &json!({"constant": {"ns": S}}),
        ),
    );
    assert_eq!(count(&intervals, Outcome::Ok), 10);
    assert_eq!(intervals.last().unwrap().end_ns, 10 * S);
}

#[test]
fn what_cannot_be_simulated_is_refused_in_words() {
    let one = || server(&json!({"workers": {"workers": 1}}), &exponential(MS));
    let refusal = |run: RunSpec, server: ServerSpec| {
        Simulation::new(run, server)
            .err()
            .map(|error| error.to_string())
    };
    let endless = refusal(run(&closed(1, &json!("none")), None, S), one());
    assert!(endless.unwrap().starts_with("the run would never end"));
    let nobody = server(&json!({"workers": {"workers": 0}}), &exponential(MS));
    let bounded = || run(&closed(1, &json!("none")), Some(S), S);
    assert_eq!(
        refusal(bounded(), nobody),
        Some(ZeroParameter("workers").to_string())
    );
    let empty = server(&json!("gated-lifo"), &json!({"measured": {"ns": []}}));
    assert!(
        refusal(bounded(), empty)
            .unwrap()
            .contains("at least one time")
    );
    let mut more = one();
    let another = more.services[0][0].clone();
    more.services[0].push(another);
    assert!(
        refusal(bounded(), more)
            .unwrap()
            .contains("states 2 services")
    );
}

#[test]
fn a_run_is_endless_unless_all_that_is_measured_ends() {
    let mut spec = run(
        &json!({"closed": {"clients": 1, "requests": 10}}),
        None,
        3600 * S,
    );
    let mut endless = spec.workloads[0].clone();
    endless.load = serde_json::from_value(closed(1, &json!("none"))).unwrap();
    spec.workloads.push(endless);
    let mut both = server(&json!({"workers": {"workers": 1}}), &exponential(MS));
    both.services.push(both.services[0].clone());
    let refused = Simulation::new(spec, both).err();
    assert_eq!(refused, Some(SpecError::Endless));
}

#[test]
fn a_closed_load_needs_services_that_take_time_and_a_load_that_makes_sense() {
    let refusal = |load: &Value, time: &Value| {
        let server = server(&json!({"workers": {"workers": 1}}), time);
        let refused = Simulation::new(run(load, Some(S), S), server).err();
        refused.map_or(String::new(), |error| error.to_string())
    };
    let closed = closed(1, &json!("none"));
    for zero in [
        json!("none"),
        json!({"constant": {"ns": 0}}),
        json!({"measured": {"ns": [0, 0]}}),
        json!({"list": {"ns": [0, 1]}}),
    ] {
        assert!(
            refusal(&closed, &zero).contains("a positive time"),
            "{zero}"
        );
        assert_eq!(refusal(&poisson(10.0), &zero), "", "{zero}");
    }
    assert_eq!(refusal(&closed, &json!({"measured": {"ns": [0, 1]}})), "");
    let nothing = json!({"list": {"ns": []}});
    assert!(refusal(&poisson(10.0), &nothing).contains("at least one time"));
    for (field, wrong) in [
        ("requests_per_client", json!(0)),
        ("think", json!({"list": {"ns": []}})),
    ] {
        let mut load = closed.clone();
        load["closed"][field] = wrong;
        load["closed"]["renew"] = json!(true);
        assert!(refusal(&load, &exponential(MS)).contains("load."), "{load}");
    }
}
