use super::*;

fn stream(format: StreamFormat, until: Option<&str>) -> StreamSpec {
    StreamSpec {
        format,
        events: None,
        until: until.map(str::to_owned),
        stall_ns: None,
        usage: None,
        bounds: None,
    }
}

/// What is found if the body comes in pieces of this size, and whether it ended within an event.
fn found(spec: &StreamSpec, body: &[u8], piece: usize) -> (Vec<Found>, bool) {
    let mut parser = EventParser::default();
    let mut all = Vec::new();
    for mut bytes in body.chunks(piece) {
        while let Some(one) = parser.next(spec, &mut bytes) {
            all.push(one);
        }
        assert!(bytes.is_empty());
    }
    all.extend(parser.end(spec));
    (all, parser.is_within())
}

/// Checks that the result is the same for pieces of every size.
fn check(spec: &StreamSpec, body: &str, events: &[Found], within: bool) {
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
    use Found::Event;
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
    use Found::{End, Event};
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
fn lines_that_are_not_empty_are_events() {
    use Found::{End, Event};
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
                assert!(bytes.is_empty() && parser.is_within());
            }
            parser.message(&spec)
        };
        let found = ["a", "", "bye-bye", "bye", "by"].map(&mut message);
        let event = Found::Event;
        assert_eq!(found, [event, event, event, Found::End, event]);
        assert!(!parser.is_within());
        assert_eq!(parser.end(&spec), None);
    }
}
