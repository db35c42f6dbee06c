//! Sockets of journeys: opened with what the client knows, and what is said there is carried on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::server::*;
use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A login gives a token, with which alone a socket is opened; what is said there comes back with the number that it has on
/// its socket.
fn chat() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
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
                    let response =
                        b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\nContent-Length: 13\r\n\r\n{\"token\":\"t\"}";
                    stream.write_all(response).await.ok();
                    continue;
                }
                assert!(request.contains("Authorization: Bearer t\r\n"), "{request}");
                assert!(request.contains("Cookie: sid=1\r\n"), "{request}");
                let response = switching(&request);
                stream.write_all(response.as_bytes()).await.ok();
                for number in 1.. {
                    let Some((TEXT, message)) = read_frame(&mut stream).await else {
                        log.lock().unwrap().push("closed".to_owned());
                        return;
                    };
                    log.lock()
                        .unwrap()
                        .push(String::from_utf8_lossy(&message).into_owned());
                    let said: Value = serde_json::from_slice(&message).unwrap();
                    let response = json!({"number": number, "said": said["said"]}).to_string();
                    let frames = [frame(TEXT, b"news"), frame(TEXT, response.as_bytes())];
                    stream.write_all(&frames.concat()).await.ok();
                }
            }
        }
    });
    (address, seen)
}

/// A login, two messages of which the second one carries what the first one was answered with, and another login.
fn chatting(address: SocketAddr, close: bool) -> Value {
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
        assert_eq!(said.collect::<Vec<_>>(), expected, "news are no responses");
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

/// Answers every message and every request of HTTP; the request lines, as they came.
fn rooms() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let address = serve(move |mut stream| {
        let log = log.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let line = request.lines().next().unwrap().to_owned();
                log.lock().unwrap().push(line);
                if !request.contains("Upgrade: websocket") {
                    stream.write_all(OK).await.ok();
                    continue;
                }
                let response = switching(&request);
                stream.write_all(response.as_bytes()).await.ok();
                while let Some((TEXT, _)) = read_frame(&mut stream).await {
                    stream.write_all(&frame(TEXT, b"more")).await.ok();
                }
                return;
            }
        }
    });
    (address, seen)
}

/// Journeys of a message and a request of HTTP.
fn in_rooms(address: SocketAddr, steps: &Value, load: Value) -> Value {
    let message = json!({
        "name": "say", "method": "GET", "path": "/rooms/chat", "fill": "text",
        "websocket": {"message": "text"}, "body_base64": STANDARD.encode("a message"),
    });
    let page = json!({"name": "page", "method": "GET", "path": "/page", "fill": "text"});
    let change = json!({
        "slots": 2, "redirects": {"most": 0},
        "requests": [message, page], "journeys": [{"name": "j", "steps": steps}],
    });
    one(with(workload(address, load), "", change), 0)
}

#[test]
fn a_url_in_a_message_is_relative_to_that_of_its_socket() {
    let (address, log) = rooms();
    let url = json!({"name": "url", "slot": 0, "base": 1, "from": "body"});
    let steps = json!([
        {"request": 0, "repeat": 2, "capture": [url]},
        {"request": 1, "url": {"slot": 0, "base": 1}},
    ]);
    let load = json!({"closed": {"clients": 1, "requests": 1}});
    let seen = run(in_rooms(address, &steps, load));
    let failures = seen.failures();
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 3)]), "{failures:?}");
    let expected = ["GET /rooms/chat HTTP/1.1", "GET /rooms/more HTTP/1.1"];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn at_a_rate_each_visitor_has_a_socket_of_its_own() {
    let (address, log) = rooms();
    let steps = json!([{"request": 0}, {"request": 1}]);
    let rates = json!([{"from": 500.0, "to": 500.0}]);
    let load = json!({"open": {"arrivals": "constant", "rates": rates, "requests": 5, "max_connections": 1}});
    let seen = run(in_rooms(address, &steps, load));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 10)]));
    assert_eq!(
        seen.sum(0, |state| state.connects),
        1 + 5,
        "the connection stays"
    );
    let visits = ["GET /rooms/chat HTTP/1.1", "GET /page HTTP/1.1"].repeat(5);
    assert_eq!(*log.lock().unwrap(), visits);
}
