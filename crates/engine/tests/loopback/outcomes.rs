//! Every way in which a request can end, by servers that make it end so.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::*;
use jostle_engine::interval::Measure;
use jostle_engine::outcome::Outcome;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A run of ten requests against a server of which each connection behaves so.
fn ten<F, Fut>(connection: F) -> Seen
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    ten_within(20 * SECOND, connection)
}

/// The same with a timeout in nanoseconds.
fn ten_within<F, Fut>(timeout: u64, connection: F) -> Seen
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let spec = one(workload(serve(connection), closed(2, 10)), 0);
    run(with(
        spec,
        "/workloads/0/timeouts",
        json!({"total_ns": timeout}),
    ))
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 10)])
}

fn responses(response: &'static [u8]) -> Seen {
    ten(move |mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(response).await.ok();
        }
    })
}

/// Closes with a RST.
fn reset(stream: TcpStream) {
    let stream = stream.into_std().unwrap();
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
}

#[test]
fn a_server_that_never_answers_times_out_and_is_censored() {
    let seen = ten_within(100 * MS, |mut stream| async move {
        while read_request(&mut stream).await.is_some() {}
    });
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert_eq!(seen.recorded(Measure::Censored), 10);
    let (low, high) = seen.range_ms(Measure::Censored);
    assert!(low >= 99.9 && high < 10_000.0, "{low} {high}");
}

#[test]
fn first_byte_and_total_timeouts_are_apart() {
    let slow_body = || {
        serve(|mut stream| async move {
            while read_request(&mut stream).await.is_some() {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
                    .await
                    .ok();
                tokio::time::sleep(Duration::from_millis(1100)).await;
                stream.write_all(b"llo").await.ok();
            }
        })
    };
    let timeouts = json!({"first_byte_ns": SECOND, "total_ns": 20 * SECOND});
    let spec = |address| {
        with(
            one(workload(address, closed(10, 10)), 0),
            "/workloads/0/timeouts",
            timeouts.clone(),
        )
    };
    assert_eq!(run(spec(slow_body())).outcomes(), all("ok"));
    let silent =
        serve(|mut stream| async move { while read_request(&mut stream).await.is_some() {} });
    let seen = run(spec(silent));
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert!(seen.range_ms(Measure::Censored).1 < 10_000.0);
}

#[test]
fn one_byte_at_a_time_is_a_response_like_any_other() {
    let seen = ten(|mut stream| async move {
        stream.set_nodelay(true).unwrap();
        while read_request(&mut stream).await.is_some() {
            for byte in OK {
                stream.write_all(&[*byte]).await.ok();
                tokio::task::yield_now().await;
            }
        }
    });
    assert_eq!(seen.outcomes(), all("ok"));
}

#[test]
fn resets_at_every_stage() {
    let before = ten(|stream| async move { reset(stream) });
    let counts = before.outcomes();
    // The reset may be seen before, while or after the request is written, or as the end of the stream.
    let lost: u64 = ["reset", "closed_early"]
        .iter()
        .filter_map(|outcome| counts.get(outcome))
        .sum();
    assert_eq!(lost, 10, "{counts:?}");
    let after = ten(|mut stream| async move {
        read_request(&mut stream).await;
        reset(stream);
    });
    assert_eq!(after.outcomes(), all("reset"));
    let within = ten(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
            .await
            .ok();
        tokio::time::sleep(Duration::from_millis(5)).await;
        reset(stream);
    });
    assert_eq!(within.outcomes(), all("reset"));
}

#[test]
fn early_closes_are_no_responses() {
    for partial in [
        "",
        "HTTP/1.1 200 OK\r\nConte",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe",
    ] {
        let seen = ten(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(partial.as_bytes()).await.ok();
        });
        assert_eq!(seen.outcomes(), all("closed_early"), "{partial:?}");
        assert_eq!(seen.recorded(Measure::Failed), 10);
    }
}

#[test]
fn a_body_may_end_with_the_connection() {
    let seen = ten(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.0 200 OK\r\n\r\nuntil the end")
            .await
            .ok();
    });
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
}

#[test]
fn wrong_responses_are_counted_by_what_is_wrong() {
    assert_eq!(
        responses(b"SSH-2.0-OpenSSH_9\r\n\r\n").outcomes(),
        all("malformed")
    );
    assert_eq!(
        responses(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n").outcomes(),
        all("malformed")
    );
    assert_eq!(
        responses(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").outcomes(),
        all("wrong_status")
    );
    let spec = one(workload(answering(OK), closed(2, 10)), 0);
    let expect = |body: Value| {
        with(
            spec.clone(),
            "/workloads/0/requests/0",
            json!({"expect": {"body": body}}),
        )
    };
    assert_eq!(run(expect(json!({"exact": "hello"}))).outcomes(), all("ok"));
    assert_eq!(
        run(expect(json!({"exact": "hallo"}))).outcomes(),
        all("wrong_body")
    );
    let limited = with(spec.clone(), "/workloads/0", json!({"body_limit": 4}));
    assert_eq!(run(limited).outcomes(), all("too_large"));
    let teapot = with(
        spec.clone(),
        "/workloads/0/requests/0",
        json!({"expect": {"status": [418]}}),
    );
    assert_eq!(run(teapot).outcomes(), all("wrong_status"));
}

#[test]
fn every_kind_of_check_is_made_under_load() {
    const JSON: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{\"user\": [{\"name\": \"ada\"}]}";
    let sha256 = "7d3097f03c2f31b2194ccd27ed4120c1e8d1d3a3680eddc9f86851d7e791a23a";
    let spec = one(workload(answering(JSON), closed(4, 200)), 0);
    let outcome = |body: Value| {
        let change = json!({"expect": {"body": body}});
        run(with(spec.clone(), "/workloads/0/requests/0", change)).outcomes()
    };
    let pointer = "/user/0/name";
    for (body, expected) in [
        (json!({"contains": "\"ada\""}), "ok"),
        (json!({"contains": "bob"}), "wrong_body"),
        (json!({"length": 27}), "ok"),
        (json!({"length": 28}), "wrong_body"),
        (json!({"json": {"pointer": pointer, "value": "ada"}}), "ok"),
        (
            json!({"json": {"pointer": pointer, "value": "bob"}}),
            "wrong_body",
        ),
        (json!({"sha256": sha256}), "ok"),
        (json!({"sha256": "0".repeat(64)}), "wrong_body"),
    ] {
        assert_eq!(
            outcome(body.clone()),
            BTreeMap::from([(expected, 200)]),
            "{body}"
        );
    }
    for (lacks, expected) in [("bob", "ok"), ("ada", "wrong_body")] {
        let change = json!({"expect": {"body": {"length": 27}, "lacks": lacks}});
        let spec = with(spec.clone(), "/workloads/0/requests/0", change);
        assert_eq!(run(spec).outcomes(), BTreeMap::from([(expected, 200)]));
    }
}

#[test]
fn endless_heads_and_bodies_end() {
    let head = ten(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.ok();
        while stream
            .write_all(b"X-Filler: and so on and so on and so on\r\n")
            .await
            .is_ok()
        {}
    });
    assert_eq!(head.outcomes(), all("too_large"));
    let body = ten_within(100 * MS, |mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok();
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    });
    assert_eq!(body.outcomes(), all("response_timeout"));
}

#[test]
fn junk_behind_a_response_costs_the_connection_and_not_the_response() {
    let seen = responses(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
    let what = "a whole response was followed by bytes that belong to none".to_owned();
    assert_eq!(
        seen.texts(|state| &state.excess),
        BTreeMap::from([(what, 10)])
    );
}

#[test]
fn junk_that_comes_while_a_client_thinks_is_told_as_well() {
    let address = serve(|mut stream| async move {
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        stream.write_all(head).await.ok();
        tokio::time::sleep(Duration::from_millis(5)).await;
        stream.write_all(b"hello").await.ok();
        read_request(&mut stream).await;
    });
    let think =
        json!({"closed": {"clients": 2, "requests": 10, "think": {"constant": {"ns": 60 * MS}}}});
    let spec = with(
        one(workload(address, think), 0),
        "/workloads/0/requests/0",
        json!({"method": "HEAD"}),
    );
    let seen = run(spec);
    assert_eq!(seen.outcomes(), all("ok"));
    let what = "a response to HEAD was followed by bytes, as if it had a body".to_owned();
    assert_eq!(
        seen.texts(|state| &state.excess),
        BTreeMap::from([(what, 10)])
    );
}

#[test]
fn connections_that_the_server_closed_are_not_held_any_more() {
    let closing = || {
        serve(|mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(OK).await.ok();
        })
    };
    // While the clients think, and while the connections of an open loop have nothing to do.
    let think = json!({"closed": {"clients": 4, "think": {"constant": {"ns": 20 * SECOND}}}});
    let burst = json!({"open": {"arrivals": {"trace": [0, 0, 0, 0]}, "max_connections": 4}});
    for load in [think, burst] {
        let mut held = one(workload(closing(), load), 0);
        let mut last = workload(answering(OK), json!({"closed": {"clients": 1}}));
        last["name"] = "keeps the run alive".into();
        held["workloads"].as_array_mut().unwrap().push(last);
        let seen = run(with(held, "", json!({"duration_ns": 400 * MS})));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
        let states = seen
            .0
            .iter()
            .map(|interval| interval.workloads[0].connections);
        assert_eq!(states.collect::<Vec<_>>().last(), Some(&0));
    }
}

#[test]
fn a_connection_closed_in_the_race_with_its_next_request_is_stale() {
    // It closes when the second request has come, before a byte of a response to it.
    let seen = ten(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.ok();
        read_request(&mut stream).await;
    });
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 6), ("stale", 4)]));
    let why = "the peer closed the connection before it answered".to_owned();
    assert_eq!(seen.failures(), BTreeMap::from([(("stale", why), 4)]));
    let seen = ten(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.ok();
        read_request(&mut stream).await;
        reset(stream);
    });
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 6), ("stale", 4)]));
}

#[test]
fn a_connection_that_the_server_closed_while_idle_is_opened_anew() {
    let address = serve(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.ok();
        // And closes, without having announced it.
    });
    let load =
        json!({"closed": {"clients": 2, "requests": 10, "think": {"constant": {"ns": 30 * MS}}}});
    let seen = run(one(workload(address, load), 0));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
}

#[test]
fn a_response_may_come_before_the_request_is_whole() {
    use base64::Engine as _;
    let address = serve(|mut stream| async move {
        let mut some = [0; 1000];
        stream.read_exact(&mut some).await.ok();
        stream
            .write_all(b"HTTP/1.1 413 Too much\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .await
            .ok();
        tokio::time::sleep(Duration::from_millis(200)).await;
    });
    let body = base64::engine::general_purpose::STANDARD.encode(vec![b'x'; 20_000_000]);
    let request = json!([{"name": "big", "method": "POST", "path": "/", "body_base64": body, "expect": {"status": [413]}}]);
    let seen = run(with(
        one(workload(address, closed(2, 10)), 0),
        "/workloads/0",
        json!({"requests": request}),
    ));
    assert_eq!(seen.outcomes(), all("ok"));
}

#[test]
fn refused_and_unreachable_are_told_apart() {
    let closed_port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let seen = run(one(workload(closed_port, closed(2, 4)), 0));
    let four = |outcome, why: &str| BTreeMap::from([((outcome, why.to_owned()), 4)]);
    assert_eq!(
        seen.failures(),
        four("connect_refused", "connection refused")
    );
    let to = |address: &str| {
        let spec = one(workload(closed_port, closed(2, 4)), 0);
        let spec = with(
            spec,
            "/workloads/0/target",
            json!({"connect_to": [address]}),
        );
        let seen = run(with(
            spec,
            "/workloads/0/timeouts",
            json!({"connect_ns": 20 * SECOND}),
        ));
        seen.failures()
    };
    assert_eq!(
        to("unix:/nowhere/at/all"),
        four("connect_failed", "no such file or directory")
    );
    assert_eq!(
        to("255.255.255.255:80"),
        four("connect_failed", "network is unreachable")
    );
}

#[test]
fn what_was_wrong_with_a_response_is_told_in_words() {
    let ten = |outcome, why: &str| BTreeMap::from([((outcome, why.to_owned()), 10)]);
    assert_eq!(
        responses(b"\0\0\0\x04\0\0\0\0\0").failures(),
        ten(
            "malformed",
            "the server answered in HTTP/2, not in HTTP/1.1"
        )
    );
    assert_eq!(
        responses(b"SSH-2.0-OpenSSH_9\r\n\r\n").failures(),
        ten(
            "malformed",
            "the response head is not HTTP/1.1 (invalid HTTP version); is this an HTTP port, without TLS?"
        )
    );
    assert_eq!(
        responses(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").failures(),
        ten("wrong_status", "503")
    );
    let seen = ten_within(100 * MS, |mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await.ok();
        }
    });
    assert_eq!(
        seen.failures(),
        ten("response_timeout", "the response did not end in time")
    );
    assert_eq!(responses(OK).failures(), BTreeMap::new());
}

#[test]
fn a_full_listen_queue_is_a_connect_timeout() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(
            &"127.0.0.1:0"
                .parse::<std::net::SocketAddr>()
                .unwrap()
                .into(),
        )
        .unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let _first = std::net::TcpStream::connect(address).unwrap();
    let spec = one(workload(address, closed(2, 4)), 0);
    let seen = run(with(
        spec,
        "/workloads/0/timeouts",
        json!({"connect_ns": 100 * MS}),
    ));
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_timeout", 4)]));
    assert_eq!(
        seen.count(Outcome::ConnectTimeout),
        seen.recorded(Measure::Censored)
    );
}

#[test]
fn a_client_is_free_at_the_end_of_the_response_and_waits_for_no_close() {
    // None of these servers closes; the first announces that it will, the second's framing is not trusted.
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ] {
        let address = serve(move |mut stream| async move {
            while read_request(&mut stream).await.is_some() {
                stream.write_all(response.as_bytes()).await.ok();
            }
        });
        let seen = run(one(workload(address, closed(1, 10)), 0));
        assert_eq!(seen.outcomes(), all("ok"));
        assert_eq!(seen.sum(0, |state| state.connects), 10);
        let rows = seen
            .rows()
            .flat_map(|rows| rows.intended_ns.iter().zip(&rows.end_ns));
        let rows: Vec<(u64, u64)> = rows.map(|(intended, end)| (*intended, *end)).collect();
        for pair in rows.windows(2) {
            assert_eq!(pair[1].0, pair[0].1, "the next request is due at once");
        }
    }
}

#[test]
fn a_server_that_announced_to_close_closes_first() {
    // The one that closes first keeps the port in TIME_WAIT; a read that ends tells the server who did.
    let closed_by_client = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = closed_by_client.clone();
    let address = serve(move |mut stream| {
        let counter = counter.clone();
        async move {
            read_request(&mut stream).await;
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(response).await.ok();
            tokio::time::sleep(Duration::from_millis(5)).await;
            if matches!(stream.try_read(&mut [0; 1]), Ok(0)) {
                counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    let load =
        json!({"closed": {"clients": 1, "requests": 10, "think": {"constant": {"ns": 20 * MS}}}});
    assert_eq!(run(one(workload(address, load), 0)).outcomes(), all("ok"));
    // With the run's end the last one is closed at once.
    assert!(closed_by_client.load(std::sync::atomic::Ordering::Relaxed) <= 1);
}

/// The body is `tea`, as gzip makes it.
const CODED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 23\r\n\r\n\
\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x49\x4d\x04\x00\xb2\xd7\x86\x8e\x03\x00\x00\x00";

fn coded_request(headers: &Value, body: &str) -> Value {
    let expect = json!({"body": {"exact": body}});
    json!({"requests": [{"name": "get", "method": "GET", "path": "/", "headers": headers, "expect": expect}]})
}

#[test]
fn a_coded_body_is_decoded_for_checks_whether_or_not_the_request_asked_for_it() {
    let accepts = json!([["Accept-Encoding", "gzip, br, zstd"]]);
    let load = json!({"closed": {"clients": 1, "requests": 3}});
    let cases = [
        (accepts.clone(), "tea", Outcome::Ok),
        (accepts, "coffee", Outcome::WrongBody),
        (json!([]), "tea", Outcome::Ok),
    ];
    for (headers, body, outcome) in cases {
        let spec = with(
            workload(answering(CODED), load.clone()),
            "",
            coded_request(&headers, body),
        );
        let seen = run(one(spec, 0));
        assert_eq!(seen.count(outcome), 3, "{body} {:?}", seen.failures());
        let bytes: u64 = seen.series(0).map(|series| series.bytes_in).sum();
        assert_eq!(
            bytes,
            3 * CODED.len() as u64,
            "bytes are counted as they came"
        );
    }
}
