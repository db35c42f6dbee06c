//! Journeys: what is carried on, in which order, and how it is recorded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::{MS, Seen, answering_with, one, run, start, with, workload};
use jostle_engine::interval::JourneyMeasure;
use jostle_engine::outcome::Outcome;
use jostle_engine::spec::FeedRows;
use serde_json::{Value, json};

fn ok(headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A shop: a login gives a token and a cookie, a search finds item 7 or nothing, orders are taken; all requests, as
/// they came.
fn shop() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    answering_with(async |request| response(request))
}

fn response(request: &str) -> String {
    match request.split(' ').nth(1).unwrap() {
        "/login" => ok(
            "Set-Cookie: sid=abc; Path=/\r\n",
            r#"{"user": {"token": "t\"1"}}"#,
        ),
        path if path.starts_with("/search?q=nothing") => ok("", "sold out"),
        path if path.starts_with("/search") => ok("", "<a href=item/7>"),
        _ => ok("", "{}"),
    }
}

fn request(name: &str, method: &str, path: &str, change: Value) -> Value {
    let spec =
        json!({"name": name, "method": method, "path": path, "fill": "json", "cookies": true});
    with(spec, "", change)
}

fn rows(values: &[&str]) -> FeedRows {
    values.iter().copied().collect()
}

/// A login once for each client, a search, and an order of what was found; `change` of the workload.
fn buying(address: SocketAddr, load: Value) -> Value {
    let body = "eyJuYW1lIjoie3VzZXJ9In0="; // {"name":"{user}"}
    with(
        workload(address, load),
        "",
        json!({
            "slots": 6,
            "requests": [
                request("login", "POST", "/login", json!({"body_base64": body, "params": {"user": {"slot": {"slot": 3}}}})),
                request("search", "GET", "/search?q={word}", json!({"params": {"word": {"slot": {"slot": 4}}}})),
                request("order", "POST", "/orders/{id}", json!({
                    "headers": [["Authorization", "Bearer {token}"]],
                    "params": {"id": {"slot": {"slot": 1}}, "token": {"slot": {"slot": 0}}},
                })),
            ],
            "journeys": [{
                "name": "buy",
                "steps": [
                    {"request": 0, "once": 2, "capture": [{"name": "token", "slot": 0, "from": {"json": "/user/token"}}]},
                    {"request": 1, "capture": [{"name": "id", "slot": 1, "from": {"regex": "item/(\\d+)"}}],
                     "on_capture_failed": "ignore"},
                    {"request": 2, "when": {"value": {"slot": {"slot": 1}}, "test": "exists"}, "repeat": 2},
                ],
                "feeds": [
                    {"each": "client", "order": "in-turn", "columns": [3], "rows": rows(&["ann \"a\"", "bob"])},
                    {"each": "iteration", "order": "in-turn", "columns": [4], "rows": rows(&["a&b", "nothing"])},
                ],
            }],
        }),
    )
}

fn journeys(seen: &Seen) -> (u64, u64, Vec<(u32, Outcome, u64)>) {
    let all = seen.0.iter().flat_map(|interval| &interval.journeys);
    all.fold(
        (0, 0, Vec::new()),
        |(completed, unfinished, mut ended), one| {
            ended.extend(one.ended.iter().copied());
            (
                completed + one.completed,
                unfinished + one.unfinished,
                ended,
            )
        },
    )
}

fn requests_of(seen: &Seen, workload: usize, request: u32) -> u64 {
    let series = seen
        .series(workload)
        .filter(|series| series.request == request);
    series
        .map(|series| series.outcomes.iter().sum::<u64>())
        .sum()
}

#[test]
fn what_a_response_gives_goes_into_the_requests_that_follow() {
    let (address, requests) = shop();
    let load = json!({"closed": {"clients": 1, "requests_per_client": 2}});
    let seen = run(with(
        one(buying(address, load), 0),
        "",
        json!({"threads": 1}),
    ));
    let requests = requests.lock().unwrap().clone();
    let lines: Vec<&str> = requests
        .iter()
        .map(|request| request.lines().next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "POST /login HTTP/1.1",
            "GET /search?q=a%26b HTTP/1.1",
            "POST /orders/7 HTTP/1.1",
            "POST /orders/7 HTTP/1.1",
            "GET /search?q=nothing HTTP/1.1",
        ]
    );
    let body = "Content-Length: 20\r\n\r\n{\"name\":\"ann \\\"a\\\"\"}";
    assert!(requests[0].ends_with(body), "{}", requests[0]);
    assert!(!requests[0].contains("Cookie"));
    assert!(
        requests[2].contains("Authorization: Bearer t\"1\r\nCookie: sid=abc\r\n"),
        "{}",
        requests[2]
    );
    assert_eq!(journeys(&seen), (2, 0, vec![]));
    assert_eq!(seen.count(Outcome::Ok), 4);
}

#[test]
fn what_every_client_does_once_is_recorded_apart() {
    let (address, requests) = shop();
    let load = json!({"closed": {"clients": 4, "requests_per_client": 3}});
    let seen = run(one(buying(address, load), 0));
    assert_eq!(requests_of(&seen, 1, 0), 4);
    assert_eq!(
        (requests_of(&seen, 0, 0), requests_of(&seen, 0, 1)),
        (0, 12)
    );
    assert_eq!(journeys(&seen).0, 12);
    let requests = requests.lock().unwrap();
    let logins = requests.iter().filter(|request| request.contains("/login"));
    let by_name = |name: &str| {
        logins
            .clone()
            .filter(|request| request.contains(name))
            .count()
    };
    assert_eq!(
        (by_name("ann"), by_name("bob")),
        (2, 2),
        "rows are dealt out in turn"
    );
}

#[test]
fn a_capture_that_finds_nothing_ends_the_journey_and_says_so() {
    let (address, _) = shop();
    let load = json!({"closed": {"clients": 1, "requests_per_client": 4}});
    let spec = with(
        one(buying(address, load), 0),
        "/workloads/0/journeys/0/steps/1",
        json!({"on_capture_failed": "end"}),
    );
    let seen = run(spec);
    assert_eq!(seen.count(Outcome::CaptureFailed), 2);
    let text = "id: regex:item/(\\d+) found nothing".to_owned();
    assert_eq!(seen.failures()[&("capture_failed", text)], 2);
    let (completed, unfinished, ended) = journeys(&seen);
    assert_eq!((completed, unfinished), (2, 0));
    assert_eq!(ended.iter().map(|(_, _, count)| count).sum::<u64>(), 2);
    assert!(
        ended
            .iter()
            .all(|(step, outcome, _)| (*step, *outcome) == (1, Outcome::CaptureFailed))
    );
}

/// RFC 6265 section 5.4: never more than one Cookie header.
#[test]
fn the_cookies_of_a_step_and_those_of_its_client_stand_in_one_header() {
    let (address, requests) = shop();
    let load = json!({"closed": {"clients": 1, "requests_per_client": 1}});
    let own = json!({"headers": [["X", "y"], ["Cookie", "theme={client}"], ["cookie", "a=b"]], "params": {"client": "client"}});
    let change = json!({
        "slots": 1,
        "requests": [request("login", "POST", "/login", own.clone()), request("home", "GET", "/search?q=x", own)],
        "journeys": [{"name": "j", "steps": [{"request": 0}, {"request": 1}]}],
    });
    run(one(with(workload(address, load), "", change), 0));
    let requests = requests.lock().unwrap();
    let cookies = |request: &str| -> Vec<String> {
        let named = |line: &&str| line.to_ascii_lowercase().starts_with("cookie:");
        request.lines().filter(named).map(str::to_owned).collect()
    };
    assert_eq!(cookies(&requests[0]), ["Cookie: theme=1; a=b"]);
    assert_eq!(cookies(&requests[1]), ["Cookie: theme=1; a=b; sid=abc"]);
}

#[test]
fn a_failed_request_ends_the_journey_unless_it_goes_on() {
    let (address, requests) = shop();
    for (on_failure, sent) in [("end", 2), ("go-on", 6)] {
        let load = json!({"closed": {"clients": 1, "requests_per_client": 2}});
        let spec = one(buying(address, load), 0);
        let spec = with(
            spec,
            "/workloads/0/requests/0",
            json!({"expect": {"status": [201]}}),
        );
        let spec = with(
            spec,
            "/workloads/0/journeys/0/steps/0",
            json!({"on_failure": on_failure}),
        );
        let seen = run(spec);
        assert_eq!(
            requests_of(&seen, 1, 0),
            2,
            "it is tried again in the next journey"
        );
        assert_eq!(requests.lock().unwrap().drain(..).count(), sent);
        assert_eq!(journeys(&seen).2.len(), usize::from(on_failure == "end"));
    }
}

#[test]
fn the_time_of_a_journey_is_known_with_and_without_its_pauses() {
    let (address, _) = shop();
    let load = json!({"closed": {"clients": 1, "requests_per_client": 1}});
    let spec = with(
        one(buying(address, load), 0),
        "/workloads/0/journeys/0/steps/1",
        json!({"think": {"constant": {"ns": 60 * MS}}}),
    );
    let seen = run(spec);
    let series = seen
        .0
        .iter()
        .flat_map(|interval| &interval.journeys)
        .next()
        .unwrap();
    let us = |measure: JourneyMeasure| series.histograms[measure as usize].max();
    assert!(us(JourneyMeasure::Whole) >= us(JourneyMeasure::Active) + 59_900);
}

#[test]
fn journeys_that_the_end_cuts_off_are_unfinished() {
    let (address, _) = shop();
    let load = json!({"closed": {"clients": 3}});
    let spec = with(
        one(buying(address, load), 100),
        "/workloads/0/journeys/0/steps/1",
        json!({"think": {"constant": {"ns": 60_000 * MS}}}),
    );
    let (completed, unfinished, ended) = journeys(&run(spec));
    assert_eq!(
        (completed + unfinished, unfinished > 0, ended.len()),
        (3, true, 0)
    );
}

#[test]
fn in_an_open_load_journeys_begin_at_the_rate_and_know_nothing_of_each_other() {
    let (address, requests) = shop();
    let load = json!({"open": {"arrivals": "constant", "rates": [{"from": 500.0, "to": 500.0}], "requests": 20, "max_connections": 10}});
    let seen = run(one(buying(address, load), 0));
    assert_eq!(journeys(&seen).0, 20);
    assert_eq!(
        requests_of(&seen, 0, 0),
        20,
        "every arrival is a new client"
    );
    let requests = requests.lock().unwrap();
    assert!(
        requests
            .iter()
            .filter(|request| request.contains("/login"))
            .all(|request| !request.contains("Cookie:"))
    );
}

#[test]
fn a_feed_whose_rows_come_once_ends_the_load() {
    let (address, requests) = shop();
    let load = json!({"closed": {"clients": 3}});
    let spec = with(
        one(buying(address, load), 0),
        "/workloads/0/journeys/0/feeds/1",
        json!({"order": "once", "rows": rows(&["1", "2", "3", "4", "5"])}),
    );
    let spec = with(spec, "", json!({"duration_ns": 20_000 * MS}));
    let seen = run(spec);
    assert_eq!(journeys(&seen).0, 5);
    assert!(seen.0.last().unwrap().end_ns < 10_000 * MS);
    let requests = requests.lock().unwrap();
    for row in 1..=5 {
        let path = format!("/search?q={row} ");
        assert_eq!(
            requests
                .iter()
                .filter(|request| request.contains(&path))
                .count(),
            1
        );
    }
}

#[test]
fn a_traced_journey_shows_what_was_said() {
    let (address, _) = shop();
    let load = json!({"closed": {"clients": 1, "requests_per_client": 1}});
    let seen = run(with(
        one(buying(address, load), 0),
        "",
        json!({"trace": true}),
    ));
    let traces: Vec<_> = seen
        .0
        .iter()
        .flat_map(|interval| &interval.traces)
        .collect();
    assert_eq!(
        traces.iter().map(|trace| trace.step).collect::<Vec<_>>(),
        [0, 1, 2, 2]
    );
    assert!(traces[0].transcript.request.starts_with(b"POST /login"));
    assert!(
        traces[0]
            .transcript
            .head
            .starts_with(b"HTTP/1.1 200 OK\r\nSet-Cookie")
    );
    assert_eq!(traces[1].transcript.body, b"<a href=item/7>");
    assert_eq!(traces[1].captured, [("id".to_owned(), b"7".to_vec())]);
}

#[test]
fn journeys_that_cannot_be_are_refused() {
    let (address, _) = shop();
    let refused = |pointer: &str, change: Value| {
        let load = json!({"closed": {"clients": 1, "requests_per_client": 1}});
        let spec = with(one(buying(address, load), 0), pointer, change);
        start(spec).unwrap_err().to_string()
    };
    let steps = "/workloads/0/journeys/0/steps";
    assert!(refused(&format!("{steps}/1"), json!({"once": 5})).contains("go round without an end"));
    assert!(refused(&format!("{steps}/1"), json!({"request": 0})).contains("two steps"));
    assert!(refused(&format!("{steps}/1/capture/0"), json!({"slot": 6})).contains("not there"));
    assert!(
        refused(
            &format!("{steps}/1/capture/0"),
            json!({"from": {"regex": "("}})
        )
        .contains("capture \"id\"")
    );
    assert!(
        refused(
            "/workloads/0/journeys/0/feeds/0",
            json!({"rows": rows(&[])})
        )
        .contains("no rows")
    );
    assert!(refused("/workloads/0", json!({"journeys": []})).contains("parameter"));
}

#[test]
fn redirects_are_followed_with_cookies_and_captures_are_of_the_last_response() {
    let (address, requests) = answering_with(async |request| {
        match request.split(' ').nth(1).unwrap() {
        "/login" => "HTTP/1.1 302 Found\r\nLocation: /home\r\nSet-Cookie: sid=1\r\nContent-Length: 0\r\n\r\n".into(),
        _ => response("GET /search HTTP/1.1"),
    }
    });
    let load = json!({"closed": {"clients": 1, "requests_per_client": 1}});
    let change = json!({
        "slots": 2, "redirects": {"most": 3},
        "requests": [request("login", "POST", "/login", json!({
            "headers": [["X", "{client}"]], "params": {"client": "client"},
        }))],
        "journeys": [{"name": "j", "steps": [
            {"request": 0, "once": 1, "capture": [{"name": "id", "slot": 0, "from": {"regex": "item/(\\d+)"}}]},
        ]}],
    });
    let spec = with(
        one(with(workload(address, load), "", change), 0),
        "",
        json!({"trace": true}),
    );
    let spec = with(
        spec,
        "/workloads/0/journeys/0/steps/0",
        json!({"once": null}),
    );
    let seen = run(spec);
    let requests = requests.lock().unwrap();
    assert!(requests[1].starts_with("GET /home HTTP/1.1"));
    assert!(
        requests[1].contains("X: 1\r\n") && requests[1].contains("Cookie: sid=1\r\n"),
        "{}",
        requests[1]
    );
    assert_eq!(journeys(&seen).0, 1);
    let traces: Vec<_> = seen
        .0
        .iter()
        .flat_map(|interval| &interval.traces)
        .collect();
    assert_eq!(traces[1].captured, [("id".to_owned(), b"7".to_vec())]);
}

#[test]
fn steps_sent_together_of_which_none_applies_leave_what_was_due_to_the_next_step() {
    let (address, _seen) = shop();
    let load = json!({"open": {"arrivals": "constant", "rates": [{"from": 500.0, "to": 500.0}], "requests": 5, "max_connections": 5}});
    let found = json!({"value": {"slot": {"slot": 0}}, "test": "exists"});
    let page = |name: &str| request(name, "GET", "/", json!({}));
    let spec = with(
        workload(address, load),
        "",
        json!({
            "slots": 1,
            "requests": [page("a"), page("b"), page("c")],
            "journeys": [{
                "name": "page",
                "connections": 2,
                "steps": [{"request": 0, "when": found}, {"request": 1, "together": true, "when": found}, {"request": 2}],
            }],
        }),
    );
    let seen = run(one(spec, 0));
    assert_eq!(seen.count(Outcome::Ok), 5);
    assert_eq!(seen.sum(0, |state| state.due), 5);
}

#[test]
fn a_list_of_pauses_goes_on_in_the_next_journey() {
    let (address, _) = shop();
    let think = |ms: &[u64]| {
        let ns: Vec<u64> = ms.iter().map(|ms| ms * MS).collect();
        json!({"list": {"ns": ns}})
    };
    let load = json!({"closed": {"clients": 1, "requests_per_client": 3}});
    let change = json!({
        "requests": [request("a", "GET", "/a", json!({})), request("b", "GET", "/b", json!({}))],
        "journeys": [{"name": "j", "steps": [
            {"request": 0, "repeat": 2, "think": think(&[1, 2, 3])},
            {"request": 1, "think": think(&[4, 5])},
        ]}],
    });
    let seen = run(one(with(workload(address, load), "", change), 0));
    let pauses: Vec<u64> = seen.pauses().iter().map(|ns| ns / MS).collect();
    assert_eq!(pauses, [1, 2, 4, 3, 1, 5, 2, 3]);
}
