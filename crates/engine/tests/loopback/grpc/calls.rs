//! Calls with one message and one response, and what is refused before a run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::server::*;
use crate::support::*;
use serde_json::{Value, json};

#[test]
fn a_call_carries_its_message_and_what_belongs_to_it() {
    let (address, asked) = server(saying(&[HI], &[DONE]));
    let change = json!({"headers": [["x-user", "me"]], "grpc": {"deadline_ns": SECOND}});
    let seen = run(call(address, "Say", json!({"text": "hi"}), change, 2));
    assert_eq!(seen.outcomes(), both("ok"));
    let asked = asked.lock().unwrap();
    let (path, headers, body) = &asked[0];
    assert_eq!((path.as_str(), body.as_slice()), ("/test.Echo/Say", HI));
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    for (name, value) in [
        ("content-type", Some("application/grpc")),
        ("te", Some("trailers")),
        ("grpc-timeout", Some("1000000u")),
        ("x-user", Some("me")),
        ("content-length", None),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
}

#[test]
fn parameters_are_filled_into_messages_and_metadata() {
    let (address, asked) = server(saying(&[HI], &[DONE]));
    let params = json!({"who": {"in-turn": ["a\"b", "c"]}, "n": {"range": {"from": 7, "to": 7}}});
    let change = json!({"params": params, "headers": [["x-n", "{n}"]]});
    let message = json!({"text": "{who}", "number": "{n}"});
    let seen = run(call(address, "Say", message, change, 2));
    assert_eq!(seen.outcomes(), both("ok"));
    let asked = asked.lock().unwrap();
    let mut bodies: Vec<_> = asked.iter().map(|(.., body)| body.as_slice()).collect();
    bodies.sort_unstable();
    let expected: [&[u8]; 2] = [
        b"\0\0\0\0\x05\x0a\x01c\x10\x07",
        b"\0\0\0\0\x07\x0a\x03a\"b\x10\x07",
    ];
    assert_eq!(bodies, expected);
    assert_eq!(asked[0].1["x-n"], "7");
    assert!(!asked[0].1.contains_key("content-length"));
}

#[test]
fn another_status_is_an_outcome_with_its_name_and_its_words() {
    let refused = [
        ("grpc-status", "14"),
        ("grpc-message", "no backend%3A %C3%BC"),
    ];
    let seen = say(saying(&[], &refused), json!({}));
    assert_eq!(seen.outcomes(), both("grpc_status"));
    let why = ("grpc_status", "UNAVAILABLE: no backend: ü".to_owned());
    assert_eq!(seen.failures(), BTreeMap::from([(why, 2)]));
    let only_head = Script {
        head: vec![OF_GRPC, ("grpc-status", "5")],
        ..Script::default()
    };
    assert_eq!(
        say(only_head.clone(), json!({})).outcomes(),
        both("grpc_status")
    );
    assert_eq!(
        say(only_head, json!({"grpc": {"status": 5}})).outcomes(),
        both("ok")
    );
    assert_eq!(
        say(saying(&[HI], &[DONE]), json!({"grpc": {"status": 5}})).outcomes(),
        both("grpc_status")
    );
}

#[test]
fn what_is_no_response_of_grpc_is_told() {
    let html = Script {
        head: vec![("content-type", "text/html")],
        data: vec![b"<h1>no</h1>"],
        ..Script::default()
    };
    let unended = Script {
        trailers: None,
        ..saying(&[HI], &[])
    };
    for (script, why) in [
        (
            html,
            "does not answer in gRPC here: Content-Type text/html in place of application/grpc",
        ),
        (
            Script {
                head: vec![],
                ..saying(&[HI], &[DONE])
            },
            "in gRPC here: no Content-Type in place of",
        ),
        (unended, "ended without grpc-status"),
        (saying(&[HI], &[]), "ended without grpc-status"),
        (saying(&[HI], &[("grpc-status", "fine")]), "is no number"),
        (saying(&[], &[DONE]), "ended without its message"),
        (saying(&[HI, HI], &[DONE]), "a second message"),
        (saying(&[&HI[..7]], &[DONE]), "in the middle of a message"),
        (saying(&[b"\x01\0\0\0\x01x"], &[DONE]), "is compressed"),
    ] {
        let seen = say(script, json!({}));
        assert_eq!(seen.outcomes(), both("malformed"), "{why}");
        let told: Vec<_> = seen.failures().into_keys().map(|(_, text)| text).collect();
        assert!(told[0].contains(why), "{told:?}");
    }
}

#[test]
fn a_proxy_s_page_in_place_of_a_response_counts_as_the_status_that_it_stands_for() {
    let page = |status| Script {
        status: Some(status),
        head: vec![("content-type", "text/html")],
        data: vec![b"<h1>no</h1>"],
        ..Script::default()
    };
    // Source: the gRPC project, http-grpc-status-mapping.md.
    for (status, name, number) in [
        (400, "INTERNAL", 13),
        (401, "UNAUTHENTICATED", 16),
        (403, "PERMISSION_DENIED", 7),
        (404, "UNIMPLEMENTED", 12),
        (429, "UNAVAILABLE", 14),
        (502, "UNAVAILABLE", 14),
        (503, "UNAVAILABLE", 14),
        (504, "UNAVAILABLE", 14),
        (302, "UNKNOWN", 2),
        (500, "UNKNOWN", 2),
    ] {
        let why =
            format!("{name}: HTTP status {status}, Content-Type text/html, and no grpc-status");
        let expected = BTreeMap::from([(("grpc_status", why), 2)]);
        assert_eq!(say(page(status), json!({})).failures(), expected);
        let meant = json!({"grpc": {"status": number}});
        assert_eq!(say(page(status), meant).outcomes(), both("ok"), "{status}");
    }
    // What has the type of gRPC but no status of it is no response of it either; what has one counts as that.
    let bare = Script {
        status: Some(503),
        head: vec![OF_GRPC],
        ..Script::default()
    };
    let seen = say(bare.clone(), json!({}));
    let why =
        "UNAVAILABLE: HTTP status 503, Content-Type application/grpc+proto, and no grpc-status";
    let expected = BTreeMap::from([(("grpc_status", why.to_owned()), 2)]);
    assert_eq!(seen.failures(), expected);
    let with_status = Script {
        head: vec![OF_GRPC, ("grpc-status", "8"), ("grpc-message", "full")],
        ..bare
    };
    let expected = BTreeMap::from([(("grpc_status", "RESOURCE_EXHAUSTED: full".to_owned()), 2)]);
    assert_eq!(say(with_status, json!({})).failures(), expected);
}

#[test]
fn responses_are_read_as_json_where_something_is_expected_of_them() {
    let pieces: Vec<&'static [u8]> = HI.chunks(3).collect();
    for (pointer, value, outcome) in [
        ("/text", json!("hi"), "ok"),
        ("/number", json!(0), "ok"),
        ("/text", json!("ho"), "wrong_body"),
    ] {
        let expect = json!({"expect": {"body": {"json": {"pointer": pointer, "value": value}}}});
        assert_eq!(
            say(saying(&pieces, &[DONE]), expect).outcomes(),
            both(outcome)
        );
    }
    let expect = json!({"expect": {"body": {"contains": "hi"}}});
    let seen = say(saying(&[b"\0\0\0\0\x02\xff\xff"], &[DONE]), expect.clone());
    assert_eq!(seen.outcomes(), both("malformed"));
    assert!(
        seen.failures()
            .keys()
            .all(|(_, text)| text.contains("a message is no test.Words"))
    );
    let seen = say(saying(&[b"\0\x10\0\0\0x"], &[DONE]), expect);
    assert_eq!(seen.outcomes(), both("too_large"));
}

#[test]
fn the_deadline_is_kept_by_whoever_sees_it_first() {
    let late = Script {
        delay: Duration::from_secs(30),
        ..saying(&[HI], &[DONE])
    };
    let deadline = json!({"grpc": {"deadline_ns": 50 * MS}});
    let seen = say(late, deadline.clone());
    assert_eq!(seen.outcomes(), both("response_timeout"));
    let why = (
        "response_timeout",
        "the call's deadline has passed".to_owned(),
    );
    assert_eq!(seen.failures(), BTreeMap::from([(why, 2)]));
    let exceeded = saying(&[], &[("grpc-status", "4")]);
    let seen = say(
        exceeded.clone(),
        json!({"grpc": {"deadline_ns": 60 * SECOND}}),
    );
    assert_eq!(seen.outcomes(), both("response_timeout"));
    assert_eq!(say(exceeded, json!({})).outcomes(), both("grpc_status"));
}

#[test]
fn mistakes_are_told_before_the_run() {
    let address = ([127, 0, 0, 1], 1).into();
    let refused = |method: &str, message: Value, change: Value| {
        start(call(address, method, message, change, 1))
            .unwrap_err()
            .to_string()
    };
    for (method, message, change, why) in [
        ("Sya", json!({}), json!({}), "no method test.Echo/Sya"),
        (
            "Say",
            json!({"txt": 1}),
            json!({}),
            "unrecognized field name 'txt'; there is text, number",
        ),
        (
            "Repeat",
            json!({}),
            json!({"stream": null}),
            "answers with a stream",
        ),
        (
            "Say",
            json!({}),
            json!({"stream": {"format": "messages"}}),
            "answers with one message",
        ),
        (
            "Repeat",
            json!({}),
            json!({"stream": {"format": "sse"}}),
            "a stream of messages comes over",
        ),
        (
            "Say",
            json!({}),
            json!({"headers": [["TE", "x"]]}),
            "the call's own",
        ),
        (
            "Say",
            json!({}),
            json!({"grpc": {"deadline_ns": 0}}),
            "deadline_ns is 0",
        ),
        (
            "Collect",
            json!([]),
            json!({"grpc": {"every_ns": 0}}),
            "every_ns is 0",
        ),
        (
            "Say",
            json!({}),
            json!({"grpc": {"every_ns": MS}}),
            "test.Echo/Say takes one message",
        ),
    ] {
        let text = refused(method, message, change);
        assert!(text.contains(why), "{text}");
    }
    let spec = with(
        call(address, "Say", json!({}), json!({}), 1),
        "/workloads/0/target",
        json!({"http2": null}),
    );
    assert!(
        start(spec)
            .unwrap_err()
            .to_string()
            .contains("give the target http2")
    );
}
