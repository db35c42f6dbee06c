//! Methods that take or answer with a stream of messages.

use super::server::*;
use crate::support::*;
use jostle_engine::streams::StreamMeasure;
use serde_json::{Value, json};

#[test]
fn messages_of_a_stream_are_events() {
    let (address, _) = server(saying(&[HI, HI, &HI[..4], &HI[4..]], &[DONE]));
    let seen = run(call(address, "Repeat", json!({}), json!({}), 2));
    assert_eq!(seen.outcomes(), both("ok"));
    let events = |seen: &Seen| {
        seen.0
            .iter()
            .flat_map(|i| &i.streams)
            .map(|s| s.events)
            .sum::<u64>()
    };
    let gaps = |seen: &Seen| -> u64 {
        let streams = seen.0.iter().flat_map(|interval| &interval.streams);
        streams
            .map(|s| s.histograms[StreamMeasure::Gap as usize].len())
            .sum()
    };
    assert_eq!((events(&seen), gaps(&seen)), (6, 4));
    let stream = |change: Value| json!({"stream": with(json!({"format": "messages"}), "", change)});
    let seen = run(call(
        address,
        "Repeat",
        json!({}),
        stream(json!({"events": 2})),
        2,
    ));
    assert_eq!((seen.outcomes(), events(&seen)), (both("ok"), 4));
    let seen = run(call(
        address,
        "Repeat",
        json!({}),
        stream(json!({"events": 9})),
        2,
    ));
    assert_eq!(seen.outcomes(), both("stream_ended"));
    let (address, _) = server(saying(&[], &[DONE]));
    assert_eq!(
        run(call(address, "Repeat", json!({}), json!({}), 2)).outcomes(),
        both("ok")
    );
    let (address, _) = server(saying(&[HI], &[("grpc-status", "13")]));
    let seen = run(call(address, "Repeat", json!({}), json!({}), 2));
    assert_eq!(seen.outcomes(), both("grpc_status"));
}

#[test]
fn a_method_that_takes_a_stream_gets_each_message_of_a_list() {
    let (address, asked) = server(saying(&[HI], &[DONE]));
    let messages = json!([{"text": "hi"}, {"text": "hi"}]);
    let seen = run(call(address, "Collect", messages, json!({}), 2));
    assert_eq!(seen.outcomes(), both("ok"));
    assert_eq!(asked.lock().unwrap()[0].2, [HI, HI].concat());
}

#[test]
fn messages_that_are_due_one_after_another_have_round_trips() {
    let three = json!([{"text": "hi"}, {"text": "hi"}, {"text": "hi"}]);
    let every = json!({"grpc": {"every_ns": 20 * MS}});
    // The server answers when the last message has come, 40 ms after the first one was due.
    let talk = |data: &[&'static [u8]], trailers| {
        let (address, asked) = server(saying(data, &[trailers]));
        let seen = run(call(address, "Talk", three.clone(), every.clone(), 2));
        assert_eq!(asked.lock().unwrap()[0].2, HI.repeat(3));
        seen
    };
    let trips = |seen: &Seen| {
        let streams = || seen.0.iter().flat_map(|interval| &interval.streams);
        let found = streams().map(|one| &one.histograms[StreamMeasure::RoundTrip as usize]);
        let (count, longest) = found.fold((0, 0), |(count, longest), trips| {
            (count + trips.len(), longest.max(trips.max()))
        });
        let unanswered: u64 = streams().map(|one| one.unanswered).sum();
        assert!(count == 0 || longest >= 40_000, "{longest} µs");
        (count, unanswered)
    };
    let excess = |seen: &Seen| seen.texts(|state| &state.excess).values().sum::<u64>();

    let seen = talk(&[HI, HI, HI], DONE);
    assert_eq!((trips(&seen), excess(&seen)), ((6, 0), 0));
    let seen = talk(&[HI, HI, HI, HI], DONE);
    assert_eq!((trips(&seen), excess(&seen)), ((6, 0), 2));
    assert_eq!(trips(&talk(&[HI], DONE)), (2, 4));
    let seen = talk(&[], ("grpc-status", "13"));
    assert_eq!(
        (seen.outcomes(), trips(&seen)),
        (both("grpc_status"), (0, 6))
    );
    // Of a call that is refused and sent again, only the last attempt counts.
    for (refusals, expected) in [(1, (6, 0)), (usize::MAX, (0, 6))] {
        let script = Script {
            refusals,
            ..saying(&[HI, HI, HI], &[DONE])
        };
        let (address, _) = server(script);
        let seen = run(call(address, "Talk", three.clone(), every.clone(), 2));
        assert_eq!(trips(&seen), expected);
    }
    let (address, _) = server(saying(&[HI], &[DONE]));
    let seen = run(call(address, "Collect", three.clone(), every, 2));
    assert_eq!((seen.outcomes(), trips(&seen)), (both("ok"), (0, 0)));
}

#[test]
fn messages_may_be_errors_or_before_the_first_that_counts_and_tell_tokens() {
    let (address, _) = server(saying(&[HI, HI, HI], &[DONE]));
    let asking = |stream: Value| {
        let stream = with(json!({"format": "messages"}), "", stream);
        run(call(
            address,
            "Repeat",
            json!({}),
            json!({"stream": stream}),
            2,
        ))
    };
    let seen = asking(json!({"fails": {"json": "/text"}}));
    assert_eq!(seen.outcomes(), both("stream_error"));
    let why = seen.failures().into_keys().next().unwrap().1;
    assert!(why.contains("hi"), "{why}");
    let seen = asking(json!({"first": {"regex": "bye"}}));
    assert_eq!(seen.outcomes(), both("stream_ended"));
    let seen = asking(json!({"first": {"json": "/text"}, "usage": {"json": "/text"}}));
    assert_eq!(seen.outcomes(), both("ok"));
    let found = seen.streams();
    assert_eq!((found.events, found.whole, found.without_tokens), (6, 2, 2));
}
