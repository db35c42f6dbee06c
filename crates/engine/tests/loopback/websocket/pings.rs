//! Pings of the server's, which are answered, and our own, which have round trips.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::server::*;
use crate::support::*;
use jostle_engine::pings::PingSeries;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

#[test]
fn pings_are_answered_while_a_response_is_awaited_and_while_nothing_is() {
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

/// Answers a request for `/later` only after a ping over the WebSocket, which is open by then, has got its pong.
fn pinging_before_it_answers() -> SocketAddr {
    let (asked, answered) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    serve(move |mut stream| {
        let (asked, answered) = (asked.clone(), answered.clone());
        async move {
            while let Some(request) = read_request(&mut stream).await {
                if !request.contains("Upgrade: websocket") {
                    if request.starts_with("GET /later") {
                        asked.notify_one();
                        answered.notified().await;
                    }
                    stream.write_all(OK).await.ok();
                    continue;
                }
                let response = switching(&request);
                stream.write_all(response.as_bytes()).await.ok();
                while let Some((TEXT, _)) = read_frame(&mut stream).await {
                    stream.write_all(&frame(TEXT, b"x")).await.ok();
                    asked.notified().await;
                    stream.write_all(&frame(PING, b"now")).await.ok();
                    let pong = read_frame(&mut stream).await;
                    assert_eq!(pong, Some((PONG, b"now".to_vec())));
                    answered.notify_one();
                }
                return;
            }
        }
    })
}

#[test]
fn pings_are_answered_while_a_response_of_http_is_awaited() {
    let step = |name: &str, change: Value| {
        let path = format!("/{name}");
        let plain = json!({"name": name, "method": "GET", "path": path, "fill": "text"});
        with(plain, "", change)
    };
    let message = json!({"websocket": {"message": "text"}, "body_base64": "aGVsbG8="});
    let pages = ["now", "later"].map(|name| step(name, json!({})));
    let requests = json!([step("chat", message), pages[0], pages[1]]);
    for together in [false, true] {
        let address = pinging_before_it_answers();
        let last = json!({"request": 2, "together": together});
        let journey = json!({
            "name": "j", "connections": 2, "steps": [{"request": 0}, {"request": 1}, last],
        });
        let change = json!({"requests": requests, "journeys": [journey]});
        let load = json!({"closed": {"clients": 1, "requests": 2}});
        let seen = run(one(with(workload(address, load), "", change), 0));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 6)]), "{together}");
    }
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

/// A run in which two clients send "hello", each with a pause or a response of so many ms, and ping meanwhile.
fn pinged(address: SocketAddr, every_ms: u64, think_ms: u64) -> Value {
    let request = json!({"websocket": {"message": "text", "ping_ns": every_ms * MS}});
    let think = json!({"think": {"constant": {"ns": think_ms * MS}}, "requests": 4});
    with(ten(address, request), "/workloads/0/load/closed", think)
}

#[test]
fn pings_have_their_round_trips_while_a_client_pauses_and_while_it_waits() {
    for (response_ms, think_ms) in [(0, 300), (300, 0)] {
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
                            due = Some(tokio::time::Instant::now() + Duration::from_millis(response_ms));
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
    let deaf = |responses: bool| {
        serve(move |mut stream| async move {
            if upgrade(&mut stream).await.is_none() {
                return;
            }
            while let Some((first, _)) = read_frame(&mut stream).await {
                if first == TEXT && responses {
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
    // While a response is awaited.
    let seen = run(pinged(deaf(false), 20, 0));
    assert_eq!(seen.outcomes(), BTreeMap::from([("response_timeout", 4)]));
    assert_eq!(why(&seen), "the server did not answer a ping within 20ms");
    assert_eq!(pings(&seen).unanswered, 4);
}
