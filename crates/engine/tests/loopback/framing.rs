//! Where a response begins and ends: interim heads, long heads, responses without a length, bytes after the end, and
//! responses that nobody asked for.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::*;
use jostle_engine::interval::Measure;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

fn ten(outcome: &'static str, why: &str) -> BTreeMap<(&'static str, String), u64> {
    BTreeMap::from([((outcome, why.to_owned()), 10)])
}

/// Ten requests of two clients to a server that writes these pieces for each, with a pause after each piece.
fn pieces(pieces: &'static [&'static [u8]], pause: Duration, timeouts: Value) -> Seen {
    let address = serve(move |mut stream| async move {
        stream.set_nodelay(true).unwrap();
        while read_request(&mut stream).await.is_some() {
            for piece in pieces {
                stream.write_all(piece).await.ok();
                tokio::time::sleep(pause).await;
            }
        }
    });
    run(with(
        one(workload(address, closed(2, 10)), 0),
        "/workloads/0/timeouts",
        timeouts,
    ))
}

#[test]
fn interim_responses_are_not_the_first_byte() {
    const HINTS: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";
    let first_byte = json!({"first_byte_ns": 100 * MS, "total_ns": 20 * SECOND});
    let seen = pieces(
        &[HINTS, HINTS, HINTS],
        Duration::from_millis(60),
        first_byte.clone(),
    );
    let why = "only interim responses (1xx) came in time";
    assert_eq!(seen.failures(), ten("response_timeout", why));
    let begun: &[&[u8]] = &[
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2",
        b"00 OK\r\nContent-",
        b"Length: 0\r\n\r\n",
    ];
    let seen = pieces(begun, Duration::from_millis(60), first_byte);
    assert_eq!(seen.outcomes(), ok(10), "the final response had begun");
    assert!(seen.range_ms(Measure::Headers).0 > 100.0);
}

#[test]
fn identity_is_no_transfer_coding() {
    let address =
        answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok");
    let seen = run(one(workload(address, closed(1, 10)), 0));
    assert_eq!(seen.outcomes(), ok(10));
    assert_eq!(seen.sum(0, |state| state.connects), 1);
}

const CODED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_response_that_only_the_end_of_the_connection_could_end_says_so() {
    let hurried = || json!({"total_ns": 100 * MS});
    let nothing = Duration::ZERO;
    let seen = pieces(&[b"HTTP/1.1 200 OK\r\n\r\nok"], nothing, hurried());
    let why = "the response has neither length nor chunks, so only the end of the connection ends it, which did not \
               come in time";
    assert_eq!(seen.failures(), ten("response_timeout", why));
    let seen = pieces(&[CODED], nothing, hurried());
    let why = "the response's Transfer-Encoding has no chunks, so only the end of the connection ends it whatever its \
               Content-Length says, and that did not come in time";
    let seen: Vec<_> = seen.failures().into_keys().collect();
    assert_eq!(seen, [("response_timeout", why.to_owned())]);
}

#[test]
fn a_head_may_have_any_number_of_lines() {
    let address = serve(|mut stream| async move {
        let line = |number| format!("Set-Cookie: c{number}={}\r\n", "x".repeat(30));
        let lines = (0..120).map(line).collect::<Vec<_>>().concat();
        let response = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n");
        while read_request(&mut stream).await.is_some() {
            stream.write_all(response.as_bytes()).await.ok();
        }
    });
    let seen = run(one(workload(address, closed(1, 10)), 0));
    assert_eq!(seen.outcomes(), ok(10));
}

#[test]
fn what_follows_a_response_that_has_no_body_is_told_with_its_status() {
    for (response, expected) in [
        (
            &b"HTTP/1.1 204 No Content\r\n\r\nhello"[..],
            Some("a 204 has no body; bytes followed"),
        ),
        (
            &b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"[..],
            Some("a 304 has no body; bytes followed"),
        ),
        (
            &b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"[..],
            None,
        ),
    ] {
        let seen = run(one(workload(answering(response), closed(1, 10)), 0));
        assert_eq!(seen.outcomes(), ok(10));
        let excess = seen.texts(|state| &state.excess);
        let connects = seen.sum(0, |state| state.connects);
        match expected {
            Some(what) => assert_eq!(excess, BTreeMap::from([(what.to_owned(), 10)])),
            None => assert_eq!((excess, connects), (BTreeMap::new(), 1)),
        }
    }
}

#[test]
fn a_408_that_keeps_its_connection_is_the_response_to_its_request() {
    let address = answering(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    let seen = run(one(workload(address, closed(1, 10)), 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("wrong_status", 10)]));
    assert_eq!(seen.sum(0, |state| state.connects), 1);
}

/// Some servers write head and body apart, so that the body meets the next request.
#[test]
fn an_empty_body_in_chunks_may_come_late_after_a_response_that_has_none() {
    let address = serve(|mut stream| async move {
        stream.set_nodelay(true).unwrap();
        while read_request(&mut stream).await.is_some() {
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n")
                .await
                .ok();
            tokio::time::sleep(Duration::from_millis(5)).await;
            stream.write_all(b"0\r\n\r\n").await.ok();
        }
    });
    for think in [json!("none"), json!({"constant": {"ns": 20 * MS}})] {
        let load = json!({"closed": {"clients": 1, "requests": 10, "think": think}});
        let seen = run(one(workload(address, load), 0));
        assert_eq!(seen.outcomes(), ok(10));
        assert_eq!(seen.texts(|state| &state.excess), BTreeMap::new());
        assert_eq!(seen.sum(0, |state| state.connects), 1);
    }
}

const TIMED_OUT: &[u8] =
    b"HTTP/1.0 408 Request Time-out\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n<html>408</html>";

#[test]
fn a_408_on_an_idle_connection_is_its_close() {
    let address = serve(|mut stream| async move {
        let idle = Duration::from_millis(20);
        while let Ok(Some(_)) = tokio::time::timeout(idle, read_request(&mut stream)).await {
            stream.write_all(OK).await.ok();
        }
        stream.write_all(TIMED_OUT).await.ok();
    });
    let think = json!({"constant": {"ns": 250 * MS}});
    let load = json!({"closed": {"clients": 2, "requests": 10, "think": think}});
    let seen = run(one(workload(address, load), 0));
    assert_eq!(seen.outcomes(), ok(10));
    assert_eq!(seen.texts(|state| &state.excess), BTreeMap::new());
    let dismissals = seen.texts(|state| &state.dismissals);
    assert_eq!(dismissals.keys().collect::<Vec<_>>(), ["408"]);
    assert!(
        seen.sum(0, |state| state.connects) > 2,
        "they connect again"
    );
}

#[test]
fn a_request_that_crosses_a_408_is_stale() {
    let address = serve(|mut stream| async move {
        // The second request is answered by what the pause before it brought about.
        if read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.ok();
        }
        if read_request(&mut stream).await.is_some() {
            stream.write_all(TIMED_OUT).await.ok();
        }
    });
    let spec = one(workload(address, closed(1, 10)), 0);
    let seen = run(spec.clone());
    let why = "408 on an idle connection: its idle limit is shorter than the pause";
    assert_eq!(
        seen.failures(),
        BTreeMap::from([(("stale", why.to_owned()), 5)])
    );
    let expected =
        json!([{"name": "get", "method": "GET", "path": "/", "expect": {"status": [200, 408]}}]);
    let seen = run(with(spec, "/workloads/0", json!({"requests": expected})));
    assert_eq!(seen.outcomes(), ok(10), "whoever expects it gets it");
}
