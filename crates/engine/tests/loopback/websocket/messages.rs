//! What is sent in messages, and which message answers which.

use super::server::*;
use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jostle_engine::interval::Measure;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

#[test]
fn a_socket_carries_one_message_after_another_and_each_has_its_time() {
    let address = answering_messages(|mut stream, message| async move {
        assert_eq!(message, b"hello");
        // In two fragments.
        let response = [frame(0x01, b"wor"), frame(0x80, b"ld")].concat();
        stream.write_all(&response).await.ok()?;
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
fn a_wrong_response_leaves_the_socket_open() {
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
fn a_message_that_nobody_asked_for_is_no_response_and_is_counted() {
    let address = saying([frame(TEXT, b"response"), frame(TEXT, b"news")].concat());
    let expect = json!({"expect": {"body": {"exact": "response"}}});
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
fn a_response_is_known_by_a_value_that_it_has_in_common_with_its_message() {
    let address = answering_messages(|mut stream, message| async move {
        let message = String::from_utf8(message).unwrap();
        let other = frame(TEXT, br#"{"id": 0, "news": true}"#);
        let response = message.replace("say", "said");
        stream
            .write_all(&[other, frame(TEXT, response.as_bytes())].concat())
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
    let seen = run(ten(address, request("/user")));
    assert_eq!(seen.outcomes(), all("unsendable"));
    assert!(why(&seen).contains("what is sent has no value at /user"));
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
                json!({"websocket": {"message": "text", "match": {"field": "/id"}}}),
            ),
            "match: what is sent cannot be read as JSON: 'h' at byte 0",
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
