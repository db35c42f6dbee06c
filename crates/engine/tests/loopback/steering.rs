//! Loads that are changed while they run.

use crate::support::*;
use jostle_engine::outcome::Outcome;
use jostle_engine::spec::{Change, Continuation, SteerError, Steered};
use jostle_engine::{Poll, Run};
use serde_json::{Value, json};

fn open(rates: &Value) -> Value {
    json!({"open": {"arrivals": "constant", "rates": rates, "max_connections": 8}})
}

/// When requests were intended, in order.
fn intended(seen: &Seen) -> Vec<u64> {
    let mut times: Vec<u64> = seen
        .rows()
        .flat_map(|rows| rows.intended_ns.clone())
        .collect();
    times.sort_unstable();
    times
}

fn change(run: &Run, change: Change, at_ms: u64) -> Steered {
    run.steer(0, change, Some(at_ms * MS)).unwrap()
}

#[test]
fn a_rate_changes_at_its_moment_to_the_nanosecond_and_no_request_is_lost() {
    let load = open(&json!([{"from": 1000.0, "to": 1000.0}]));
    let run = start(one(workload(answering(OK), load), 500)).unwrap();
    let steered = change(&run, Change::Rate(200.0), 200);
    let expected = Steered {
        at_ns: 200 * MS,
        continuation: Continuation::Rate(200.0),
    };
    assert_eq!(steered, expected);
    let seen = Seen::of(&run);
    let slow = (0..60).map(|k| (200 + 5 * k) * MS);
    let expected: Vec<u64> = (0..200).map(|k| k * MS).chain(slow).collect();
    assert_eq!(intended(&seen), expected);
    assert_eq!(seen.count(Outcome::Ok), 260);
}

#[test]
fn a_later_change_takes_the_place_of_what_was_to_come() {
    let load = open(&json!([{"from": 100.0, "to": 100.0}]));
    let run = start(one(workload(answering(OK), load), 400)).unwrap();
    change(&run, Change::Rate(1000.0), 300);
    change(&run, Change::Scale(2.0), 200);
    let times = intended(&Seen::of(&run));
    let expected: Vec<u64> = (0..20)
        .map(|k| 10 * k)
        .chain((0..40).map(|k| 200 + 5 * k))
        .collect();
    let ms: Vec<u64> = times.iter().map(|ns| ns / MS).collect();
    assert_eq!(ms, expected);
}

#[test]
fn a_held_ramp_stays_and_the_next_phase_ends_the_run_sooner() {
    let load = open(&json!([
        {"name": "up", "duration_ns": 2 * SECOND, "from": 0.0, "to": 1000.0},
        {"name": "there", "duration_ns": 100 * MS, "from": 500.0, "to": 500.0},
    ]));
    let run = start(one(workload(answering(OK), load), 2100)).unwrap();
    let Continuation::Rate(held) = change(&run, Change::Hold, 200).continuation else {
        panic!("the rate is held")
    };
    assert!((held - 100.0).abs() < 1e-6, "{held}");
    let next = change(&run, Change::NextPhase, 400);
    assert_eq!(next.continuation, Continuation::Phase(1));
    let seen = Seen::of(&run);
    let times = intended(&seen);
    let within = |from: u64, to: u64| {
        times
            .iter()
            .filter(|t| (from * MS..to * MS).contains(t))
            .count()
    };
    // 0 to 100/s in 0.2 s are 10; 0.2 s at 100/s are 20; 0.1 s at 500/s are 50.
    assert_eq!(
        (within(0, 200), within(200, 400), within(400, 500)),
        (10, 20, 50)
    );
    // A last interval that begins with the end of the run lasts 1 ns.
    let end = seen.0.last().unwrap().end_ns;
    assert!((500 * MS..=500 * MS + 1).contains(&end), "{end}");
    let phases = seen.0.iter().flat_map(|interval| &interval.series);
    let in_second: u64 = phases
        .filter(|series| series.phase == 1)
        .map(|series| series.outcomes.iter().sum::<u64>())
        .sum();
    assert_eq!(in_second, 50);
}

#[test]
fn clients_come_and_go_and_finish_what_they_have_in_hand() {
    let load = json!({"closed": {"clients": 3, "think": {"constant": {"ns": 2 * MS}}}});
    let run = start(one(workload(answering(OK), load), 1500)).unwrap();
    change(&run, Change::Clients(40), 200);
    let mut intervals = Vec::new();
    while intervals.len() < 6 {
        if let Poll::Interval(interval) = run.next_interval(std::time::Duration::from_secs(10)) {
            intervals.push(*interval);
        }
    }
    let fewer = run.steer(0, Change::Clients(2), None).unwrap();
    assert_eq!(fewer.continuation, Continuation::Clients(2));
    let clients = |n: usize| intervals[n].workloads[0].clients;
    assert_eq!((clients(2), clients(5)), (3, 40));
    while !intervals.last().unwrap().last {
        if let Poll::Interval(interval) = run.next_interval(std::time::Duration::from_secs(10)) {
            intervals.push(*interval);
        }
    }
    let last = &intervals[intervals.len() - 2];
    assert!(last.end_ns > fewer.at_ns, "{} {}", last.end_ns, fewer.at_ns);
    assert_eq!(last.workloads[0].clients, 2);
    let ended = intervals.iter().flat_map(|interval| &interval.series);
    let failed: u64 = ended
        .map(|series| series.outcomes.iter().sum::<u64>() - series.outcomes[Outcome::Ok as usize])
        .sum();
    assert!(
        failed <= 2,
        "only the end of the run cuts requests off: {failed}"
    );
}

#[test]
fn a_number_of_requests_stays_exact_when_clients_are_added() {
    let load =
        json!({"closed": {"clients": 2, "requests": 400, "think": {"constant": {"ns": MS}}}});
    let run = start(one(workload(answering(OK), load), 0)).unwrap();
    change(&run, Change::Clients(20), 50);
    assert_eq!(Seen::of(&run).count(Outcome::Ok), 400);
}

#[test]
fn a_change_that_cannot_be_made_changes_nothing() {
    let load = json!({"closed": {"clients": 1, "requests": 20, "think": {"constant": {"ns": MS}}}});
    let run = start(one(workload(answering(OK), load), 0)).unwrap();
    let refused = |change| run.steer(0, change, None).unwrap_err();
    assert_eq!(refused(Change::Rate(1.0)), SteerError::Closed);
    assert_eq!(refused(Change::NextPhase), SteerError::NoNextPhase);
    assert_eq!(refused(Change::Clients(2)), SteerError::AllDealt(1));
    let nowhere = run.steer(7, Change::Hold, None).unwrap_err();
    assert_eq!(nowhere, SteerError::NoWorkload(7));
    assert_eq!(Seen::of(&run).count(Outcome::Ok), 20);
    assert_eq!(refused(Change::Hold), SteerError::Over);
}
