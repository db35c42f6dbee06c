//! Steps that are sent together over HTTP/2: streams of a client's one connection.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::http2::{Responder, hello, over_http2, serving};
use crate::support::*;
use h2::RecvStream;
use h2::server::Builder;
use http::Request;
use serde_json::{Value, json};

/// Journeys of a group of three and a step after it.
fn on_pages(spec: Value, steps: usize) -> Value {
    let request = |number: usize| {
        json!({"name": number.to_string(), "method": "GET", "path": format!("/{number}/{{client}}"),
            "params": {"client": "client"}, "fill": "text"})
    };
    let step = |number: usize| json!({"request": number, "together": number == 1 || number == 2});
    let requests: Vec<_> = (0..steps).map(request).collect();
    let steps: Vec<_> = (0..steps).map(step).collect();
    let change = json!({"requests": requests, "journeys": [{"name": "page", "steps": steps}]});
    with(spec, "", change)
}

/// Connections with their clients.
type Asked = Arc<Mutex<Vec<(usize, String)>>>;

/// Answers a client's group only when all of it is there on the same connection.
fn pages() -> (SocketAddr, Asked) {
    type Waiting = RefCell<BTreeMap<String, Vec<Responder>>>;
    let seen = Asked::default();
    let (log, opened) = (seen.clone(), AtomicUsize::new(0));
    let begin = move || (opened.fetch_add(1, Ordering::Relaxed), Waiting::default());
    let response = move |state: Rc<(usize, Waiting)>, request: Request<RecvStream>, respond| {
        let path = request.uri().path().to_owned();
        let (number, client) = path[1..].split_once('/').unwrap();
        log.lock().unwrap().push((state.0, client.to_owned()));
        if number == "3" {
            hello(respond);
        } else {
            let mut waiting = state.1.borrow_mut();
            let group = waiting.entry(client.to_owned()).or_default();
            group.push(respond);
            if group.len() == 3 {
                group.drain(..).for_each(hello);
            }
        }
        std::future::ready(())
    };
    (serving(Builder::new(), begin, response), seen)
}

#[test]
fn steps_that_are_sent_together_are_streams_of_one_connection() {
    for (http2, clients, connections) in [
        (json!({}), 3, 3),
        (json!({"connections": 2}), 3, 2),
        (json!({"connections": 1}), 4, 1),
    ] {
        let (address, seen_by_server) = pages();
        let load = json!({"closed": {"clients": clients, "requests_per_client": 2}});
        let spec = on_pages(over_http2(address, http2, load), 4);
        let seen = run(with(one(spec, 0), "", json!({"threads": 1})));
        assert_eq!(seen.outcomes(), ok(8 * clients));
        assert_eq!(seen.sum(0, |state| state.connects), connections);
        let seen_by_server = seen_by_server.lock().unwrap();
        let places: BTreeMap<_, _> = seen_by_server
            .iter()
            .map(|(connection, client)| (client, connection))
            .collect();
        assert!(
            seen_by_server
                .iter()
                .all(|(connection, client)| places[client] == connection),
            "a client has one connection"
        );
    }
}

#[test]
fn at_a_rate_groups_go_over_the_connections_of_the_pool() {
    let (address, _) = pages();
    let rates = json!([{"from": 100.0, "to": 100.0}]);
    let load = json!({"open": {"arrivals": "constant", "rates": rates, "requests": 6, "max_connections": 2}});
    let seen = run(one(on_pages(over_http2(address, json!({}), load), 4), 0));
    assert_eq!(seen.outcomes(), ok(24));
    assert!(seen.sum(0, |state| state.connects) <= 2);
}

#[test]
fn who_is_sent_together_waits_for_a_free_stream_and_that_is_recorded_apart() {
    let mut one_at_a_time = Builder::new();
    one_at_a_time.max_concurrent_streams(1);
    let begin = || Cell::new(0);
    let address = serving(
        one_at_a_time,
        begin,
        move |open: Rc<Cell<usize>>, _, respond| {
            open.set(open.get() + 1);
            assert_eq!(open.get(), 1);
            async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                open.set(open.get() - 1);
                hello(respond);
            }
        },
    );
    // The first journey tells how many streams the server takes.
    let load = json!({"closed": {"clients": 1, "requests": 1}});
    let spec = on_pages(over_http2(address, json!({}), load), 4);
    let first = json!({"request": 3});
    let rest = [
        json!({"request": 0}),
        json!({"request": 1, "together": true}),
        json!({"request": 2, "together": true}),
    ];
    let spec = with(
        spec,
        "/journeys/0",
        json!({"steps": [first, rest[0], rest[1], rest[2]]}),
    );
    let seen = run(one(spec, 0));
    assert_eq!(seen.outcomes(), ok(4));
    assert_eq!(seen.sum(0, |state| state.stream_waits), 2);
    let waited = seen.sum(0, |state| state.stream_wait_ns);
    assert!(
        waited >= 25 * MS,
        "10 ms for one, and 20 for the other: {waited}"
    );
    let response: u128 = seen.series(0).map(|series| series.response_sum_ns).sum();
    let service: u128 = seen.series(0).map(|series| series.service_sum_ns).sum();
    assert!(
        response >= service + u128::from(waited),
        "both count from when they were due"
    );
}

#[test]
fn all_of_a_group_have_the_failure_of_their_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let load = json!({"closed": {"clients": 1, "requests": 1}});
    let seen = run(one(on_pages(over_http2(address, json!({}), load), 3), 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_refused", 3)]));
}

#[test]
fn groups_that_cannot_be_are_refused_over_http2() {
    let (address, _) = pages();
    let load = json!({"closed": {"clients": 1, "requests": 1}});
    let spec = on_pages(over_http2(address, json!({}), load), 4);
    for (place, change, problem) in [
        (
            "/journeys/0",
            json!({"connections": 6}),
            "are streams of one connection",
        ),
        (
            "/load/closed",
            json!({"requests_per_connection": 2}),
            "requests_per_connection does not go with",
        ),
    ] {
        let refused = start(one(with(spec.clone(), place, change), 0))
            .err()
            .unwrap();
        assert!(refused.to_string().contains(problem), "{refused}");
    }
}
