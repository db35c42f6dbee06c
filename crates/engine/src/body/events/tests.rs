use serde_json::{Value, json};

use super::*;
use crate::body::event_meaning::MAX_EVENT_BYTES;

fn stream(format: StreamFormat, until: Option<&str>) -> EventStream {
    of(json!({"format": format, "until": until}))
}

fn of(spec: Value) -> EventStream {
    EventStream::new(&serde_json::from_value(spec).unwrap()).unwrap()
}

/// What is found if the body comes in pieces of this size, and whether it ended within an event.
fn found(spec: &EventStream, body: &[u8], piece: usize) -> (Vec<Meaning>, bool) {
    let mut parser = EventParser::default();
    let mut all = Vec::new();
    for mut bytes in body.chunks(piece) {
        while let Some(one) = parser.next(spec, &mut bytes) {
            all.push(one);
        }
        assert!(bytes.is_empty());
    }
    all.extend(parser.end(spec));
    (all, parser.is_incomplete())
}

/// Checks that the result is the same for pieces of every size.
fn check(spec: &EventStream, body: &str, events: &[Meaning], within: bool) {
    for piece in 1..=body.len().max(1) {
        assert_eq!(
            found(spec, body.as_bytes(), piece),
            (events.to_vec(), within),
            "{body:?} in pieces of {piece}"
        );
    }
}

#[test]
fn server_sent_events_are_found_as_the_standard_says() {
    use Meaning::Event;
    let sse = stream(StreamFormat::Sse, None);
    check(&sse, "data: one\n\ndata: two\n\n", &[Event, Event], false);
    check(
        &sse,
        "data: one\r\n\r\ndata: two\r\n\r\n",
        &[Event, Event],
        false,
    );
    check(&sse, "data: one\r\rdata: two\r\r", &[Event, Event], false);
    check(&sse, "data: a\ndata: b\n\n", &[Event], false);
    check(&sse, "data\n\ndata\ndata\n\ndata:", &[Event, Event], true);
    check(&sse, ": comment\n\nevent: ping\nid: 1\n\n", &[], false);
    check(&sse, "\u{feff}data: one\n\n", &[Event], false);
    check(&sse, "datum: x\n\ndat\n\n data: y\n\n", &[], false);
    check(&sse, "data: one\n\ndata: two\n", &[Event], true);
    check(&sse, "data:one\nretry: 5\n\n\n\n", &[Event], false);
    check(&sse, "", &[], false);
}

#[test]
fn the_text_that_ends_a_stream_is_all_of_an_event() {
    use Meaning::{End, Event};
    let sse = stream(StreamFormat::Sse, Some("[DONE]"));
    check(
        &sse,
        "data: {\"done\": \"[DONE]\"}\n\ndata: [DONE]\n\n",
        &[Event, End],
        false,
    );
    check(
        &sse,
        "data: [DONE]!\n\ndata:[DONE]\r\n\r\n",
        &[Event, End],
        false,
    );
    check(
        &sse,
        "data: [DO\ndata: NE]\n\ndata: [DON\n\n",
        &[Event, Event],
        false,
    );
    let two = stream(StreamFormat::Sse, Some("a\nb"));
    check(&two, "data: a\ndata: b\n\n", &[End], false);
}

#[test]
fn the_text_that_ends_a_stream_needs_no_blank_line_where_the_body_ends() {
    use Meaning::{End, Event};
    let sse = stream(StreamFormat::Sse, Some("[DONE]"));
    for end in ["data: [DONE]\n\n", "data: [DONE]\r\n", "data: [DONE]"] {
        check(&sse, &format!("data: one\n\n{end}"), &[Event, End], false);
    }
    check(&sse, "data: one\n\ndata: [DON", &[Event], true);
    check(&sse, "data: one\n\ndata: two\n", &[Event], true);
}

#[test]
fn an_event_with_the_name_error_is_one() {
    use Meaning::{Error, Event};
    let sse = stream(StreamFormat::Sse, None);
    let error = || Error("no memory".into());
    check(&sse, "event: error\ndata: no memory\n\n", &[error()], false);
    check(
        &sse,
        "data:no\ndata:memory\nevent:error\n\n",
        &[error()],
        false,
    );
    for name in ["errors", "erro", "Error", " error", ""] {
        let body = format!("event: {name}\ndata: no memory\n\n");
        check(&sse, &body, &[Event], false);
    }
    check(
        &sse,
        "event: error\n\ndata: a name of its own\n\n",
        &[Event],
        false,
    );
    check(
        &sse,
        "event: error\nevent\ndata: the last counts\n\n",
        &[Event],
        false,
    );
    check(&sse, "error: error\ndata: no name\n\n", &[Event], false);
    let lines = stream(StreamFormat::Lines, None);
    check(&lines, "event: error\n", &[Event], false);
}

#[test]
fn events_before_the_first_that_counts_are_passed_over_and_the_last_number_of_tokens_counts() {
    use Meaning::{Event, Preliminary};
    let spec = of(json!({
        "format": "lines", "first": {"regex": "token"}, "usage": {"json": "/used"},
    }));
    let body = "a role\n{\"used\": 1}\ntoken\nmore\n{\"used\": 15}\nend\n";
    let found = [Preliminary, Preliminary, Event, Event, Event, Event];
    check(&spec, body, &found, false);
    let mut parser = EventParser::default();
    let mut bytes = body.as_bytes();
    while parser.next(&spec, &mut bytes).is_some() {}
    assert_eq!(parser.tokens, Some(15));
}

#[test]
fn of_a_large_event_only_the_beginning_is_kept() {
    let spec = of(json!({"format": "lines", "fails": {"regex": "needle"}}));
    let mut parser = EventParser::default();
    for _ in 0..100 {
        assert_eq!(parser.next(&spec, &mut &[b'x'; 10_000][..]), None);
    }
    assert!(parser.kept.len() <= MAX_EVENT_BYTES);
    assert_eq!(
        parser.next(&spec, &mut &b"needle\n"[..]),
        Some(Meaning::Event)
    );
}

#[test]
fn lines_that_are_not_empty_are_events() {
    use Meaning::{End, Event};
    let lines = stream(StreamFormat::Lines, None);
    check(&lines, "{}\n{}\n", &[Event, Event], false);
    check(&lines, "{}\r\n\r\n\n{}", &[Event, Event], false);
    check(&lines, "\n\r\n", &[], false);
    let until = stream(StreamFormat::Lines, Some("end"));
    check(&until, "ending\nend\r\nend", &[Event, End, End], false);
}

#[test]
fn a_message_is_an_event_whatever_its_pieces() {
    let spec = stream(StreamFormat::Messages, Some("bye"));
    for piece in 1..4 {
        let mut parser = EventParser::default();
        let mut message = |text: &str| {
            for mut bytes in text.as_bytes().chunks(piece) {
                assert_eq!(parser.next(&spec, &mut bytes), None);
                assert!(bytes.is_empty() && parser.is_incomplete());
            }
            parser.message(&spec)
        };
        let found = ["a", "", "bye-bye", "bye", "by"].map(&mut message);
        let event = Meaning::Event;
        let wanted = [&event, &event, &event, &Meaning::End, &event];
        assert_eq!(found.each_ref(), wanted);
        assert!(!parser.is_incomplete());
        assert_eq!(parser.end(&spec), None);
    }
}
