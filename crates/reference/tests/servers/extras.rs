//! What goes with any discipline: limits, pauses, caches, connections that end.

use crate::client::{Client, End, Server};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// Clients that have each asked for `target`, at about the same time.
fn crowd(server: &Server, size: usize, target: &str) -> Vec<Client> {
    let mut clients: Vec<_> = (0..size).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
    clients
}

fn demand_us(server: &Server, target: &str) -> u64 {
    (server.get(target).timing("demand") * 1e3).round() as u64
}

#[test]
fn who_finds_the_queue_full_gets_503_and_may_ask_again() {
    let server = Server::start("run-to-completion --queue 1");
    let mut clients = crowd(&server, 3, "/work?us=200000");
    let mut statuses: Vec<_> = clients
        .iter_mut()
        .map(|client| client.response(true).status())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503]);
    for client in &mut clients {
        client.send("GET /fast/3 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!([200, 503].contains(&client.response(true).status()));
    }
}

#[test]
fn who_finds_the_queue_full_is_reset_or_never_answered() {
    for (full, expected) in [("reset", End::Reset), ("silence", End::Silent)] {
        let server = Server::start(&format!("workers --workers 2 --queue 0 --full {full}"));
        let mut ends: Vec<(usize, End)> = crowd(&server, 3, "/work?us=150000")
            .iter_mut()
            .map(|client| client.listen(Duration::from_millis(400), usize::MAX))
            .map(|(bytes, end)| (bytes.len(), end))
            .collect();
        ends.sort_by_key(|(bytes, _)| *bytes);
        assert_eq!(ends[0], (0, expected), "{full}");
        assert!(ends[1].0 > 0 && ends[2].0 > 0, "{full}: two are answered");
    }
}

#[test]
fn a_bucket_lets_a_burst_pass_and_refuses_the_rest() {
    let server = Server::start("processor-sharing --bucket 0.001/s:2");
    let statuses = [(); 4].map(|()| server.get("/fast/2").status());
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[test]
fn service_stands_still_in_pauses() {
    let server = Server::start("run-to-completion --pause 100ms:90ms");
    // in every 100 ms there are 10 of service, so two pieces of it have a pause between them
    let sojourn = server.get("/work?us=20000").timing("sojourn");
    assert!((110.0..=300.0).contains(&sojourn), "{sojourn}");
}

#[test]
fn who_demands_nothing_in_a_pause_is_answered_after_it() {
    let server = Server::start("run-to-completion --pause 20ms:19ms");
    for _ in 0..5 {
        let sojourn = server.get("/work?us=0").timing("sojourn");
        assert!((0.0..=40.0).contains(&sojourn), "{sojourn}");
    }
}

#[test]
fn who_is_turned_away_neither_fills_the_cache_nor_warms_the_server() {
    let server = Server::start("run-to-completion --queue 0 --cache --cold 2:3x");
    let mut first = crowd(&server, 1, "/work?us=100000");
    assert_eq!(server.get("/nope").status(), 404); // what was sent before has come
    assert_eq!(server.get("/work?us=500").status(), 503);
    assert_eq!(first[0].response(true).body, "100000");
    let demands = [(); 2].map(|()| demand_us(&server, "/work?us=500"));
    assert_eq!(demands, [1500, 5]);
}

#[test]
fn only_as_many_wait_at_once_as_the_pool_holds() {
    let server = Server::start("run-to-completion --pool 1");
    let mut clients = crowd(&server, 2, "/sleep?ms=100");
    let sojourns = clients
        .iter_mut()
        .map(|client| client.response(true).timing("sojourn"));
    let longest = sojourns.fold(0.0, f64::max);
    assert!(longest > 100.1, "{longest}");
}

#[test]
fn the_first_requests_of_a_cold_server_take_longer() {
    let server = Server::start("lifo --cold 2:3x");
    let demands = [(); 3].map(|()| demand_us(&server, "/work?us=1000"));
    assert_eq!(demands, [3000, 3000, 1000]);
}

#[test]
fn a_path_in_the_cache_is_not_computed_again() {
    let server = Server::start("round-robin --cache");
    let demand = |target| demand_us(&server, target);
    assert_eq!(
        ["/work?us=900", "/work?us=900", "/work?us=800"].map(demand),
        [900, 5, 800]
    );
    assert_eq!(server.get("/work?us=900").body, "900");
}

#[test]
fn connections_end_when_they_are_idle_or_have_carried_enough() {
    let server = Server::start("workers --idle 20ms");
    let mut client = server.connect();
    client.send("GET /fast/2 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.response(true).body, "4");
    assert_eq!(client.listen(PATIENCE, 0), (Vec::new(), End::Closed));

    let server = Server::start("workers --requests 2");
    let mut client = server.connect();
    let said = [(); 2].map(|()| {
        client.send("GET /fast/2 HTTP/1.1\r\nHost: a\r\n\r\n");
        let response = client.response(true);
        response.header("Connection").map(str::to_owned)
    });
    assert_eq!(said, [None, Some("close".to_owned())]);
    assert_eq!(client.listen(PATIENCE, 0), (Vec::new(), End::Closed));
}

#[test]
fn a_response_in_two_writes_is_a_whole_one() {
    let server = Server::start("run-to-completion --two-writes");
    let mut client = server.connect();
    client.send(
        "GET /hello HTTP/1.1\r\n\r\nHEAD /hello HTTP/1.1\r\n\r\nGET /fast/9 HTTP/1.1\r\n\r\n",
    );
    assert_eq!(client.response(true).body.len(), 1024);
    assert_eq!(
        client.response(false).header("Content-Length"),
        Some("1024")
    );
    assert_eq!(client.response(true).body, "81");
}

#[test]
fn a_request_whose_client_has_gone_is_not_begun() {
    let server = Server::start("run-to-completion --drop-gone");
    let arrived = || assert_eq!(server.get("/nope").status(), 404); // what was sent before has come
    let mut first = crowd(&server, 1, "/work?us=300000");
    arrived();
    let quitter = crowd(&server, 1, "/work?us=60000000");
    arrived();
    drop(quitter);
    arrived();
    assert_eq!(server.get("/fast/3").body, "9");
    assert_eq!(first[0].response(true).body, "300000");
}

#[test]
fn who_goes_before_its_turn_neither_fills_the_cache_nor_warms_the_server() {
    let server = Server::start("run-to-completion --drop-gone --cache --cold 2:3x");
    let arrived = || assert_eq!(server.get("/nope").status(), 404); // what was sent before has come
    let first = crowd(&server, 1, "/work?us=300000");
    arrived();
    let quitter = crowd(&server, 1, "/work?us=500");
    arrived();
    drop((first, quitter));
    arrived();
    let demands = ["/work?us=500", "/work?us=300000"].map(|target| demand_us(&server, target));
    assert_eq!(demands, [1500, 5], "the first one was in service");
}
