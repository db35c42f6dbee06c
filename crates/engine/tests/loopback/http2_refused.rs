//! Requests that a server announces not to have processed (RFC 9113 section 8.7): they are sent again.
//!
//! The frames are made by hand, as no server library lets its user say when it ignores what comes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::http2::over_http2;
use crate::http2_hostile::{
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, STATUS_200, frame,
    read_frame,
};
use crate::support::*;
use jostle_engine::interval::Measure;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;

/// How a server ends its connections.
#[derive(Clone, Copy)]
struct Manner {
    /// How many requests of a connection it processes.
    requests: usize,
    /// How many streams it allows at once; 0: as many as come.
    streams: u32,
    /// Whether it announces the end with the highest stream number first.
    two_steps: bool,
}

fn goaway(last: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), NO_ERROR.to_be_bytes()].concat();
    frame(GOAWAY, 0, 0, &payload)
}

/// A server that processes some requests of each connection, then says GOAWAY and ignores all later ones. The numbers of
/// the streams that it processed, and the bodies that came with them.
fn leaving(manner: Manner) -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let seen = bodies.clone();
    let address = serve(move |stream| {
        let seen = seen.clone();
        async move {
            // The client has left: that is its own affair.
            let _ = process(stream, manner, &seen).await;
        }
    });
    (address, bodies)
}

async fn process(
    mut stream: TcpStream,
    manner: Manner,
    bodies: &Mutex<Vec<Vec<u8>>>,
) -> std::io::Result<()> {
    let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
    stream.read_exact(&mut preface).await?;
    let limit = [&[0, 3][..], &manner.streams.to_be_bytes()].concat();
    let settings = if manner.streams > 0 { limit } else { vec![] };
    stream.write_all(&frame(SETTINGS, 0, 0, &settings)).await?;
    stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?;
    let mut processed = 0;
    let mut body = Vec::new();
    loop {
        let (kind, flags, id, payload) = read_frame(&mut stream).await?;
        if processed == manner.requests || !matches!(kind, HEADERS | DATA) {
            continue;
        }
        if kind == DATA {
            body.extend_from_slice(&payload);
        }
        if flags & END_STREAM == 0 {
            continue;
        }
        bodies.lock().unwrap().push(std::mem::take(&mut body));
        processed += 1;
        let mut response = Vec::new();
        if processed == manner.requests {
            if manner.two_steps {
                response.extend(goaway(u32::MAX >> 1));
            }
            response.extend(goaway(id));
        }
        response.extend(frame(HEADERS, END_HEADERS | END_STREAM, id, &[STATUS_200]));
        stream.write_all(&response).await?;
    }
}

fn served(manner: Manner, http2: Value, load: Value, change: Value) -> (Seen, Vec<Vec<u8>>) {
    let (address, bodies) = leaving(manner);
    let spec = with(over_http2(address, http2, load), "/requests/0", change);
    let seen = run(with(one(spec, 0), "", json!({"threads": 1})));
    let bodies = std::mem::take(&mut *bodies.lock().unwrap());
    (seen, bodies)
}

const CLIENTS: u64 = 16;
const REQUESTS: u64 = 800;

fn closed() -> Value {
    json!({"closed": {"clients": CLIENTS, "requests": REQUESTS}})
}

#[test]
fn requests_beyond_a_goodbye_are_sent_again_and_none_fails() {
    for two_steps in [false, true] {
        let manner = Manner {
            requests: 50,
            streams: 0,
            two_steps,
        };
        let (seen, bodies) = served(manner, json!({"connections": 1}), closed(), json!({}));
        assert_eq!(seen.outcomes(), ok(REQUESTS));
        assert_eq!(bodies.len() as u64, REQUESTS, "each was processed once");
        assert!(seen.sum(0, |state| state.resent) > 0);
        assert_eq!(seen.sum(0, |state| state.sent), REQUESTS);
        assert_eq!(seen.recorded(Measure::Response), REQUESTS);
        let connects = seen.sum(0, |state| state.connects);
        assert!(
            (REQUESTS / 50..=REQUESTS / 50 + 1).contains(&connects),
            "{connects}"
        );
        for rows in seen.rows() {
            let times = rows.intended_ns.iter().zip(&rows.sent_ns).zip(&rows.end_ns);
            assert!(
                times
                    .into_iter()
                    .all(|((due, sent), end)| due <= sent && sent <= end)
            );
        }
    }
}

#[test]
fn a_connection_that_takes_fewer_requests_than_clients_wait_is_an_ordinary_one() {
    let manner = Manner {
        requests: 3,
        streams: 0,
        two_steps: false,
    };
    let (seen, bodies) = served(manner, json!({"connections": 1}), closed(), json!({}));
    assert_eq!(seen.outcomes(), ok(REQUESTS));
    assert_eq!(bodies.len() as u64, REQUESTS);
}

#[test]
fn who_waits_for_a_stream_goes_on_to_the_next_connection() {
    let manner = Manner {
        requests: 50,
        streams: 2,
        two_steps: false,
    };
    let (seen, bodies) = served(manner, json!({"connections": 1}), closed(), json!({}));
    assert_eq!(
        (seen.outcomes(), bodies.len() as u64),
        (ok(REQUESTS), REQUESTS)
    );
    assert!(seen.sum(0, |state| state.stream_waits) > 0);
}

#[test]
fn connections_of_a_single_client_and_bodies_are_sent_again_whole() {
    let body = "a body of some length".repeat(40);
    let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &body);
    let post = json!({"method": "POST", "body_base64": encoded});
    for http2 in [json!({"connections": 1}), json!({})] {
        let manner = Manner {
            requests: 20,
            streams: 0,
            two_steps: false,
        };
        let (seen, bodies) = served(manner, http2, closed(), post.clone());
        assert_eq!(
            (seen.outcomes(), bodies.len() as u64),
            (ok(REQUESTS), REQUESTS)
        );
        assert!(bodies.iter().all(|seen| seen == body.as_bytes()));
    }
}

#[test]
fn the_open_loop_sends_again_as_well() {
    let open = json!({"open": {"arrivals": "constant", "rates": [{"from": 2000.0, "to": 2000.0}],
        "requests": REQUESTS, "max_connections": 64}});
    let manner = Manner {
        requests: 50,
        streams: 0,
        two_steps: true,
    };
    let (seen, bodies) = served(manner, json!({"connections": 1}), open, json!({}));
    assert_eq!(
        (seen.outcomes(), bodies.len() as u64),
        (ok(REQUESTS), REQUESTS)
    );
}

#[test]
fn a_refused_stream_is_sent_again_once_on_its_connection() {
    let counted = Arc::new(AtomicUsize::new(0));
    // Each first stream of two is refused.
    let asked = counted.clone();
    let address = serve(move |mut stream| {
        let asked = asked.clone();
        async move {
            let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
            stream.read_exact(&mut preface).await.unwrap();
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
            while let Ok((kind, _, id, _)) = read_frame(&mut stream).await {
                if kind != HEADERS {
                    continue;
                }
                let response = if asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                    frame(RST_STREAM, 0, id, &REFUSED_STREAM.to_be_bytes())
                } else {
                    frame(HEADERS, END_HEADERS | END_STREAM, id, &[STATUS_200])
                };
                stream.write_all(&response).await.unwrap();
            }
        }
    });
    for http2 in [json!({"connections": 1}), json!({})] {
        let load = json!({"closed": {"clients": 1, "requests": 10}});
        let seen = run(with(
            one(over_http2(address, http2, load), 0),
            "",
            json!({"threads": 1}),
        ));
        assert_eq!(seen.outcomes(), ok(10));
        let counts = (
            seen.sum(0, |s| s.resent),
            seen.sum(0, |s| s.sent),
            seen.sum(0, |s| s.connects),
        );
        assert_eq!(counts, (10, 10, 1));
    }
    assert_eq!(counted.load(Ordering::Relaxed), 40);
}

#[test]
fn a_server_that_refuses_every_request_on_every_connection_gets_it_twice() {
    for last in [1, u32::MAX >> 1] {
        let address = serve(move |mut stream| async move {
            let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
            stream.read_exact(&mut preface).await.unwrap();
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
            while let Ok((kind, _, id, _)) = read_frame(&mut stream).await {
                if kind == HEADERS {
                    let reset = frame(RST_STREAM, 0, id, &REFUSED_STREAM.to_be_bytes());
                    let response = [goaway(last), reset].concat();
                    stream.write_all(&response).await.unwrap();
                }
            }
        });
        for http2 in [json!({"connections": 1}), json!({})] {
            let load = json!({"closed": {"clients": 1, "requests": 3}});
            let spec = one(over_http2(address, http2, load), 0);
            let seen = run(with(spec, "", json!({"threads": 1})));
            let why = "RST_STREAM REFUSED_STREAM".to_owned();
            assert_eq!(seen.failures(), BTreeMap::from([(("reset", why), 3)]));
            assert_eq!(seen.sum(0, |state| state.connects), 6);
        }
    }
}
