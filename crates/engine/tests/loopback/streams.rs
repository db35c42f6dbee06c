//! Server-sent events and lines: which are errors, which is the first that counts, and how many tokens they tell.
#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::time::Duration;

use crate::support::*;
use jostle_engine::streams::StreamMeasure;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// Ten requests, one after another, each answered with these pieces of a chunked body, 30 ms apart.
fn ten(kind: &'static str, pieces: &'static [&'static str], stream: Value) -> Seen {
    let address = serve(move |mut socket| async move {
        while read_request(&mut socket).await.is_some() {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
            );
            socket.write_all(head.as_bytes()).await.ok();
            for (number, piece) in pieces.iter().enumerate() {
                if number > 0 {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
                let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
                socket.write_all(chunk.as_bytes()).await.ok();
            }
            socket.write_all(b"0\r\n\r\n").await.ok();
        }
    });
    let load = json!({"closed": {"clients": 1, "requests": 10}});
    let spec = one(workload(address, load), 0);
    run(with(
        spec,
        "/workloads/0/requests/0",
        json!({"stream": stream}),
    ))
}

fn sse(pieces: &'static [&'static str], stream: Value) -> Seen {
    let stream = with(json!({"format": "sse"}), "", stream);
    ten("text/event-stream", pieces, stream)
}

fn only(seen: &Seen) -> (&'static str, String) {
    let failures = seen.failures();
    assert_eq!(failures.len(), 1, "{failures:?}");
    failures.into_keys().next().unwrap()
}

#[test]
fn an_event_that_is_an_error_fails_its_stream_and_is_the_reason() {
    let done = json!({"until": "[DONE]"});
    let text = r#"{"error":{"message":"engine dead","code":500}}"#;
    let seen = sse(
        &[
            "data: {\"choices\":[]}\n\n",
            "data: {\"error\":{\"message\":\"engine dead\",\"code\":500}}\n\ndata: [DONE]\n\n",
        ],
        done.clone(),
    );
    assert_eq!(only(&seen), ("stream_error", text.to_owned()));
    let found = seen.streams();
    let ends = (found.events, found.whole, found.broken_off);
    assert_eq!(ends, (10, 0, 10), "the error is no event");
    assert_eq!(seen.sum(0, |s| s.connects), 1, "the connection goes on");

    let seen = sse(&["event: error\ndata: overloaded\n\n"], done.clone());
    assert_eq!(only(&seen), ("stream_error", "overloaded".to_owned()));
    assert_eq!(seen.streams().broken_off, 0, "it had not begun");

    let fails = json!({"fails": {"json": "/detail"}});
    let lines = with(json!({"format": "lines"}), "", fails);
    let seen = ten("application/json", &["{\"detail\": \"no\"}\n"], lines);
    assert_eq!(seen.outcomes(), [("stream_error", 10)].into());
}

#[test]
fn what_follows_an_error_is_no_cause() {
    let address = serve(|mut socket| async move {
        if read_request(&mut socket).await.is_some() {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n";
            let events = "data: 1\n\nevent: error\ndata: overloaded\n\n";
            socket
                .write_all([head, events].concat().as_bytes())
                .await
                .ok();
        }
    });
    let load = json!({"closed": {"clients": 1, "requests": 10}});
    let stream = json!({"stream": {"format": "sse"}});
    let spec = with(
        one(workload(address, load), 0),
        "/workloads/0/requests/0",
        stream,
    );
    assert_eq!(only(&run(spec)), ("stream_error", "overloaded".to_owned()));
}

#[test]
fn the_last_number_of_tokens_counts_and_streams_without_one_are_counted() {
    let counting: &[_] = &[
        "data: {\"used\": 1}\n\n",
        "data: {\"used\": 15}\n\ndata: [DONE]\n\n",
    ];
    for usage in [
        json!({"regex": r#""used": (\d+)"#}),
        json!({"json": "/used"}),
    ] {
        let seen = sse(counting, json!({"until": "[DONE]", "usage": usage}));
        let found = seen.streams();
        assert_eq!((found.tokens, found.without_tokens), (150, 0));
        assert_eq!(found.histograms[StreamMeasure::PerToken as usize].len(), 10);
    }
    let usage = json!({"until": "[DONE]", "usage": {"json": "/usage/used"}});
    let found = sse(counting, usage).streams();
    assert_eq!(
        (found.whole, found.tokens, found.without_tokens),
        (10, 0, 10)
    );
}

#[test]
fn the_first_event_is_the_first_that_counts() {
    let talking: &[_] = &[
        "data: {\"role\": \"assistant\", \"content\": \"\"}\n\n",
        "data: {\"content\": \"Hi\"}\n\n",
        "data: {\"content\": \"\"}\n\n",
    ];
    let seen = sse(talking, json!({"first": {"json": "/content"}}));
    assert_eq!(seen.outcomes(), [("ok", 10)].into());
    let found = seen.streams();
    assert_eq!(found.events, 20);
    let first = &found.histograms[StreamMeasure::First as usize];
    assert!(first.min() >= 30_000, "{} µs", first.min());
    assert_eq!(found.histograms[StreamMeasure::Gap as usize].len(), 10);

    let seen = sse(talking, json!({"first": {"regex": "Hello"}}));
    let why = "no event of the stream was the first that counts";
    assert_eq!(only(&seen), ("stream_ended", why.to_owned()));
}

#[test]
fn a_last_event_without_its_blank_line_ends_the_stream_only_if_it_is_the_text_that_does() {
    for last in [&["data: [DONE]\n"], &["data: [DONE]"]] {
        let seen = sse(last, json!({"until": "[DONE]"}));
        assert_eq!(seen.outcomes(), [("ok", 10)].into(), "{last:?}");
    }
    let seen = sse(&["data: 1\n\ndata: 2\n"], json!({}));
    let (outcome, why) = only(&seen);
    assert_eq!(outcome, "stream_ended");
    assert!(
        why.contains("without the blank line after its data"),
        "{why}"
    );
}
