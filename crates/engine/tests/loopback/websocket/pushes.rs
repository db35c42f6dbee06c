//! Messages that a server sends by itself are the events of a stream.

use super::server::*;
use crate::support::*;
use jostle_engine::interval::{STREAM_MEASURES, StreamMeasure};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

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
        let found = seen.streams();
        assert_eq!((found.whole, found.events), (whole, 30), "{outcome}");
        let gaps = &found.histograms[StreamMeasure::Gap as usize];
        assert_eq!(gaps.len(), 20);
        assert_eq!(found.histograms.len(), STREAM_MEASURES);
    }
}

#[test]
fn a_message_may_be_an_error() {
    let address = serve(|mut stream| async move {
        if upgrade(&mut stream).await.is_some() {
            let tick = frame(TEXT, b"tick");
            let error = frame(TEXT, br#"{"type": "error", "payload": "no room"}"#);
            let more = frame(TEXT, b"more");
            stream.write_all(&[tick, error, more].concat()).await.ok();
            while read_frame(&mut stream).await.is_some() {}
        }
    });
    let stream = json!({"format": "messages", "fails": {"regex": r#""type": "error""#}});
    let listening = json!({"websocket": {"message": null}, "body_base64": null, "stream": stream});
    let once = json!({"requests_per_connection": 1});
    let spec = with(ten(address, listening), "/workloads/0/load/closed", once);
    let seen = run(spec);
    assert_eq!(seen.outcomes(), all("stream_error"));
    let found = seen.streams();
    assert_eq!((found.whole, found.broken_off, found.events), (0, 10, 10));
}
