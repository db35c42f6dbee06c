//! Several generators with a share each are together the generator that bears the whole load.

use std::sync::{Arc, Mutex};

use crate::support::*;
use jostle_engine::outcome::Outcome;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// Side by side, one generator for each share.
fn shared(spec: &Value, of: usize) -> Vec<Seen> {
    let share = |index| {
        with(
            spec.clone(),
            "",
            json!({"share": {"index": index, "of": of}}),
        )
    };
    let runs: Vec<_> = (0..of).map(|index| start(share(index)).unwrap()).collect();
    runs.iter().map(Seen::of).collect()
}

/// What is the same in every run of the plan: when requests were due and by which client they were sent.
fn due(generators: &[Seen]) -> Vec<u64> {
    let rows = generators.iter().flat_map(Seen::rows);
    let mut due: Vec<u64> = rows.flat_map(|rows| rows.intended_ns.clone()).collect();
    due.sort_unstable();
    due
}

#[test]
fn arrivals_are_those_of_one_generator() {
    let address = answering(OK);
    for (arrivals, connections, of) in [
        ("constant", 50, 3),
        ("poisson", 50, 2),
        ("poisson", 7, 5),
        ("constant", 1, 2),
    ] {
        let rates = json!([
            {"duration_ns": 200 * MS, "from": 100.0, "to": 2000.0},
            {"from": 1000.0, "to": 1000.0},
        ]);
        let open = json!({"arrivals": arrivals, "rates": rates, "max_connections": connections});
        let spec = one(workload(address, json!({"open": open})), 500);
        let alone = due(&[run(spec.clone())]);
        assert!(alone.len() > 300, "{}", alone.len());
        assert_eq!(
            due(&shared(&spec, of)),
            alone,
            "{arrivals}, {connections} connections, {of} generators"
        );
    }
}

#[test]
fn clients_and_requests_add_up_and_no_client_is_there_twice() {
    let address = answering(OK);
    for (clients, requests) in [(1, 10), (7, 100), (16, 1003)] {
        let load = json!({"closed": {"clients": clients, "requests": requests}});
        let generators = shared(&one(workload(address, load), 0), 3);
        let ok: Vec<u64> = generators
            .iter()
            .map(|seen| seen.count(Outcome::Ok))
            .collect();
        assert_eq!(
            ok.iter().sum::<u64>(),
            requests,
            "{clients} clients: {ok:?}"
        );
        let mut seen: Vec<u32> = Vec::new();
        for generator in &generators {
            let mut own: Vec<u32> = generator.rows().flat_map(|r| r.client.clone()).collect();
            own.sort_unstable();
            own.dedup();
            seen.append(&mut own);
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..clients).collect::<Vec<u32>>());
    }
}

#[test]
fn values_in_turn_are_dealt_once() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let told = paths.clone();
    let address = serve(move |mut stream| {
        let told = told.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let path = request.split(' ').nth(1).unwrap().to_owned();
                told.lock().unwrap().push(path);
                stream.write_all(OK).await.ok();
            }
        }
    });
    let values: Vec<String> = (0..600).map(|value| value.to_string()).collect();
    let open = json!({"arrivals": "constant", "rates": [{"from": 2000.0, "to": 2000.0}], "requests": 600,
                      "max_connections": 30});
    let spec = with(
        one(workload(address, json!({"open": open})), 0),
        "/workloads/0/requests/0",
        json!({"path": "/{id}", "params": {"id": {"in-turn": values}}}),
    );
    for generator in shared(&spec, 3) {
        assert_eq!(generator.count(Outcome::Ok), 200);
    }
    let mut asked = std::mem::take(&mut *paths.lock().unwrap());
    asked.sort_unstable_by_key(|path| path[1..].parse::<u64>().unwrap());
    assert_eq!(
        asked,
        (0..600)
            .map(|value| format!("/{value}"))
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_share_of_nothing_is_refused() {
    let load = json!({"closed": {"clients": 2, "requests": 2}});
    let spec = one(workload(answering(OK), load), 0);
    let refused = start(with(spec, "", json!({"share": {"index": 2, "of": 2}})));
    assert!(refused.unwrap_err().to_string().contains("2 of 2"));
}
