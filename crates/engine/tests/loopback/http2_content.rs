//! HTTP/2: what a request and its response carry.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::http2::{answering_with, hello, over_http2, plain, serving};
use crate::support::*;
use bytes::Bytes;
use h2::server::Builder;
use http::Response;
use serde_json::{Value, json};

/// POST requests with a large body, and responses as large, where the server's windows are at first so wide.
fn large_bodies(window: u32, http2: Value) {
    const LENGTH: usize = 300_000;
    let mut settings = Builder::new();
    settings
        .initial_window_size(window)
        .initial_connection_window_size(window);
    let begin = || ();
    let address = serving(settings, begin, |_, mut request, mut respond| async move {
        let (mut sum, mut length) = (0_u64, 0);
        while let Some(Ok(piece)) = request.body_mut().data().await {
            length += piece.len();
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            request
                .body_mut()
                .flow_control()
                .release_capacity(piece.len())
                .unwrap();
        }
        assert_eq!((length, sum), (LENGTH, LENGTH as u64 * u64::from(b'x')));
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        stream
            .send_data(Bytes::from(vec![b'y'; LENGTH]), true)
            .unwrap();
    });
    let body = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, vec![b'x'; LENGTH]);
    let change =
        json!({"method": "POST", "body_base64": body, "expect": {"body": {"length": LENGTH}}});
    let spec = over_http2(address, http2, closed(4, 12));
    let seen = run(one(with(spec, "/requests/0", change), 0));
    assert_eq!(seen.outcomes(), ok(12));
    assert!(seen.series(0).map(|series| series.bytes_out).sum::<u64>() >= 12 * LENGTH as u64);
}

#[test]
fn bodies_larger_than_all_windows_go_through_both_ways() {
    large_bodies(65_535, json!({"connections": 2}));
    large_bodies(65_535, json!({}));
}

#[test]
fn bodies_that_no_window_holds_back_go_through_both_ways() {
    large_bodies(1 << 24, json!({"connections": 2}));
    large_bodies(1 << 24, json!({}));
}

#[test]
fn head_requests_and_responses_without_a_body() {
    let address = answering_with(|_| Bytes::new());
    let change = json!({"method": "HEAD"});
    let spec = with(
        over_http2(address, json!({}), closed(1, 3)),
        "/requests/0",
        change,
    );
    assert_eq!(run(one(spec, 0)).outcomes(), ok(3));
}

#[test]
fn responses_are_checked_and_limited_as_over_http_1() {
    let address = answering_with(|asked| Bytes::copy_from_slice(asked.as_bytes()));
    let spec = |change| {
        let workload = over_http2(address, json!({}), closed(1, 4));
        run(one(with(workload, "", change), 0)).outcomes()
    };
    let asked = |body| {
        json!({"requests": [{"name": "r", "method": "GET", "path": "/a?{n}",
        "params": {"n": {"range": {"from": 7, "to": 7}}}, "expect": {"body": {"exact": body}}}]})
    };
    assert_eq!(spec(asked(format!("GET http://{address}/a?7"))), ok(4));
    assert_eq!(
        spec(asked("else".into())),
        BTreeMap::from([("wrong_body", 4)])
    );
    assert_eq!(
        spec(json!({"body_limit": 5})),
        BTreeMap::from([("too_large", 4)])
    );
}

#[test]
fn redirects_are_followed_on_the_same_connection() {
    let address = plain(|request, mut respond| async move {
        if request.uri().path() != "/" {
            return hello(respond);
        }
        let moved = Response::builder().status(302).header("location", "/there");
        respond
            .send_response(moved.body(()).unwrap(), true)
            .unwrap();
    });
    let spec = over_http2(address, json!({"connections": 2}), closed(2, 10));
    let seen = run(one(with(spec, "", json!({"redirects": {"most": 1}})), 0));
    assert_eq!(seen.outcomes(), ok(20));
    assert_eq!(
        (seen.sum(0, |s| s.redirects), seen.sum(0, |s| s.connects)),
        (10, 2)
    );
}

#[test]
fn two_different_locations_are_a_failure() {
    let address = plain(|_, mut respond| async move {
        let moved = Response::builder().status(302);
        let moved = moved.header("location", "/a").header("location", "/b");
        respond
            .send_response(moved.body(()).unwrap(), true)
            .unwrap();
    });
    let spec = over_http2(address, json!({}), closed(1, 2));
    let seen = run(one(with(spec, "", json!({"redirects": {"most": 1}})), 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("redirect_failed", 2)]));
}

#[test]
fn journeys_keep_cookies_and_what_they_capture() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = asked.clone();
    let address = plain(move |request, mut respond| {
        let field = |name| {
            let value = request.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        let seen = (
            request.uri().path().to_owned(),
            field("cookie"),
            field("x-trail"),
        );
        kept.lock().unwrap().push(seen);
        async move {
            let head = Response::builder().header("set-cookie", "sid=abc; Path=/");
            let head = head.header("X-Trail", "t7").body(()).unwrap();
            let mut stream = respond.send_response(head, false).unwrap();
            stream
                .send_data(Bytes::from_static(b"{\"id\": 9}"), true)
                .unwrap();
        }
    });
    let request = |name, path, change| {
        let spec =
            json!({"name": name, "method": "GET", "path": path, "fill": "json", "cookies": true});
        with(spec, "", change)
    };
    let slot = |slot| json!({"slot": {"slot": slot}});
    let change = json!({
        "slots": 2,
        "requests": [request("login", "/login", json!({})), request("item", "/item/{id}", json!({
            "headers": [["X-Trail", "{trail}"]], "params": {"id": slot(0), "trail": slot(1)},
        }))],
        "journeys": [{"name": "buy", "steps": [
            {"request": 0, "capture": [{"name": "id", "slot": 0, "from": {"json": "/id"}},
                {"name": "trail", "slot": 1, "from": {"header": "x-trail"}}]},
            {"request": 1},
        ]}],
    });
    let spec = with(
        over_http2(address, json!({"connections": 1}), closed(2, 4)),
        "",
        change,
    );
    let seen = run(with(one(spec, 0), "", json!({"threads": 1, "trace": true})));
    assert_eq!(seen.outcomes(), ok(8));
    let journeys = seen.0.iter().flat_map(|interval| &interval.journeys);
    assert_eq!(journeys.map(|journey| journey.completed).sum::<u64>(), 4);
    let asked = asked.lock().unwrap();
    let second: Vec<_> = asked
        .iter()
        .filter(|(path, ..)| path == "/item/9")
        .collect();
    assert_eq!(second.len(), 4);
    for (_, cookie, trail) in second {
        assert_eq!(
            (cookie.as_deref(), trail.as_deref()),
            (Some("sid=abc"), Some("t7"))
        );
    }
    let traces = seen.0.iter().flat_map(|interval| &interval.traces);
    for said in traces.map(|trace| &trace.transcript) {
        let line = said.request.split(|byte| *byte == b'\r').next().unwrap();
        assert!(line.ends_with(b" HTTP/2"), "{}", line.escape_ascii());
        assert!(said.head.starts_with(b"HTTP/2 200\r\nset-cookie: "));
    }
}

#[test]
fn events_of_streams_are_timed() {
    let address = plain(|_, mut respond| async move {
        let head = Response::builder().header("content-type", "text/event-stream");
        let mut stream = respond
            .send_response(head.body(()).unwrap(), false)
            .unwrap();
        for _ in 0..3 {
            stream
                .send_data(Bytes::from_static(b"data: x\n\n"), false)
                .ok();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Without an end: the client leaves the stream, and the connection goes on.
        std::future::pending::<()>().await;
    });
    let stream = json!({"stream": {"format": "sse", "events": 3}});
    let spec = with(
        over_http2(address, json!({"connections": 2}), closed(4, 12)),
        "/requests/0",
        stream,
    );
    let seen = run(one(spec, 0));
    assert_eq!((seen.outcomes(), seen.sum(0, |s| s.connects)), (ok(12), 2));
    let events: u64 = seen
        .0
        .iter()
        .flat_map(|i| &i.streams)
        .map(|s| s.events)
        .sum();
    assert_eq!(events, 36);
}
