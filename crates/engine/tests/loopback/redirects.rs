//! Redirects: followed where that is asked for, each a request of its own.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::*;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

type Requests = Arc<Mutex<Vec<String>>>;

/// Redirects each path to the other one of its pair in `routes`, and answers all others with `OK`; with the requests
/// that it saw. `head`: what else stands in the head of a redirect.
fn redirecting(
    status: u16,
    routes: &'static [(&'static str, &'static str)],
    head: &'static str,
) -> (SocketAddr, Requests) {
    let seen = Requests::default();
    let log = seen.clone();
    let address = serve(move |mut stream| {
        let log = log.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let path = request.split(' ').nth(1).unwrap().to_owned();
                log.lock().unwrap().push(request);
                let to = routes.iter().find(|(from, _)| *from == path);
                let response = match to {
                    None => OK.to_vec(),
                    Some((_, to)) => format!(
                        "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\n{head}Content-Length: 4\r\n\r\ngone"
                    )
                    .into_bytes(),
                };
                stream.write_all(&response).await.ok();
                if head.contains("close") && to.is_some() {
                    return;
                }
            }
        }
    });
    (address, seen)
}

fn following(address: SocketAddr, requests: u64, rule: Value) -> Value {
    let load = json!({"closed": {"clients": 1, "requests": requests}});
    let spec = one(workload(address, load), 0);
    with(spec, "/workloads/0", json!({"redirects": rule}))
}

fn paths(requests: &Requests) -> Vec<String> {
    let line = |request: &String| request.lines().next().unwrap().to_owned();
    requests.lock().unwrap().iter().map(line).collect()
}

fn statuses(seen: &Seen) -> Vec<u16> {
    seen.rows().flat_map(|rows| rows.status.clone()).collect()
}

#[test]
fn each_redirect_leads_to_a_request_of_its_own_and_the_last_response_is_checked() {
    let (address, requests) = redirecting(302, &[("/", "/a"), ("/a", "b?c")], "");
    let expect = json!({"expect": {"status": [200], "body": {"exact": "hello"}}});
    let spec = with(
        following(address, 2, json!({"most": 5})),
        "/workloads/0/requests/0",
        expect,
    );
    let seen = run(spec);
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 6)]));
    assert_eq!(seen.sum(0, |state| state.redirects), 4);
    assert_eq!(seen.sum(0, |state| state.due), 6);
    assert_eq!(seen.sum(0, |state| state.connects), 1);
    assert_eq!(statuses(&seen), [302, 302, 200, 302, 302, 200]);
    assert_eq!(
        paths(&requests)[..3],
        ["GET / HTTP/1.1", "GET /a HTTP/1.1", "GET /b?c HTTP/1.1"]
    );
    for rows in seen.rows() {
        for (next, before) in rows.intended_ns.iter().skip(1).zip(&rows.end_ns) {
            assert!(
                next >= before,
                "a request begins when the one before has ended"
            );
        }
    }
}

#[test]
fn redirects_are_responses_where_nobody_follows_them() {
    let (address, _) = redirecting(302, &[("/", "/a")], "");
    let seen = run(following(address, 3, Value::Null));
    assert_eq!(statuses(&seen), [302; 3]);
    assert_eq!(seen.sum(0, |state| state.redirects), 0);
}

#[test]
fn a_redirect_without_location_is_a_response() {
    let response = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n";
    let seen = run(following(answering(response), 3, json!({"most": 5})));
    assert_eq!(statuses(&seen), [302; 3]);
}

#[test]
fn an_empty_location_leads_nowhere_so_that_its_response_is_one_like_any_other() {
    let response = b"HTTP/1.1 302 Found\r\nLocation:\r\nContent-Length: 0\r\n\r\n";
    let seen = run(following(answering(response), 3, json!({"most": 5})));
    assert_eq!(statuses(&seen), [302; 3]);
    assert_eq!(seen.outcomes(), ok(3));
}

#[test]
fn two_different_locations_are_a_failure_that_names_both() {
    let (address, requests) = redirecting(302, &[("/", "/a")], "location: /b\r\n");
    let seen = run(following(address, 2, json!({"most": 5})));
    let why = "two Location lines lead to different places: /a and /b".to_owned();
    assert_eq!(
        seen.failures(),
        BTreeMap::from([(("redirect_failed", why), 2)])
    );
    assert_eq!(paths(&requests), ["GET / HTTP/1.1"; 2]);
    let (address, requests) = redirecting(302, &[("/", "/a")], "location: /a\r\n");
    assert_eq!(
        run(following(address, 1, json!({"most": 5}))).outcomes(),
        ok(2)
    );
    assert_eq!(paths(&requests), ["GET / HTTP/1.1", "GET /a HTTP/1.1"]);
}

#[test]
fn statuses_that_are_no_order_to_go_elsewhere_are_responses() {
    for status in [201, 300, 304, 305, 306] {
        let (address, requests) = redirecting(status, &[("/", "/a")], "");
        run(following(address, 1, json!({"most": 5})));
        assert_eq!(paths(&requests), ["GET / HTTP/1.1"], "{status}");
    }
}

#[test]
fn a_host_in_other_letters_is_the_one_that_browsers_would_ask() {
    for (to, host) in [
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://B%C3%9Ccher.example/", "xn--bcher-kva.example"),
        ("//faß.example:81/", "xn--fa-hia.example:81"),
    ] {
        let routes: &'static [_] = Box::leak(Box::new([("/", to)]));
        let (address, _) = redirecting(302, routes, "");
        let seen = run(following(address, 1, json!({"most": 5})));
        let why = format!("to http://{host}, which may not be loaded");
        assert_eq!(
            seen.failures(),
            BTreeMap::from([(("redirect_failed", why), 1)])
        );
    }
}

#[test]
fn a_loop_ends_as_a_failure_of_its_own() {
    let (address, _) = redirecting(302, &[("/", "/a"), ("/a", "/")], "");
    let seen = run(following(address, 2, json!({"most": 3})));
    let expected = BTreeMap::from([("ok", 6), ("redirect_failed", 2)]);
    assert_eq!(seen.outcomes(), expected);
    let why = ("redirect_failed", "more than 3 redirects".to_owned());
    assert_eq!(seen.failures(), BTreeMap::from([(why, 2)]));
}

#[test]
fn a_redirect_may_lead_to_another_server_only_where_that_is_allowed() {
    let (other, requests) = redirecting(302, &[], "");
    let to: &'static str =
        Box::leak(format!("http://localhost:{}/x", other.port()).into_boxed_str());
    let routes: &'static [_] = Box::leak(Box::new([("/", to)]));
    let (address, _) = redirecting(307, routes, "");
    let secret = json!({"headers": [["Authorization", "Bearer s"], ["Accept", "text/html"]]});
    let spec = |hosts: &[&str]| {
        let spec = following(address, 2, json!({"most": 5, "hosts": hosts}));
        with(spec, "/workloads/0/requests/0", secret.clone())
    };
    let refused = run(spec(&[]));
    assert_eq!(refused.outcomes(), BTreeMap::from([("redirect_failed", 2)]));
    let (why, _) = refused.failures().pop_first().unwrap();
    assert!(why.1.ends_with("which may not be loaded"), "{why:?}");
    assert!(requests.lock().unwrap().is_empty());

    let seen = run(spec(&["localhost"]));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
    // Its own connection stays, and each way to the other server has one.
    assert_eq!(seen.sum(0, |state| state.connects), 3);
    let requests = requests.lock().unwrap();
    let expected = format!("GET /x HTTP/1.1\r\nHost: localhost:{}\r\n", other.port());
    assert!(requests[0].starts_with(&expected), "{}", requests[0]);
    assert!(requests[0].contains("Accept: text/html") && !requests[0].contains("Authorization"));
}

#[test]
fn a_server_that_closes_with_its_redirect_is_connected_to_again() {
    let (address, _) = redirecting(301, &[("/", "/a")], "Connection: close\r\n");
    let seen = run(following(address, 2, json!({"most": 5})));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
    assert_eq!(seen.sum(0, |state| state.connects), 3);
}

#[test]
fn a_relative_location_is_relative_to_the_path_as_it_was_sent() {
    let (address, requests) = redirecting(303, &[("/items/7", "detail")], "");
    let change = json!({
        "method": "POST", "path": "/items/{id}", "params": {"id": {"choice": ["7"]}},
    });
    let spec = following(address, 1, json!({"most": 5}));
    run(with(spec, "/workloads/0/requests/0", change));
    let expected = ["POST /items/7 HTTP/1.1", "GET /items/detail HTTP/1.1"];
    assert_eq!(paths(&requests), expected);
}

#[test]
fn in_an_open_loop_redirects_delay_nobody_else() {
    let (address, _) = redirecting(302, &[("/", "/a")], "");
    let load = json!({"open": {
        "arrivals": "constant", "rates": [{"from": 1000.0, "to": 1000.0}], "requests": 20, "max_connections": 5,
    }});
    let spec = one(workload(address, load), 0);
    let seen = run(with(
        spec,
        "/workloads/0",
        json!({"redirects": {"most": 1}}),
    ));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 40)]));
    assert_eq!(seen.sum(0, |state| state.redirects), 20);
}

#[test]
fn zero_redirects_are_written_by_leaving_them_out() {
    let (address, _) = redirecting(302, &[], "");
    let Err(error) = start(following(address, 1, json!({"most": 0}))) else {
        panic!("it started");
    };
    assert!(error.to_string().contains("redirects.most"), "{error}");
}

#[test]
fn the_last_request_of_a_client_leaves_its_connection_to_the_redirect() {
    let (address, requests) = redirecting(302, &[("/", "/a")], "");
    let load = json!({"load": {"closed": {"clients": 1, "requests_per_client": 2}}});
    let spec = following(address, 1, json!({"most": 1}));
    let seen = run(with(spec, "/workloads/0", load));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
    assert_eq!(seen.sum(0, |state| state.connects), 1);
    let requests = requests.lock().unwrap();
    assert!(requests.iter().all(|r| !r.contains("Connection: close")));
}
