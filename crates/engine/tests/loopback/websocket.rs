//! Messages over a WebSocket, and every way in which a server can break off or break the rules.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jostle_engine::interval::{Measure, STREAM_MEASURES, StreamMeasure};
use jostle_engine::pings::PingSeries;
use jostle_engine::streams::StreamSeries;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8A;

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ ..126 => frame.push(short as u8),
        medium => {
            frame.push(126);
            frame.extend_from_slice(&(medium as u16).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

/// The answer to a handshake.
fn switching(request: &str) -> String {
    let key = request
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let key = key.expect("a handshake has a key").to_owned();
    let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let accept = STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// Takes a handshake; `None` when the client has closed.
async fn upgrade(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    let answer = switching(&String::from_utf8(request).unwrap());
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

/// A client's frame: its first byte and what it carries, which has at most 125 bytes here.
async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 6];
    stream.read_exact(&mut head).await.ok()?;
    assert!(head[1] & 0x80 != 0, "a client masks what it sends");
    let mut payload = vec![0; usize::from(head[1] & 0x7F)];
    stream.read_exact(&mut payload).await.ok()?;
    for (byte, key) in payload.iter_mut().zip(head[2..].iter().cycle()) {
        *byte ^= key;
    }
    Some((head[0], payload))
}

/// A server that does `answer` with each message.
fn answering_messages<F, Fut>(answer: F) -> std::net::SocketAddr
where
    F: Fn(TcpStream, Vec<u8>) -> Fut + Send + Clone + 'static,
    Fut: Future<Output = Option<TcpStream>> + 'static,
{
    serve(move |mut stream| {
        let answer = answer.clone();
        async move {
            if upgrade(&mut stream).await.is_none() {
                return;
            }
            while let Some((first, message)) = read_frame(&mut stream).await {
                if first == CLOSE {
                    stream.write_all(&frame(CLOSE, &message)).await.ok();
                    return;
                }
                match answer(stream, message).await {
                    Some(back) => stream = back,
                    None => return,
                }
            }
        }
    })
}

/// Answers every message with these bytes.
fn saying(bytes: Vec<u8>) -> std::net::SocketAddr {
    answering_messages(move |mut stream, _| {
        let bytes = bytes.clone();
        async move {
            stream.write_all(&bytes).await.ok()?;
            Some(stream)
        }
    })
}

/// A run of ten messages "hello" by two clients; `request` says what else is said of them.
fn ten(address: std::net::SocketAddr, request: Value) -> Value {
    let load = json!({"closed": {"clients": 2, "requests": 10}});
    let spec = one(workload(address, load), 0);
    let hello = json!({"websocket": {"message": "text"}, "body_base64": "aGVsbG8="});
    with(
        with(spec, "/workloads/0/requests/0", hello),
        "/workloads/0/requests/0",
        request,
    )
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 10)])
}

fn why(seen: &Seen) -> String {
    let failures = seen.failures();
    failures
        .into_keys()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn a_socket_carries_one_message_after_another_and_each_has_its_time() {
    let address = answering_messages(|mut stream, message| async move {
        assert_eq!(message, b"hello");
        // In two fragments.
        let answer = [frame(0x01, b"wor"), frame(0x80, b"ld")].concat();
        stream.write_all(&answer).await.ok()?;
        Some(stream)
    });
    let seen = run(ten(
        address,
        json!({"expect": {"body": {"exact": "world"}}}),
    ));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 2);
    assert_eq!(seen.recorded(Measure::Connect), 2);
    assert_eq!(seen.recorded(Measure::Response), 10);
    assert!(
        seen.rows()
            .all(|rows| rows.status.iter().all(|status| *status == 101))
    );
    // Two bytes of head, four of mask.
    let sent: u64 = seen.series(0).map(|series| series.bytes_out).sum();
    assert_eq!(sent, 10 * (6 + 5));
}

#[test]
fn a_socket_may_go_over_tls() {
    let acceptor = self_signed();
    let address = serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            upgrade(&mut stream).await.unwrap();
            while let Some((TEXT, message)) = read_frame(&mut stream).await {
                stream.write_all(&frame(TEXT, &message)).await.unwrap();
                stream.flush().await.unwrap();
            }
        }
    });
    let target = json!({"tls": {"insecure": true}});
    let expect = json!({"expect": {"body": {"exact": "hello"}}});
    let seen = run(with(ten(address, expect), "/workloads/0/target", target));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.recorded(Measure::Tls), 2);
}

#[test]
fn a_wrong_answer_leaves_the_socket_open() {
    let address = saying(frame(TEXT, b"moon"));
    let seen = run(ten(
        address,
        json!({"expect": {"body": {"exact": "world"}}}),
    ));
    assert_eq!(seen.outcomes(), all("wrong_body"));
    assert_eq!(seen.sum(0, |state| state.connects), 2);
}

#[test]
fn an_open_load_and_connections_of_one_message_each_take_sockets_too() {
    let address = saying(frame(TEXT, b"x"));
    let load = json!({"open": {
        "arrivals": "constant", "rates": [{"from": 200.0, "to": 200.0}], "requests": 10, "max_connections": 4,
        "requests_per_connection": 1,
    }});
    let seen = run(with(
        ten(address, json!({})),
        "/workloads/0",
        json!({"load": load}),
    ));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
}

#[test]
fn parameters_are_filled_in_the_message() {
    let address = answering_messages(|mut stream, message| async move {
        stream.write_all(&frame(TEXT, &message)).await.ok()?;
        Some(stream)
    });
    let request = json!({
        // {"id": {n}}
        "body_base64": STANDARD.encode(r#"{"id": {n}}"#),
        "params": {"n": {"range": {"from": 7, "to": 7}}},
        "expect": {"body": {"json": {"pointer": "/id", "value": 7}}},
    });
    assert_eq!(run(ten(address, request)).outcomes(), all("ok"));
}

#[test]
fn a_server_that_does_not_upgrade_is_told_of_by_its_status() {
    let address = answering(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 5\r\n\r\nhello");
    let seen = run(ten(address, json!({})));
    assert_eq!(seen.outcomes(), all("upgrade_refused"));
    assert!(why(&seen).contains("with status 426, not with 101"));
    assert_eq!(seen.sum(0, |state| state.sent), 0);
    assert!(
        seen.sum(0, |state| state.backoffs) > 0,
        "it is not asked again at once"
    );
}

#[test]
fn a_server_that_does_not_answer_the_handshake_is_a_connect_timeout() {
    let address =
        serve(|mut stream| async move { while read_request(&mut stream).await.is_some() {} });
    let timeouts = json!({"connect_ns": 50 * MS, "total_ns": 5 * SECOND});
    let spec = with(ten(address, json!({})), "/workloads/0/timeouts", timeouts);
    let seen = run(with(spec, "/workloads/0/load/closed/requests", json!(2)));
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_timeout", 2)]));
    assert!(why(&seen).contains("did not answer the WebSocket handshake in time"));
}

#[test]
fn a_server_that_breaks_the_rules_is_counted_with_the_rule_it_broke() {
    let long = |length: u64| {
        let mut head = vec![0x82, 127];
        head.extend_from_slice(&length.to_be_bytes());
        head
    };
    for (answer, outcome, text) in [
        (frame(0xC1, b"x"), "malformed", "reserved bits"),
        (vec![0x81, 0x81, 1, 2, 3, 4, 5], "malformed", "is masked"),
        (frame(0x09, b"x"), "malformed", "is fragmented"),
        (frame(0x89, &[b'x'; 126]), "malformed", "more than 125"),
        (frame(0x83, b"x"), "malformed", "opcode 0x3"),
        (frame(0x80, b"x"), "malformed", "none had begun"),
        (frame(TEXT, b"\xff"), "malformed", "not UTF-8"),
        (long(1 << 40), "too_large", "longer than is allowed"),
        (
            frame(CLOSE, b"\x03\xf0no pets"),
            "closed_early",
            "closed the WebSocket with code 1008 (no pets)",
        ),
        (
            frame(CLOSE, b""),
            "closed_early",
            "closed the WebSocket without a code",
        ),
        (frame(CLOSE, b"\x03\xed"), "malformed", "the code 1005"),
    ] {
        let spec = ten(saying(answer), json!({}));
        let seen = run(with(spec, "/workloads/0", json!({"body_limit": 1_000_000})));
        assert_eq!(seen.outcomes(), all(outcome), "{text}");
        assert!(why(&seen).contains(text), "{}", why(&seen));
    }
}

#[test]
fn a_server_that_just_goes_away_has_closed_early() {
    let seen = run(ten(
        answering_messages(|mut stream, _| async move {
            // Within a message.
            stream.write_all(&frame(TEXT, b"whole")[..4]).await.ok()?;
            None
        }),
        json!({}),
    ));
    assert_eq!(seen.outcomes(), all("closed_early"));
    assert!(why(&seen).contains("without closing the WebSocket"));
}

#[test]
fn pings_are_answered_while_an_answer_is_awaited_and_while_nothing_is() {
    let address = serve(|mut stream| async move {
        if upgrade(&mut stream).await.is_none() {
            return;
        }
        while let Some((first, _)) = read_frame(&mut stream).await {
            if first == CLOSE {
                return;
            }
            let awaited = [frame(PING, b"now"), frame(TEXT, b"x"), frame(PING, b"idle")];
            stream.write_all(&awaited.concat()).await.ok();
            for payload in [b"now".as_slice(), b"idle"] {
                let pong = read_frame(&mut stream).await;
                assert_eq!(pong, Some((PONG, payload.to_vec())));
            }
        }
    });
    let spec = ten(address, json!({}));
    let think = json!({"think": {"constant": {"ns": 5 * MS}}});
    for load in [think, json!({})] {
        let seen = run(with(spec.clone(), "/workloads/0/load/closed", load));
        assert_eq!(seen.outcomes(), all("ok"));
        assert_eq!(
            seen.sum(0, |state| state.connects),
            2,
            "a pong that is still to be sent is no reason to leave"
        );
    }
}

#[test]
fn a_server_that_only_pings_and_never_reads_cannot_keep_a_message_from_its_timeout() {
    let address = serve(|mut stream| async move {
        if upgrade(&mut stream).await.is_some() {
            let pings = frame(PING, &[b'?'; 125]).repeat(100);
            while stream.write_all(&pings).await.is_ok() {}
        }
    });
    let timeouts = json!({"total_ns": 50 * MS, "connect_ns": 5 * SECOND});
    let seen = run(with(
        ten(address, json!({})),
        "/workloads/0/timeouts",
        timeouts,
    ));
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert!(seen.series(0).map(|series| series.bytes_in).sum::<u64>() > 100_000);
}

fn pings(seen: &Seen) -> PingSeries {
    let mut all = Vec::new();
    for interval in &seen.0 {
        jostle_engine::pings::append(&mut all, &interval.pings);
    }
    let [one] = all.as_slice() else {
        panic!("one request has sockets that are pinged");
    };
    one.clone()
}

/// A run in which two clients send "hello", each with a pause or an answer of so many ms, and ping meanwhile.
fn pinged(address: std::net::SocketAddr, every_ms: u64, think_ms: u64) -> Value {
    let request = json!({"websocket": {"message": "text", "ping_ns": every_ms * MS}});
    let think = json!({"think": {"constant": {"ns": think_ms * MS}}, "requests": 4});
    with(ten(address, request), "/workloads/0/load/closed", think)
}

#[test]
fn pings_have_their_round_trips_while_a_client_pauses_and_while_it_waits() {
    for (answer_ms, think_ms) in [(0, 300), (300, 0)] {
        let address = serve(move |mut stream| async move {
            if upgrade(&mut stream).await.is_none() {
                return;
            }
            let mut due = None;
            loop {
                let wait = due.unwrap_or(tokio::time::Instant::now() + Duration::from_mins(1));
                tokio::select! {
                    got = read_frame(&mut stream) => match got {
                        Some((TEXT, _)) => {
                            due = Some(tokio::time::Instant::now() + Duration::from_millis(answer_ms));
                        }
                        Some((PING, payload)) => {
                            // One that nobody asked for, and one that answers.
                            let pongs = [frame(PONG, b"?"), frame(PONG, &payload)];
                            stream.write_all(&pongs.concat()).await.ok();
                        }
                        _ => return,
                    },
                    () = tokio::time::sleep_until(wait) => {
                        due = None;
                        stream.write_all(&frame(TEXT, b"x")).await.ok();
                    }
                }
            }
        });
        let seen = run(pinged(address, 100, think_ms));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
        let found = pings(&seen);
        assert!(found.sent >= 2, "{found:?}");
        assert_eq!(found.unanswered, 0);
        assert!(found.round_trips.len() <= found.sent && found.round_trips.len() >= found.sent - 2);
        assert_eq!(seen.sum(0, |state| state.connects), 2);
    }
}

#[test]
fn a_server_that_answers_no_ping_loses_its_sockets() {
    let deaf = |answers: bool| {
        serve(move |mut stream| async move {
            if upgrade(&mut stream).await.is_none() {
                return;
            }
            while let Some((first, _)) = read_frame(&mut stream).await {
                if first == TEXT && answers {
                    stream.write_all(&frame(TEXT, b"x")).await.ok();
                }
            }
        })
    };
    // While nothing is asked: the next message goes over another socket.
    let seen = run(pinged(deaf(true), 20, 200));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 4)]));
    assert_eq!(seen.sum(0, |state| state.connects), 4);
    let found = pings(&seen);
    assert_eq!((found.round_trips.len(), found.unanswered), (0, found.sent));
    // While an answer is awaited.
    let seen = run(pinged(deaf(false), 20, 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("response_timeout", 4)]));
    assert_eq!(why(&seen), "the server did not answer a ping within 20ms");
    assert_eq!(pings(&seen).unanswered, 4);
}

#[test]
fn a_message_that_nobody_asked_for_is_no_answer_and_is_counted() {
    let address = saying([frame(TEXT, b"answer"), frame(TEXT, b"news")].concat());
    let expect = json!({"expect": {"body": {"exact": "answer"}}});
    let seen = run(ten(address, expect));
    assert_eq!(seen.outcomes(), all("ok"));
    let excess = seen.texts(|state| &state.excess);
    assert_eq!(
        excess.into_iter().collect::<Vec<_>>(),
        [("a message came that answers none".to_owned(), 8)],
        "seen with the next message"
    );
}

#[test]
fn an_echo_is_found_among_other_messages() {
    let noisy = |echo: &'static [u8]| {
        saying(
            [
                frame(TEXT, b"hell"),
                frame(TEXT, b"hello!"),
                frame(TEXT, echo),
            ]
            .concat(),
        )
    };
    let echo = json!({"websocket": {"message": "text", "match": "echo"}});
    let seen = run(ten(noisy(b"hello"), echo.clone()));
    assert_eq!(seen.outcomes(), all("ok"));
    assert!(seen.texts(|state| &state.excess).is_empty());
    let spec = ten(noisy(b"hullo"), echo);
    let timeouts = json!({"total_ns": 50 * MS, "connect_ns": SECOND});
    let seen = run(with(spec, "/workloads/0/timeouts", timeouts));
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert!(why(&seen).contains("no message equal to the one that was sent"));
}

#[test]
fn an_answer_is_known_by_a_value_that_it_has_in_common_with_its_message() {
    let address = answering_messages(|mut stream, message| async move {
        let message = String::from_utf8(message).unwrap();
        let other = frame(TEXT, br#"{"id": 0, "news": true}"#);
        let answer = message.replace("say", "said");
        stream
            .write_all(&[other, frame(TEXT, answer.as_bytes())].concat())
            .await
            .ok()?;
        Some(stream)
    });
    let request = |field: &str| {
        json!({
            "websocket": {"message": "text", "match": {"field": field}},
            "body_base64": STANDARD.encode(r#"{"id": {n}, "say": "x"}"#),
            "params": {"n": {"range": {"from": 1, "to": 1_000_000}}},
            "expect": {"body": {"json": {"pointer": "/said", "value": "x"}}},
        })
    };
    let seen = run(ten(address, request("/id")));
    assert_eq!(seen.outcomes(), all("ok"));
    assert!(seen.texts(|state| &state.excess).is_empty());
    let timeouts = json!({"total_ns": 30 * MS, "connect_ns": SECOND});
    let spec = with(
        ten(address, request("/user")),
        "/workloads/0/timeouts",
        timeouts,
    );
    let seen = run(spec);
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert!(why(&seen).contains("what was sent has no value at /user"));
}

fn streams(seen: &Seen) -> StreamSeries {
    let mut all = Vec::new();
    for interval in &seen.0 {
        jostle_engine::streams::append(&mut all, &interval.streams);
    }
    let [one] = all.as_slice() else {
        panic!("one request has streams");
    };
    one.clone()
}

#[test]
fn messages_that_are_pushed_are_the_events_of_a_stream() {
    let pushing = |end: Vec<u8>| {
        serve(move |mut stream| {
            let end = end.clone();
            async move {
                if upgrade(&mut stream).await.is_some() {
                    let events = frame(TEXT, b"tick").repeat(3);
                    stream.write_all(&[events, end].concat()).await.ok();
                    while read_frame(&mut stream).await.is_some() {}
                }
            }
        })
    };
    let listening = |stream: Value| json!({"websocket": {"message": null}, "body_base64": null, "stream": stream});
    for (end, stream, outcome, whole) in [
        (
            frame(CLOSE, b"\x03\xe8"),
            json!({"format": "messages"}),
            "ok",
            10,
        ),
        (
            frame(TEXT, b"bye"),
            json!({"format": "messages", "until": "bye"}),
            "ok",
            10,
        ),
        (
            frame(CLOSE, b"\x03\xe9"),
            json!({"format": "messages", "until": "bye"}),
            "stream_ended",
            0,
        ),
        (
            Vec::new(),
            json!({"format": "messages", "stall_ns": 20 * MS}),
            "stream_stalled",
            0,
        ),
        (
            frame(CLOSE, b"\x03\xf3"),
            json!({"format": "messages"}),
            "closed_early",
            0,
        ),
    ] {
        let spec = ten(pushing(end), listening(stream));
        // Each listens on a socket of its own.
        let once = json!({"requests_per_connection": 1});
        let seen = run(with(spec, "/workloads/0/load/closed", once));
        assert_eq!(seen.outcomes(), all(outcome));
        let found = streams(&seen);
        assert_eq!((found.whole, found.events), (whole, 30), "{outcome}");
        let gaps = &found.histograms[StreamMeasure::Gap as usize];
        assert_eq!(gaps.len(), 20);
        assert_eq!(found.histograms.len(), STREAM_MEASURES);
    }
}

#[test]
fn a_socket_that_was_closed_meanwhile_is_opened_again() {
    let address = answering_messages(|mut stream, _| async move {
        let last = [frame(TEXT, b"x"), frame(CLOSE, b"\x03\xe9")].concat();
        stream.write_all(&last).await.ok()?;
        Some(stream)
    });
    let seen = run(ten(address, json!({})));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
}

#[test]
fn what_cannot_be_is_refused_before_the_run() {
    let address = "127.0.0.1:1".parse().unwrap();
    let hello = json!({"name": "other", "method": "GET", "path": "/other", "websocket": {"message": "text"}});
    let plain = json!({"name": "plain", "method": "GET", "path": "/"});
    let several = |other: &Value| {
        with(ten(address, json!({})), "/workloads/0/requests", {
            let mut first = ten(address, json!({}))["workloads"][0]["requests"][0].take();
            first["name"] = json!("first");
            json!([first, other])
        })
    };
    for (spec, problem) in [
        (several(&plain), "all of them over a WebSocket, or none"),
        (several(&hello), "path and headers must be equal"),
        (
            ten(address, json!({"expect": {"status": [200]}})),
            "a message has no status",
        ),
        (
            ten(
                address,
                json!({"websocket": {"message": null}, "body_base64": null}),
            ),
            "nothing is sent",
        ),
        (
            ten(address, json!({"stream": {"format": "sse"}})),
            "a stream of messages comes over a WebSocket",
        ),
        (
            ten(
                address,
                json!({"websocket": {"message": "text", "match": "echo"}, "expect": {"body": {"length": 1}}}),
            ),
            "an echo is one message",
        ),
        (
            ten(
                address,
                json!({"websocket": {"message": "text", "match": {"field": "id"}}}),
            ),
            "does not begin with '/'",
        ),
        (
            ten(
                address,
                json!({"websocket": {"message": "text", "ping_ns": 0}}),
            ),
            "no pong comes in no time",
        ),
        (
            ten(address, json!({"headers": [["Upgrade", "x"]]})),
            "belongs to the handshake",
        ),
        (
            ten(
                address,
                json!({"path": "/{n}", "params": {"n": {"choice": ["1"]}}}),
            ),
            "params has none",
        ),
    ] {
        let Err(error) = start(spec) else {
            panic!("it was not refused: {problem}");
        };
        let error = error.to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// A login gives a token, with which alone a socket is opened; what is said there comes back with the number that it has on
/// its socket.
fn chat() -> (std::net::SocketAddr, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let address = serve(move |mut stream| {
        let log = log.clone();
        async move {
            loop {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => request.push(byte),
                        Err(_) => return,
                    }
                }
                let request = String::from_utf8(request).unwrap();
                log.lock()
                    .unwrap()
                    .push(request.lines().next().unwrap().to_owned());
                if request.starts_with("GET /login") {
                    let answer =
                        b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\nContent-Length: 13\r\n\r\n{\"token\":\"t\"}";
                    stream.write_all(answer).await.ok();
                    continue;
                }
                assert!(request.contains("Authorization: Bearer t\r\n"), "{request}");
                assert!(request.contains("Cookie: sid=1\r\n"), "{request}");
                let answer = switching(&request);
                stream.write_all(answer.as_bytes()).await.ok();
                for number in 1.. {
                    let Some((TEXT, message)) = read_frame(&mut stream).await else {
                        log.lock().unwrap().push("closed".to_owned());
                        return;
                    };
                    log.lock()
                        .unwrap()
                        .push(String::from_utf8_lossy(&message).into_owned());
                    let said: Value = serde_json::from_slice(&message).unwrap();
                    let answer = json!({"number": number, "said": said["said"]}).to_string();
                    let frames = [frame(TEXT, b"news"), frame(TEXT, answer.as_bytes())];
                    stream.write_all(&frames.concat()).await.ok();
                }
            }
        }
    });
    (address, seen)
}

/// A login, two messages of which the second one carries what the first one was answered with, and another login.
fn chatting(address: std::net::SocketAddr, close: bool) -> Value {
    let step = |name: &str, change: Value| {
        let plain = json!({"name": name, "method": "GET", "path": "/login", "fill": "json", "cookies": true});
        with(plain, "", change)
    };
    let message = |name: &str, body: &str, slot: usize| {
        let socket = json!({
            "path": "/chat?room={room}",
            "headers": [["Authorization", "Bearer {token}"]],
            "websocket": {"message": "text", "match": {"field": "/said"}},
            "body_base64": STANDARD.encode(body),
            "params": {"token": {"slot": {"slot": 0}}, "room": "client", "value": {"slot": {"slot": slot}}},
        });
        step(name, socket)
    };
    let said = |name: &str, slot: usize, from: &str| json!({"name": name, "slot": slot, "from": {"json": from}});
    let load = json!({"closed": {"clients": 1, "requests": 2}});
    let change = json!({
        "slots": 2,
        "requests": [
            step("login", json!({})),
            message("first", r#"{"said": {"token": "{value}"}, "number": 0}"#, 0),
            message("second", r#"{"said": {"after": "{value}"}}"#, 1),
            step("again", json!({})),
        ],
        "journeys": [{"name": "chat", "steps": [
            {"request": 0, "capture": [said("token", 0, "/token")]},
            {"request": 1, "capture": [said("number", 1, "/number")]},
            {"request": 2, "close": close},
            {"request": 3},
        ]}],
    });
    one(with(workload(address, load), "", change), 0)
}

#[test]
fn a_journey_opens_a_socket_with_what_it_knows_and_carries_on_what_was_said() {
    let first = r#"{"said": {"token": "t"}, "number": 0}"#;
    let second = [1, 3].map(|number| format!(r#"{{"said": {{"after": "{number}"}}}}"#));
    let (login, open) = ("GET /login HTTP/1.1", "GET /chat?room=1 HTTP/1.1");
    let kept = [
        login, open, first, &second[0], login, login, first, &second[1], login,
    ];
    let closed = [
        login, open, first, &second[0], login, login, open, first, &second[0], login,
    ];
    for (close, expected) in [(false, kept.as_slice()), (true, &closed)] {
        let (address, log) = chat();
        let seen = run(chatting(address, close));
        let failures = seen.failures();
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 8)]), "{failures:?}");
        let sockets = if close { 2 } else { 1 };
        assert_eq!(seen.sum(0, |state| state.connects), 1 + sockets);
        let log = log.lock().unwrap();
        let said = log.iter().filter(|line| *line != "closed");
        assert_eq!(said.collect::<Vec<_>>(), expected, "news are no answers");
        assert!(seen.texts(|state| &state.excess).is_empty());
    }
}

#[test]
fn messages_of_journeys_that_cannot_be_are_refused_before_the_run() {
    let address = "127.0.0.1:1".parse().unwrap();
    let header = json!({"name": "number", "slot": 1, "from": {"header": "X"}});
    let steps = "/workloads/0/journeys/0/steps";
    for (place, change, problem) in [
        (
            "/workloads/0/requests/2".to_owned(),
            json!({"headers": []}),
            "path and headers must be equal",
        ),
        (
            format!("{steps}/0"),
            json!({"close": true}),
            "is no message over one",
        ),
        (format!("{steps}/1/capture/0"), header, "has no head"),
        (
            "/workloads/0/target".to_owned(),
            json!({"http2": {}}),
            "over HTTP/1.1 only",
        ),
        (
            format!("{steps}/2"),
            json!({"together": true}),
            "a client has one WebSocket",
        ),
    ] {
        let mut spec = chatting(address, false);
        if problem.starts_with("a client") {
            spec["workloads"][0]["journeys"][0]["connections"] = json!(2);
        }
        let Err(error) = start(with(spec, &place, change)) else {
            panic!("it was not refused: {problem}");
        };
        let error = error.to_string();
        assert!(error.contains(problem), "{error}");
    }
}
