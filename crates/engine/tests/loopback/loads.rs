//! Load models over real sockets: how many requests, when, by whom.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::*;
use jostle_engine::interval::Measure;
use jostle_engine::outcome::Outcome;
use serde_json::json;
use tokio::io::AsyncWriteExt;

#[test]
fn a_number_of_requests_is_exact_whatever_the_threads() {
    let address = answering(OK);
    for (clients, requests) in [(1, 1), (3, 100), (7, 5), (16, 1003)] {
        let load = json!({"closed": {"clients": clients, "requests": requests}});
        let seen = run(one(workload(address, load), 0));
        assert_eq!(
            seen.outcomes(),
            BTreeMap::from([("ok", requests)]),
            "{clients} clients"
        );
        for measure in [
            Measure::Headers,
            Measure::Body,
            Measure::Service,
            Measure::Response,
            Measure::Lag,
        ] {
            assert_eq!(seen.recorded(measure), requests);
        }
        assert_eq!(seen.recorded(Measure::Connect), clients.min(requests));
    }
}

#[test]
fn rows_tell_every_request_in_order() {
    let load = json!({"closed": {"clients": 4, "requests": 200}});
    let seen = run(one(workload(answering(OK), load), 0));
    let (mut count, mut clients) = (0, HashSet::new());
    for rows in seen.rows() {
        for row in 0..rows.end_ns.len() {
            let times = [
                rows.intended_ns[row],
                rows.sent_ns[row],
                rows.headers_ns[row],
                rows.end_ns[row],
            ];
            assert!(times.is_sorted(), "{times:?}");
            assert_eq!(
                (rows.status[row], rows.outcome[row], rows.bytes[row]),
                (200, 0, OK.len() as u64)
            );
            clients.insert(rows.client[row]);
            count += 1;
        }
    }
    assert_eq!((count, clients), (200, HashSet::from([0, 1, 2, 3])));
}

#[test]
fn each_client_has_its_number_of_requests_and_a_new_one_takes_its_place() {
    let address = answering(OK);
    let load = json!({"closed": {"clients": 5, "requests_per_client": 7}});
    let seen = run(one(workload(address, load), 0));
    assert_eq!(
        (seen.count(Outcome::Ok), seen.sum(0, |s| s.connects)),
        (35, 5)
    );

    let load =
        json!({"closed": {"clients": 5, "requests_per_client": 7, "renew": true, "requests": 700}});
    let seen = run(one(workload(address, load), 0));
    let clients: HashSet<u32> = seen.rows().flat_map(|rows| rows.client.clone()).collect();
    assert_eq!(seen.count(Outcome::Ok), 700);
    // A client in whose midst the requests ran out leaves a part of its 7 to another one.
    assert!((100..105).contains(&clients.len()), "{}", clients.len());
    assert_eq!(seen.sum(0, |s| s.connects), clients.len() as u64);
}

#[test]
fn without_keep_alive_every_request_connects_and_the_server_closes_first() {
    let load = json!({"closed": {"clients": 4, "requests": 100, "requests_per_connection": 1}});
    let seen = run(one(workload(answering(OK), load), 0));
    assert_eq!(
        (seen.count(Outcome::Ok), seen.sum(0, |s| s.connects)),
        (100, 100)
    );
    let load = json!({"closed": {"clients": 2, "requests": 100, "requests_per_connection": 10}});
    let seen = run(one(workload(answering(OK), load), 0));
    assert_eq!(
        (seen.count(Outcome::Ok), seen.sum(0, |s| s.connects)),
        (100, 10)
    );
}

#[test]
fn think_times_stand_between_response_and_next_request() {
    let load =
        json!({"closed": {"clients": 1, "requests": 6, "think": {"constant": {"ns": 20 * MS}}}});
    let seen = run(one(workload(answering(OK), load), 0));
    for pause in seen.pauses() {
        assert_eq!(pause, 20 * MS);
    }
    assert_eq!(seen.recorded(Measure::Pacing), 5);
}

#[test]
fn think_times_from_a_list_are_taken_in_turn() {
    let think = json!({"list": {"ns": [10 * MS, 30 * MS]}});
    let load = json!({"closed": {"clients": 1, "requests": 6, "think": think}});
    let seen = run(one(workload(answering(OK), load), 0));
    let pauses: Vec<u64> = seen.pauses().iter().map(|ns| ns / MS).collect();
    assert_eq!(pauses, [10, 30, 10, 30, 10]);
}

#[test]
fn a_trace_is_followed_to_the_nanosecond_and_ends_the_run() {
    let trace = [0, 3 * MS, 3 * MS, 71 * MS + 1, 120 * MS];
    let load = json!({"open": {"arrivals": {"trace": trace}, "requests": 5, "max_connections": 8}});
    let seen = run(one(workload(answering(OK), load), 0));
    let rows = seen.rows().flat_map(|rows| rows.intended_ns.clone());
    let mut intended: Vec<u64> = rows.collect();
    intended.sort_unstable();
    assert_eq!(intended, trace);
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 5)]));
}

#[test]
fn open_arrivals_are_the_plan_and_do_not_wait_for_responses() {
    // 25 ms per response; one connection could do 40/s, the plan wants 200/s.
    let address = serve(|mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            tokio::time::sleep(Duration::from_millis(25)).await;
            stream.write_all(OK).await.ok();
        }
    });
    let load = json!({"open": {"arrivals": "constant", "rates": [{"from": 200, "to": 200}], "requests": 100, "max_connections": 64}});
    let seen = run(one(workload(address, load), 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 100)]));
    let mut intended: Vec<u64> = seen
        .rows()
        .flat_map(|rows| rows.intended_ns.clone())
        .collect();
    intended.sort_unstable();
    assert_eq!(intended, (0..100).map(|k| k * 5 * MS).collect::<Vec<_>>());
    assert!(seen.sum(0, |state| state.connects) >= 4);
}

#[test]
fn arrivals_go_to_the_threads_that_have_connections_as_many_as_these_can_take() {
    let address = answering(OK);
    for (connections, threads, of_first) in [(1, 2, 300), (1, 3, 300), (3, 2, 200), (2, 2, 150)] {
        let open = json!({"arrivals": "poisson", "rates": [{"from": 3000, "to": 3000}], "requests": 300,
                          "max_connections": connections});
        let spec = one(workload(address, json!({"open": open})), 0);
        let seen = run(with(spec, "", json!({"threads": threads})));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 300)]));
        let clients = seen.rows().flat_map(|rows| rows.client.clone());
        let by_first = clients.filter(|client| client % threads == 0).count();
        assert_eq!(
            by_first, of_first,
            "{connections} connections, {threads} threads"
        );
    }
}

#[test]
fn what_finds_no_connection_waits_in_order_and_is_counted_as_never_sent_at_the_end() {
    // From its sixth request on a connection is busy beyond the end, however late anybody is.
    let address = serve(|mut stream| async move {
        for ms in [50, 50, 50, 50, 50, 60_000] {
            read_request(&mut stream).await;
            tokio::time::sleep(Duration::from_millis(ms)).await;
            stream.write_all(OK).await.ok();
        }
    });
    let load = json!({"open": {"arrivals": "constant", "rates": [{"from": 1000, "to": 1000}], "max_connections": 2}});
    let seen = run(one(workload(address, load), 400));
    assert_eq!(seen.sum(0, |state| state.due), 400);
    assert!(
        seen.count(Outcome::NeverSent) > 300,
        "{:?}",
        seen.outcomes()
    );
    assert_eq!(seen.count(Outcome::Unfinished), 2);
    assert_eq!(
        seen.recorded(Measure::Censored),
        seen.count(Outcome::NeverSent) + 2
    );
    // A request that was due and never sent counts as longer than it waited: up to the end of the run.
    let (shortest, longest) = seen.range_ms(Measure::Censored);
    assert!(shortest < 10.0 && longest > 300.0, "{shortest} {longest}");
    assert_eq!(seen.0.last().unwrap().workloads[0].connections, 2);
    assert!(seen.0[2].workloads[0].waiting > 50);
    // Waiting for a connection is part of the response, not of the generator's lateness.
    let (_, response) = seen.range_ms(Measure::Response);
    assert!(response > 200.0, "{response}");
}

#[test]
fn every_thread_takes_its_part_of_a_poisson_process() {
    let address = answering(OK);
    let times = |threads: u64| {
        let load = json!({"open": {"arrivals": "poisson", "rates": [{"from": 2000, "to": 2000}], "requests": 300, "max_connections": 32}});
        let seen = run(with(
            one(workload(address, load), 0),
            "",
            json!({"threads": threads}),
        ));
        let mut intended: Vec<u64> = seen
            .rows()
            .flat_map(|rows| rows.intended_ns.clone())
            .collect();
        intended.sort_unstable();
        intended
    };
    assert_eq!(times(1), times(3));
}

#[test]
fn a_background_load_has_its_own_series_and_ends_with_the_run() {
    let address = answering(OK);
    let measured = workload(
        address,
        json!({"closed": {"clients": 2, "requests": 50, "think": {"constant": {"ns": 2 * MS}}}}),
    );
    let background = with(
        workload(address, json!({"closed": {"clients": 1}})),
        "",
        json!({"role": "background"}),
    );
    let seen = run(several(vec![measured, background], 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 50)]));
    assert!(seen.outcomes_of(1)[Outcome::Ok as usize] > 0);
    assert!(
        seen.rows()
            .all(|rows| rows.workload.iter().all(|workload| *workload == 0))
    );
}

/// Every second response takes longer than the time between two requests.
#[test]
fn what_finds_a_free_connection_after_a_shortage_has_a_lateness_again() {
    let slow_at_times = |number: usize| 30 * u64::from(number.is_multiple_of(2));
    let address = serve(move |mut stream| async move {
        for number in 0.. {
            if read_request(&mut stream).await.is_none() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(slow_at_times(number))).await;
            stream.write_all(OK).await.ok();
        }
    });
    let rates = json!([{"from": 50, "to": 50}]);
    let open = json!({"open": {"arrivals": "constant", "rates": rates, "requests": 20, "max_connections": 1}});
    let seen = run(with(
        one(workload(address, open), 0),
        "",
        json!({"threads": 1}),
    ));
    assert_eq!(seen.count(Outcome::Ok), 20);
    let late = seen.recorded(Measure::Pacing);
    assert!((3..=10).contains(&late), "{late} of 10 found it free");
}

/// Attentive workers make the same requests; what they wait is no work of theirs.
#[test]
fn a_worker_that_waits_awake_does_the_same_and_its_cpu_time_is_its_work() {
    let think = json!({"constant": {"ns": 10 * MS}});
    let rates = json!([{"from": 200, "to": 200}]);
    let idle = json!({"closed": {"clients": 1, "requests": 40, "think": think}});
    let open = json!({"open": {"arrivals": "constant", "rates": rates, "requests": 80, "max_connections": 4}});
    let busy = json!({"closed": {"clients": 64, "requests": 20_000}});
    let mut seconds = Vec::new();
    for (load, requests) in [(idle, 40), (open, 80), (busy, 20_000)] {
        let spec = one(workload(answering(OK), load), 0);
        let seen = run(with(spec, "", json!({"threads": 1, "busy_poll": true})));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", requests)]));
        let threads = seen.0.iter().flat_map(|interval| &interval.threads);
        let cpu: u64 = threads.map(|thread| thread.cpu_ns).sum();
        seconds.push(cpu as f64 / 1e9);
    }
    // Some 400 ms each of waiting, most of it awake; and 20,000 requests, whose system calls alone take 2 µs each.
    assert!(seconds[0] < 0.1 && seconds[1] < 0.1, "{seconds:?}");
    assert!(seconds[2] > 0.04, "{seconds:?}");
}

/// Each is made ready before it is due, while nothing else is in flight.
#[test]
fn a_worker_that_waits_awake_sends_nothing_early() {
    let rates = json!([{"from": 1000, "to": 1000}]);
    let open = json!({"open": {"arrivals": "constant", "rates": rates, "max_connections": 4}});
    let spec = one(workload(answering(OK), open), 300);
    let change = json!({"threads": 1, "busy_poll": true, "rows": true});
    let seen = run(with(spec, "", change));
    let rows: Vec<_> = seen.rows().collect();
    let sent = rows.iter().flat_map(|rows| &rows.sent_ns);
    let intended = rows.iter().flat_map(|rows| &rows.intended_ns);
    let early = sent
        .zip(intended)
        .filter(|(sent, intended)| **sent > 0 && sent < intended);
    assert_eq!(early.count(), 0);
    let recorded: usize = rows.iter().map(|rows| rows.sent_ns.len()).sum();
    assert_eq!((seen.sum(0, |state| state.due), recorded), (300, 300));
}

#[test]
fn waiting_awake_and_real_time_exclude_each_other() {
    let load = json!({"closed": {"clients": 1, "requests": 1}});
    let change = json!({"busy_poll": true, "real_time": true});
    let spec = with(one(workload(answering(OK), load), 0), "", change);
    let message = start(spec).unwrap_err().to_string();
    assert!(
        message.contains("busy_poll") && message.contains("real_time"),
        "{message}"
    );
}

#[test]
fn phases_have_their_clients_and_their_series() {
    let phases = json!([
        {"name": "up", "duration_ns": SECOND, "from": 0, "to": 8},
        {"name": "hold", "duration_ns": SECOND, "from": 8, "to": 8},
        {"name": "down", "duration_ns": SECOND, "from": 8, "to": 0, "steps": 4},
    ]);
    let load =
        json!({"closed": {"clients": 8, "phases": phases, "think": {"constant": {"ns": 5 * MS}}}});
    let spec = one(workload(answering(OK), load), 0);
    let seen = run(with(spec, "", json!({"interval_ns": 250 * MS})));
    assert_eq!(seen.0.last().unwrap().end_ns, 3 * SECOND);
    for phase in 0..3 {
        assert!(
            seen.series(0)
                .filter(|series| series.phase == phase)
                .count()
                > 0,
            "phase {phase}"
        );
    }
    // Clients come when the plan says so, and it is recorded how late they were.
    let intended: HashSet<u64> = seen.rows().flat_map(|r| r.intended_ns.clone()).collect();
    for client in 1..=8 {
        assert!(intended.contains(&(client * SECOND / 8)), "client {client}");
    }
    let rows: usize = seen.rows().map(|rows| rows.client.len()).sum();
    assert_eq!(seen.recorded(Measure::Pacing), rows as u64);
    let at_end_of = |interval: usize| seen.0[interval].workloads[0].clients;
    assert!(
        at_end_of(1) <= 5 && at_end_of(6) == 8,
        "{} {}",
        at_end_of(1),
        at_end_of(6)
    );
    assert!(
        at_end_of(8) <= 6 && at_end_of(10) <= 2,
        "{} {}",
        at_end_of(8),
        at_end_of(10)
    );
}

#[test]
fn the_state_at_the_end_is_that_before_all_leave() {
    let address = answering(OK);
    let phases = json!([
        {"name": "up", "duration_ns": 200 * MS, "from": 0, "to": 7},
        {"name": "hold", "duration_ns": 300 * MS, "from": 7, "to": 7},
    ]);
    let slow = json!({"constant": {"ns": SECOND}});
    for load in [
        json!({"clients": 7}),
        json!({"clients": 7, "think": slow}),
        json!({"clients": 7, "phases": phases}),
        json!({"clients": 7, "phases": phases, "think": slow}),
    ] {
        let duration = if load["phases"].is_null() { 500 } else { 0 };
        let seen = run(one(
            workload(address, json!({"closed": load.clone()})),
            duration,
        ));
        let last = seen.0.last().unwrap();
        let state = &last.workloads[0];
        assert_eq!((state.clients, state.connections), (7, 7), "{load}");
        assert_eq!(last.end_ns, 500 * MS);
    }
}

#[test]
fn what_is_answered_after_a_stop_does_not_count() {
    let load = json!({"closed": {"clients": 8}});
    let handle = start(one(workload(answering(OK), load), 60_000)).unwrap();
    assert!(matches!(
        handle.next_interval(Duration::from_secs(20)),
        jostle_engine::Poll::Interval(_)
    ));
    handle.stop();
    let mut ends = Vec::new();
    let end = loop {
        match handle.next_interval(Duration::from_secs(20)) {
            jostle_engine::Poll::Interval(interval) => {
                assert!(interval.end_ns > interval.start_ns);
                ends.extend(interval.rows.end_ns.clone());
                if interval.last {
                    break interval.end_ns;
                }
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ends.iter().filter(|at| **at > end).count(), 0);
}

#[test]
fn stop_and_duration_end_a_run_whose_peers_are_stuck() {
    let address = serve(|mut stream| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    });
    let spec = one(
        workload(address, json!({"closed": {"clients": 20}})),
        10_000,
    );
    let handle = start(spec).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    handle.stop();
    let seen = Seen::of(&handle);
    assert!(
        asked.elapsed() < Duration::from_secs(4),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(seen.outcomes(), BTreeMap::from([("unfinished", 20)]));
    let (low, high) = seen.range_ms(Measure::Censored);
    assert!(low > 50.0 && high < 5000.0, "{low} {high}");
}

#[test]
fn intervals_that_nobody_fetches_are_merged_and_lose_nothing() {
    let load =
        json!({"closed": {"clients": 2, "requests": 200, "think": {"constant": {"ns": 10 * MS}}}});
    let spec = with(
        one(workload(answering(OK), load), 0),
        "",
        json!({"interval_ns": 10 * MS}),
    );
    let handle = start(spec).unwrap();
    std::thread::sleep(Duration::from_millis(1300));
    let seen = Seen::of(&handle);
    assert_eq!(seen.count(Outcome::Ok), 200);
    // Some 130 were cut before anybody fetched one; on a busy machine fewer.
    assert!(seen.0[0].end_ns > 10 * MS, "the oldest are one");
}

#[test]
fn a_client_that_cannot_connect_backs_off() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let seen = run(one(
        workload(closed, json!({"closed": {"clients": 1}})),
        300,
    ));
    // 10 + 20 + 40 + 80 + 160 ms.
    assert!(
        (1..=6).contains(&seen.count(Outcome::ConnectRefused)),
        "{:?}",
        seen.outcomes()
    );
    assert!(seen.sum(0, |state| state.backoffs) >= 1);
}

#[test]
fn a_mix_is_chosen_by_weight_or_in_sequence_and_parameters_are_filled() {
    let address = serve(|mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let path = request.split(' ').nth(1).unwrap().to_owned();
            let response = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}",
                path.len()
            );
            stream.write_all(response.as_bytes()).await.ok();
        }
    });
    let requests = json!([
        {"name": "often", "weight": 9, "method": "GET", "path": "/often/{n}", "params": {"n": {"range": {"from": 3, "to": 3}}},
         "expect": {"body": {"exact": "/often/3"}}},
        {"name": "seldom", "weight": 1, "method": "GET", "path": "/seldom/{word}", "params": {"word": {"choice": ["a", "b"]}},
         "expect": {"body": {"contains": "/seldom/"}}},
    ]);
    let load = json!({"closed": {"clients": 3, "requests": 2000}});
    let spec = with(
        one(workload(address, load), 0),
        "/workloads/0",
        json!({"requests": requests}),
    );
    let count = |spec, request| {
        let seen = run(spec);
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 2000)]));
        seen.series(0)
            .filter(|series| series.request == request)
            .map(|s| s.outcomes[0])
            .sum::<u64>()
    };
    let seldom = count(spec.clone(), 1);
    assert!(
        (120..280).contains(&seldom),
        "{seldom} of 2000 by weight 1 in 10"
    );
    assert_eq!(seldom, count(spec.clone(), 1), "the seed decides");
    let load = json!({"closed": {"clients": 4, "requests": 2000, "requests_per_client": 500}});
    let spec = with(
        spec,
        "/workloads/0",
        json!({"order": "sequence", "load": load}),
    );
    assert_eq!(count(spec, 1), 1000);
}

/// A server that answers everything and keeps the paths, in the order in which they came.
fn keeping_paths() -> (std::net::SocketAddr, Arc<Mutex<Vec<String>>>) {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let kept = paths.clone();
    let address = serve(move |mut stream| {
        let kept = kept.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let path = request.split(' ').nth(1).unwrap().to_owned();
                kept.lock().unwrap().push(path);
                stream.write_all(OK).await.ok();
            }
        }
    });
    (address, paths)
}

#[test]
fn values_in_turn_are_dealt_out_over_all_clients() {
    for (clients, threads) in [(8, 2), (1, 2), (3, 4)] {
        let (address, paths) = keeping_paths();
        let request = json!([{"name": "row", "method": "GET", "path": "/{row}",
                              "params": {"row": {"in-turn": ["a", "b", "c", "d"]}}}]);
        let load = json!({"closed": {"clients": clients, "requests": 400}});
        let spec = one(workload(address, load), 0);
        let spec = with(spec, "/workloads/0", json!({"requests": request}));
        run(with(spec, "", json!({"threads": threads})));
        let mut counts = BTreeMap::<String, u64>::new();
        for path in paths.lock().unwrap().iter() {
            *counts.entry(path.clone()).or_default() += 1;
        }
        assert_eq!(counts.len(), 4, "{clients} clients on {threads} threads");
        assert!(counts.values().all(|count| *count == 100), "{counts:?}");
    }
}

#[test]
fn every_request_of_a_sequence_takes_its_own_values_in_turn() {
    let (address, paths) = keeping_paths();
    let users = json!({"in-turn": ["a", "b", "c", "d"]});
    let requests = json!([
        {"name": "login", "method": "GET", "path": "/login/{user}", "params": {"user": users}},
        {"name": "any", "method": "GET", "path": "/{n}", "params": {"n": {"range": {"from": 1, "to": 9}}}},
        {"name": "pair", "method": "GET", "path": "/{user}/{user}{other}",
         "params": {"user": users, "other": {"in-turn": ["1", "2", "3", "4"]}}},
    ]);
    let load = json!({"closed": {"clients": 1, "requests": 12}});
    let spec = one(workload(address, load), 0);
    let change = json!({"requests": requests, "order": "sequence"});
    run(with(spec, "/workloads/0", change));
    let paths = paths.lock().unwrap();
    let of = |turn: usize| paths[turn..].iter().step_by(3).collect::<Vec<_>>();
    assert_eq!(of(0), ["/login/a", "/login/b", "/login/c", "/login/d"]);
    assert_eq!(of(2), ["/a/a1", "/b/b2", "/c/c3", "/d/d4"]);
}
