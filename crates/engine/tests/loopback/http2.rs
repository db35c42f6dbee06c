//! HTTP/2: connections and streams, and how servers say no.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::*;
use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use jostle_engine::interval::Measure;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub fn over_http2(address: SocketAddr, http2: Value, load: Value) -> Value {
    with(workload(address, load), "/target", json!({"http2": http2}))
}

pub type Responder = SendResponse<Bytes>;

/// Serves HTTP/2 with these settings; `response` has each request of a connection, which `begin` gives a state.
pub fn serving<S: 'static, Fut: Future<Output = ()> + 'static>(
    settings: Builder,
    begin: impl Fn() -> S + Send + 'static,
    response: impl Fn(Rc<S>, Request<RecvStream>, Responder) -> Fut + Send + Sync + 'static,
) -> SocketAddr {
    let response = Arc::new(response);
    serve(move |stream| {
        let (settings, state, response) = (settings.clone(), Rc::new(begin()), response.clone());
        async move {
            let Ok(mut connection) = settings.handshake::<_, Bytes>(stream).await else {
                return;
            };
            while let Some(Ok((request, respond))) = connection.accept().await {
                tokio::task::spawn_local(response(state.clone(), request, respond));
            }
        }
    })
}

/// The same where connections have no state.
pub fn plain<Fut: Future<Output = ()> + 'static>(
    response: impl Fn(Request<RecvStream>, Responder) -> Fut + Send + Sync + 'static,
) -> SocketAddr {
    let begin = || ();
    serving(Builder::new(), begin, move |_, request, respond| {
        response(request, respond)
    })
}

/// Answers at once with what `body` makes of the request's method and path.
pub fn answering_with(body: impl Fn(&str) -> Bytes + Send + Sync + 'static) -> SocketAddr {
    plain(move |request, mut respond| {
        let body = body(&format!("{} {}", request.method(), request.uri()));
        async move {
            let head = Response::builder().header("content-length", body.len());
            let head = head.body(()).unwrap();
            let mut stream = respond.send_response(head, body.is_empty()).unwrap();
            if !body.is_empty() {
                stream.send_data(body, true).ok();
            }
        }
    })
}

pub fn hello(mut respond: Responder) {
    if let Ok(mut stream) = respond.send_response(Response::new(()), false) {
        stream.send_data(Bytes::from_static(b"hello"), true).ok();
    }
}

#[test]
fn clients_are_streams_of_the_connections_that_they_share() {
    const EACH: usize = 4;
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let begin = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        RefCell::new(Vec::new())
    };
    // Nobody is answered before as many streams are open as there are clients to a connection.
    let address = serving(Builder::new(), begin, |waiting, _, respond| async move {
        waiting.borrow_mut().push(respond);
        if waiting.borrow().len() == EACH {
            waiting.take().into_iter().for_each(hello);
        }
    });
    let load = closed(16, 160);
    let seen = run(one(over_http2(address, json!({"connections": 4}), load), 0));
    assert_eq!(seen.outcomes(), ok(160));
    assert_eq!(connections.load(Ordering::Relaxed), 4);
    assert_eq!(seen.sum(0, |state| state.connects), 4);
    assert_eq!(seen.recorded(Measure::Connect), 4);
    assert_eq!(seen.sum(0, |state| state.stream_waits), 0);
    let bytes: u64 = seen.series(0).map(|series| series.bytes_in).sum();
    // Two frames, of which the first has one octet for its status; once on each connection another one takes leave of
    // the header table.
    assert_eq!(bytes, (160 * (9 + 1 + 9 + "hello".len()) + 4) as u64);
}

#[test]
fn each_client_has_its_own_connection_where_none_are_shared() {
    let address = answering_with(|_| "hello".into());
    let seen = run(one(over_http2(address, json!({}), closed(3, 30)), 0));
    assert_eq!(
        (seen.outcomes(), seen.sum(0, |state| state.connects)),
        (ok(30), 3)
    );
    let short = json!({"closed": {"clients": 1, "requests": 30, "requests_per_connection": 5}});
    let seen = run(one(over_http2(address, json!({}), short), 0));
    assert_eq!(
        (seen.outcomes(), seen.sum(0, |state| state.connects)),
        (ok(30), 6)
    );
    let open = json!({"open": {"arrivals": "constant", "rates": [{"from": 500.0, "to": 500.0}], "requests": 50,
        "max_connections": 4}});
    let seen = run(one(over_http2(address, json!({"connections": 2}), open), 0));
    assert_eq!(seen.outcomes(), ok(50));
    assert!(seen.sum(0, |state| state.connects) <= 2);
}

#[test]
fn a_connection_is_closed_after_the_last_client_has_left_it() {
    let closed_in_order = Arc::new(AtomicUsize::new(0));
    let counted = closed_in_order.clone();
    let address = serve(move |stream| {
        let counted = counted.clone();
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, respond))) = connection.accept().await {
                hello(respond);
            }
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    // Every client leaves after two requests, and another takes its place.
    let load =
        json!({"closed": {"clients": 1, "requests": 20, "requests_per_client": 2, "renew": true}});
    let seen = run(with(
        one(over_http2(address, json!({}), load), 0),
        "",
        json!({"threads": 1}),
    ));
    assert_eq!(
        (seen.outcomes(), seen.sum(0, |state| state.connects)),
        (ok(20), 10)
    );
    assert!(closed_in_order.load(Ordering::Relaxed) >= 9);
}

#[test]
fn who_finds_no_free_stream_waits_and_that_is_not_the_server_s_time() {
    let mut one_at_a_time = Builder::new();
    one_at_a_time.max_concurrent_streams(1);
    let max_in_flight = Arc::new(AtomicUsize::new(0));
    let (observed_max, begin) = (max_in_flight.clone(), || Cell::new(0));
    let address = serving(
        one_at_a_time,
        begin,
        move |open: Rc<Cell<usize>>, _, respond| {
            open.set(open.get() + 1);
            observed_max.fetch_max(open.get(), Ordering::Relaxed);
            async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                open.set(open.get() - 1);
                hello(respond);
            }
        },
    );
    // One goes first, so that the server has said how many it takes before the others come.
    let phases = json!([{"name": "one", "duration_ns": 50 * MS, "from": 1, "to": 1},
        {"name": "four", "duration_ns": 400 * MS, "from": 4, "to": 4}]);
    let load = json!({"closed": {"clients": 4, "phases": phases}});
    let spec = one(over_http2(address, json!({"connections": 1}), load), 0);
    let seen = run(with(spec, "", json!({"threads": 1})));
    assert_eq!(max_in_flight.load(Ordering::Relaxed), 1);
    let waits = seen.sum(0, |state| state.stream_waits);
    assert!(waits >= 3, "{waits}");
    let waited = seen.sum(0, |state| state.stream_wait_ns);
    assert!(waited >= 10 * MS, "three wait while one is served");
    let (service, response) = seen.series(0).fold((0, 0), |(service, response), series| {
        (
            service + series.service_sum_ns,
            response + series.response_sum_ns,
        )
    });
    // Some of those who waited may have been cut off by the end.
    assert!(
        response > service + u128::from(waited) / 2,
        "{response} {service} {waited}"
    );
    assert!(
        seen.outcomes()
            .keys()
            .all(|name| ["ok", "unfinished", "never_sent"].contains(name))
    );
}

#[test]
fn a_stream_that_is_given_up_leaves_the_others_alone() {
    let address = plain(|request, respond| async move {
        if request.uri().path() == "/never" {
            std::future::pending::<()>().await;
        }
        hello(respond);
    });
    let requests = json!({"requests": [{"name": "get", "method": "GET", "path": "/"},
        {"name": "never", "method": "GET", "path": "/never"}], "order": "sequence",
        "timeouts": {"connect_ns": SECOND, "total_ns": 100 * MS}});
    let spec = over_http2(address, json!({"connections": 2}), closed(4, 16));
    let seen = run(one(with(spec, "", requests), 0));
    let counts = seen.outcomes();
    assert_eq!(counts.values().sum::<u64>(), 16);
    assert!(
        counts["ok"] >= 1 && counts["response_timeout"] >= 6,
        "{counts:?}"
    );
    assert_eq!(seen.sum(0, |state| state.connects), 2);
}

#[test]
fn resets_and_goodbyes_say_why() {
    let resetting = |reason| {
        plain(move |_, mut respond: Responder| async move {
            respond.send_reset(reason);
        })
    };
    for (reason, name) in [
        (Reason::REFUSED_STREAM, "REFUSED_STREAM"),
        (Reason::HTTP_1_1_REQUIRED, "HTTP_1_1_REQUIRED"),
        (Reason::from(0x77), "error 0x77"),
    ] {
        let spec = over_http2(resetting(reason), json!({"connections": 2}), closed(2, 6));
        let seen = run(one(spec, 0));
        assert_eq!(
            seen.failures(),
            BTreeMap::from([(("reset", format!("RST_STREAM {name}")), 6)])
        );
        assert_eq!(
            seen.sum(0, |state| state.connects),
            2,
            "a refused stream is not a connection"
        );
    }
}

#[test]
fn after_a_goodbye_the_next_request_has_a_new_connection() {
    // Two requests to a connection, then GOAWAY in order.
    let address = serve(|stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut answered = 0;
        while let Some(Ok((_, respond))) = connection.accept().await {
            hello(respond);
            answered += 1;
            if answered == 2 {
                connection.graceful_shutdown();
            }
        }
    });
    let spec = over_http2(address, json!({}), closed(1, 20));
    let seen = run(with(one(spec, 0), "", json!({"threads": 1})));
    assert_eq!(seen.outcomes(), ok(20));
    assert!(seen.sum(0, |state| state.connects) >= 7);
}

#[test]
fn a_wait_is_shown_with_the_streams_of_its_own_connection() {
    // The second response comes after the body of the first one. Then the connection ends; the wait on the next one is
    // shorter.
    async fn one_behind_the_other(mut first: Responder, second: Responder, pause: Duration) {
        let mut body = first.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"hel"), false).unwrap();
        tokio::time::sleep(pause).await;
        body.send_data(Bytes::from_static(b"lo"), true).unwrap();
        hello(second);
    }
    let opened = AtomicUsize::new(0);
    let address = serve(move |stream| {
        let pause = match opened.fetch_add(1, Ordering::Relaxed) {
            0 => Duration::from_millis(60),
            _ => Duration::from_millis(20),
        };
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut waiting = None;
            while let Some(Ok((_, respond))) = connection.accept().await {
                match waiting.take() {
                    None => waiting = Some(respond),
                    Some(first) => {
                        connection.graceful_shutdown();
                        tokio::task::spawn_local(one_behind_the_other(first, respond, pause));
                    }
                }
            }
        }
    });
    let spec = over_http2(address, json!({"connections": 1}), closed(2, 4));
    let seen = run(with(one(spec, 0), "", json!({"threads": 1})));
    assert_eq!((seen.outcomes(), seen.sum(0, |s| s.connects)), (ok(4), 2));
    let lines = seen.0.iter().flat_map(|interval| &interval.head_of_line);
    let lines: Vec<_> = lines.collect();
    assert!(!lines.is_empty());
    for line in lines {
        let wait = line.wait;
        let one = line.streams.iter().find(|one| one.stream == wait.stream);
        let times = one.map(|one| (one.ready_ns, one.head_ns));
        assert_eq!(times, Some((wait.from_ns, wait.until_ns)), "{line:?}");
    }
}

#[test]
fn a_server_that_does_not_speak_it_is_told_in_words() {
    let answering = |response: &'static [u8]| {
        serve(move |mut stream: TcpStream| async move {
            let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
            stream.read_exact(&mut preface).await.ok();
            stream.write_all(response).await.ok();
        })
    };
    let address =
        answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let failures = |address| run(one(over_http2(address, json!({}), closed(1, 2)), 0)).failures();
    let why = "the server answered in HTTP/1.1: it does not take HTTP/2 without TLS (h2c)";
    assert_eq!(
        failures(address),
        BTreeMap::from([(("malformed", why.to_owned()), 2)])
    );
    let other = answering(b"-ERR unknown command\r\n");
    let why = "the server does not speak HTTP/2: its response begins with no frame of it";
    assert_eq!(
        failures(other),
        BTreeMap::from([(("malformed", why.to_owned()), 2)])
    );
    let closing = serve(|mut stream: TcpStream| async move {
        stream.shutdown().await.ok();
    });
    let why =
        "the server closed the connection before it sent anything; does it speak HTTP/2 here?";
    assert_eq!(
        failures(closing),
        BTreeMap::from([(("closed_early", why.to_owned()), 2)])
    );
}

#[test]
fn all_who_wait_for_a_connection_have_its_failure() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let load = json!({"closed": {"clients": 4, "requests": 8}});
    let seen = run(one(over_http2(address, json!({"connections": 2}), load), 0));
    let why = "connection refused".to_owned();
    assert_eq!(
        seen.failures(),
        BTreeMap::from([(("connect_refused", why), 8)])
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_sent() {
    let address = SocketAddr::from(([127, 0, 0, 1], 9));
    let refused = |change, http2| {
        let spec = with(over_http2(address, http2, closed(4, 4)), "", change);
        start(one(spec, 0)).map(drop).unwrap_err().to_string()
    };
    let text = refused(json!({}), json!({"connections": 3}));
    assert!(
        text.contains("3 connections cannot be shared evenly by 2 threads"),
        "{text}"
    );
    let text = refused(json!({}), json!({"connections": 0}));
    assert!(text.contains("0 is not between 1"), "{text}");
    let once =
        json!({"load": {"closed": {"clients": 4, "requests": 4, "requests_per_connection": 1}}});
    let text = refused(once, json!({"connections": 2}));
    assert!(text.contains("requests_per_connection"), "{text}");
    let asking = |name, value| json!({"requests": [{"name": "r", "method": "GET", "path": "/", "headers": [[name, value]]}]});
    let text = refused(asking("Connection", "close"), json!({}));
    assert!(
        text.contains("header Connection has no place in HTTP/2"),
        "{text}"
    );
    let text = refused(asking("Upgrade", "h2c"), Value::Null);
    assert!(
        text.contains("no connection is upgraded to HTTP/2"),
        "{text}"
    );
    let tls = json!({"target": {"host": "x", "port": 9, "connect_to": ["127.0.0.1:9"], "http2": {},
        "tls": {"alpn": ["http/1.1"]}}});
    let text = refused(tls, json!({}));
    assert!(text.contains("does not offer \"h2\""), "{text}");
}
