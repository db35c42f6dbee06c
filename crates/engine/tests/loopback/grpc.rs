//! gRPC: what a call sends, how its answers are counted, and what a schema refuses.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{SendResponse, handshake};
use http::{HeaderMap, Request, Response};
use jostle_engine::reflection::{Unknown, reflect};
use jostle_engine::schema::Schema;
use jostle_engine::streams::StreamMeasure;
use protox::file::{File, FileResolver};
use serde_json::{Value, json};

const PROTO: &str = r#"
syntax = "proto3";
package test;
message Words { string text = 1; int32 number = 2; }
service Echo {
  rpc Say(Words) returns (Words);
  rpc Repeat(Words) returns (stream Words);
  rpc Collect(stream Words) returns (Words);
  rpc Talk(stream Words) returns (stream Words);
}
"#;
/// `{"text": "hi"}` behind its prefix.
const HI: &[u8] = b"\0\0\0\0\x04\x0a\x02hi";

fn schema() -> String {
    struct Text;
    impl FileResolver for Text {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            File::from_source(name, PROTO)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Text);
    compiler
        .include_imports(true)
        .open_file("test.proto")
        .unwrap();
    STANDARD.encode(compiler.encode_file_descriptor_set())
}

/// What a server does with every call.
#[derive(Clone, Default)]
struct Script {
    status: Option<u16>,
    head: Vec<(&'static str, &'static str)>,
    /// Each is sent by itself.
    data: Vec<&'static [u8]>,
    /// `None`: the answer ends with its data.
    trailers: Option<Vec<(&'static str, &'static str)>>,
    delay: Duration,
}

const OF_GRPC: (&str, &str) = ("content-type", "application/grpc+proto");

/// Answers with these messages, and with this end.
fn saying(data: &[&'static [u8]], trailers: &[(&'static str, &'static str)]) -> Script {
    Script {
        head: vec![OF_GRPC],
        data: data.to_vec(),
        trailers: Some(trailers.to_vec()),
        ..Script::default()
    }
}

/// A call as it came: path, metadata, body.
type Asked = Arc<Mutex<Vec<(String, HeaderMap, Vec<u8>)>>>;

fn server(script: Script) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let seen = asked.clone();
    let address = serve(move |stream| {
        let (script, seen) = (script.clone(), seen.clone());
        async move {
            let Ok(mut connection) = handshake(stream).await else {
                return;
            };
            while let Some(Ok((request, respond))) = connection.accept().await {
                tokio::task::spawn_local(act(script.clone(), seen.clone(), request, respond));
            }
        }
    });
    (address, asked)
}

async fn act(
    script: Script,
    seen: Asked,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        bytes.extend_from_slice(&piece);
    }
    seen.lock()
        .unwrap()
        .push((head.uri.path().to_owned(), head.headers, bytes));
    tokio::time::sleep(script.delay).await;
    let mut answer = Response::builder().status(script.status.unwrap_or(200));
    for (name, value) in &script.head {
        answer = answer.header(*name, *value);
    }
    let over = script.data.is_empty() && script.trailers.is_none();
    let Ok(mut stream) = respond.send_response(answer.body(()).unwrap(), over) else {
        return;
    };
    for (index, piece) in script.data.iter().enumerate() {
        let last = index + 1 == script.data.len() && script.trailers.is_none();
        stream.send_data(Bytes::from_static(piece), last).ok();
    }
    if let Some(trailers) = script.trailers {
        let trailers = trailers.iter().map(|(name, value)| {
            (
                name.parse::<http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            )
        });
        stream.send_trailers(trailers.collect()).ok();
    }
}

/// A call of `method` with a message; `change` goes into the request.
fn call(address: SocketAddr, method: &str, message: Value, change: Value, requests: u64) -> Value {
    let load = json!({"closed": {"clients": 1, "requests": requests}});
    let request = json!({
        "name": "call", "method": "POST", "path": format!("/test.Echo/{method}"),
        "body_base64": STANDARD.encode(message.to_string()), "grpc": {"schema_base64": schema()},
    });
    let spec = with(workload(address, load), "/target", json!({"http2": {}}));
    let spec = with(spec, "/requests/0", request);
    let spec = match method {
        "Repeat" | "Talk" => with(
            spec,
            "/requests/0",
            json!({"stream": {"format": "messages"}}),
        ),
        _ => spec,
    };
    let change = change.as_object().unwrap().clone();
    let spec = change
        .into_iter()
        .fold(spec, |spec, (key, value)| match (key.as_str(), value) {
            ("grpc", value) => with(spec, "/requests/0/grpc", value),
            (key, value) => with(spec, "/requests/0", json!({key: value})),
        });
    one(spec, 0)
}

fn say(script: Script, change: Value) -> Seen {
    let (address, _) = server(script);
    run(call(address, "Say", json!({"text": "hi"}), change, 2))
}

fn both(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 2)])
}

const DONE: (&str, &str) = ("grpc-status", "0");

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
fn what_is_no_answer_of_grpc_is_told() {
    let html = Script {
        status: Some(404),
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
            "does not answer in gRPC here: HTTP status 404, Content-Type text/html in place of",
        ),
        (
            Script {
                head: vec![],
                ..saying(&[HI], &[DONE])
            },
            "HTTP status 200, no Content-Type",
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
fn answers_are_read_as_json_where_something_is_expected_of_them() {
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
    let (address, _) = server(saying(&[HI], &[DONE]));
    let seen = run(call(address, "Collect", three.clone(), every, 2));
    assert_eq!((seen.outcomes(), trips(&seen)), (both("ok"), (0, 0)));
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

/// A field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        out.push(length as u8 & 127 | 128);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}

/// The files of `shop.proto`, which imports `item.proto`, each as its own.
fn files() -> Vec<Vec<u8>> {
    struct Two;
    impl FileResolver for Two {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            let text = match name {
                "item.proto" => {
                    "syntax = \"proto3\"; package item; message Item { int32 count = 1; }"
                }
                _ => {
                    "syntax = \"proto3\"; package shop; import \"item.proto\"; \
                     service Shop { rpc Buy(item.Item) returns (item.Item); }"
                }
            };
            File::from_source(name, text)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Two);
    compiler
        .include_imports(true)
        .open_file("shop.proto")
        .unwrap();
    let files = compiler.file_descriptor_set().file;
    files.iter().map(prost::Message::encode_to_vec).collect()
}

/// Tells of `shop.Shop` in this version of reflection, a file at a time.
fn describing(version: &'static str) -> SocketAddr {
    serve(move |stream| async move {
        let Ok(mut connection) = handshake(stream).await else {
            return;
        };
        while let Some(Ok((request, respond))) = connection.accept().await {
            tokio::task::spawn_local(describe(version, request, respond));
        }
    })
}

async fn describe(version: &str, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let known = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
    let head = Response::builder().header("content-type", "application/grpc");
    if request.uri().path() != known {
        let head = head.header("grpc-status", "12").body(()).unwrap();
        respond.send_response(head, true).unwrap();
        return;
    }
    let mut answer = respond
        .send_response(head.body(()).unwrap(), false)
        .unwrap();
    let mut body = request.into_body();
    let files = files();
    let holding = |text: &[u8]| {
        let holds = |file: &&Vec<u8>| memchr::memmem::find(&file[..text.len() + 8], text).is_some();
        files.iter().find(holds).unwrap().clone()
    };
    while let Some(Ok(question)) = body.data().await {
        let reply = match question[5] >> 3 {
            4 if question.ends_with(b"shop.Shop") => field(4, &field(1, &holding(b"shop.proto"))),
            4 => field(7, &[0x08, 5]),
            3 => field(4, &field(1, &holding(b"item.proto"))),
            _ => field(6, &field(1, &field(1, b"shop.Shop"))),
        };
        let prefix = [&[0][..], &(reply.len() as u32).to_be_bytes()].concat();
        answer
            .send_data([prefix, reply].concat().into(), false)
            .unwrap();
    }
}

#[test]
fn a_server_describes_its_services_with_all_that_they_import() {
    for version in ["v1", "v1alpha"] {
        let address = describing(version);
        let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
        let target = serde_json::from_value(target).unwrap();
        let schema = reflect(&target, "shop.Shop", Duration::from_secs(20)).unwrap();
        let schema = Schema::decode(&schema).unwrap();
        let input = schema.method("shop.Shop/Buy").unwrap().input();
        assert_eq!(input.full_name(), "item.Item", "{version}");
        let unknown = reflect(&target, "shop.Shp", Duration::from_secs(20)).unwrap_err();
        assert!(matches!(unknown, Unknown::Service(known) if known == ["shop.Shop"]));
    }
}

#[test]
fn why_a_server_does_not_describe_itself_is_told() {
    let patience = Duration::from_secs(20);
    let why = |address: SocketAddr, patience: Duration| {
        let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
        let target = serde_json::from_value(target).unwrap();
        match reflect(&target, "a.B", patience).unwrap_err() {
            Unknown::Failed(why) => why,
            Unknown::Service(_) => panic!("it knows no services"),
        }
    };
    assert_eq!(why(describing("v9"), patience), "UNIMPLEMENTED");
    assert!(why(([127, 0, 0, 1], 1).into(), patience).contains("connection refused"));
    let silent = serve(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    });
    assert_eq!(
        why(silent, Duration::from_millis(50)),
        "it did not answer in time"
    );
}
