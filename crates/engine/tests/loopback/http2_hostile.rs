//! Servers that break the rules of HTTP/2, or of courtesy: each ends in an outcome of its own, with bounded memory.
//!
//! The frames are made by hand (RFC 9113 section 4.1), since no library would send them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::http2::over_http2;
use crate::support::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// In the static table of HPACK (RFC 7541 appendix A): `:status: 200`.
pub const STATUS_200: u8 = 0x88;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field that enters no table.
fn field(name: &str, value: &str) -> Vec<u8> {
    let sizes = [name.len() as u8, value.len() as u8];
    [
        &[0, sizes[0]],
        name.as_bytes(),
        &[sizes[1]],
        value.as_bytes(),
    ]
    .concat()
}

fn headers(flags: u8, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, 1, block)
}

/// What a server says first, what it answers to the first request of a connection, and what it then repeats without end.
#[derive(Clone, Default)]
struct Script {
    settings: Vec<u8>,
    response: Vec<u8>,
    endless: Vec<u8>,
    closes: bool,
}

fn answering(response: Vec<u8>) -> Script {
    Script {
        response,
        ..Script::default()
    }
}

fn flooding(response: Vec<u8>, endless: Vec<u8>) -> Script {
    Script {
        response,
        endless,
        ..Script::default()
    }
}

fn serve_script(script: Script) -> SocketAddr {
    serve(move |stream| {
        let script = script.clone();
        async move {
            // The client has left: that is its own affair.
            let _ = perform(stream, script).await;
        }
    })
}

async fn perform(mut stream: TcpStream, script: Script) -> std::io::Result<()> {
    let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
    stream.read_exact(&mut preface).await?;
    stream
        .write_all(&frame(SETTINGS, 0, 0, &script.settings))
        .await?;
    while read_frame(&mut stream).await?.0 != HEADERS {}
    // The client's settings came before; what it allows holds from its acknowledgement on.
    stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?;
    stream.write_all(&script.response).await?;
    if script.closes {
        // Only this side: with frames of the client still unread, closing both would reset the connection.
        stream.shutdown().await?;
    }
    let block = script
        .endless
        .repeat(64 * 1024 / script.endless.len().max(1));
    while !block.is_empty() {
        stream.write_all(&block).await?;
    }
    loop {
        read_frame(&mut stream).await?;
    }
}

/// Its kind, flags, stream and payload.
pub async fn read_frame(stream: &mut TcpStream) -> std::io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await?;
    let [a, b, c, kind, flags, id @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload).await?;
    Ok((kind, flags, u32::from_be_bytes(id), payload))
}

/// Two requests of two clients, each with a connection of its own; `change` of the workload.
fn failures(script: Script, change: &Value) -> BTreeMap<(&'static str, String), u64> {
    let load = json!({"closed": {"clients": 2, "requests": 2}});
    let spec = workload(serve_script(script), load);
    let spec = with(spec, "/target", json!({"http2": {}}));
    let seen = run(one(with(spec, "", change.clone()), 0));
    assert_eq!(seen.outcomes().values().sum::<u64>(), 2);
    seen.failures()
}

fn fails(script: Script, outcome: &'static str, why: &str) {
    let expected = BTreeMap::from([((outcome, why.to_owned()), 2)]);
    let change = if outcome == "response_timeout" {
        hurried()
    } else {
        json!({})
    };
    assert_eq!(failures(script, &change), expected);
}

/// Of a workload that waits in vain.
fn hurried() -> Value {
    json!({"timeouts": {"connect_ns": 5 * SECOND, "total_ns": 150 * MS}})
}

const NOT_ENDED: &str = "the response did not end in time";
const TOO_LONG_A_BLOCK: &str = "the server broke the rules of HTTP/2: a header block is larger than 64 KiB or in more than \
     32 frames (ENHANCE_YOUR_CALM)";
const NO_BYTE: &str = "no byte of the response came in time";

#[test]
fn floods_end_with_the_timeout_or_before_and_fill_no_memory() {
    let before = peak_kb();
    let begun = headers(0, &[STATUS_200]);
    fails(
        flooding(begun, frame(CONTINUATION, 0, 1, &[])),
        "too_large",
        TOO_LONG_A_BLOCK,
    );
    fails(
        flooding(vec![], frame(PING, 0, 0, &[7; 8])),
        "response_timeout",
        NO_BYTE,
    );
    fails(
        flooding(vec![], frame(SETTINGS, 0, 0, &[0, 1, 0, 0, 16, 0])),
        "response_timeout",
        NO_BYTE,
    );
    let interim = [&[0x48, 3][..], b"103"].concat();
    fails(
        flooding(vec![], headers(END_HEADERS, &interim)),
        "response_timeout",
        "only interim responses (1xx) came in time",
    );
    let response = headers(END_HEADERS, &[STATUS_200]);
    fails(
        flooding(response.clone(), frame(DATA, 0, 1, &[])),
        "response_timeout",
        NOT_ENDED,
    );
    fails(
        flooding(response.clone(), frame(DATA, 0, 1, &[b'x'; 16384])),
        "response_timeout",
        NOT_ENDED,
    );
    let too_large = BTreeMap::from([(
        (
            "too_large",
            "the response body is larger than the limit set for it".to_owned(),
        ),
        2,
    )]);
    let endless = flooding(response, frame(DATA, 0, 1, &[b'x'; 16384]));
    assert_eq!(
        failures(endless, &json!({"body_limit": 100_000})),
        too_large
    );
    let grown = peak_kb() - before;
    assert!(grown < 100_000, "{grown} kB");
}

/// The most memory that this process has had.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

#[test]
fn heads_that_unfold_into_more_than_is_allowed_are_not_kept() {
    let before = peak_kb();
    // One large field enters the dynamic table, where it has number 62; then it is named 10,000 times.
    let large = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'y'; 4000]].concat();
    let bomb = [&[STATUS_200][..], &large, &[0xbe; 10_000]].concat();
    let why = "the response head is larger than 65536 bytes";
    fails(answering(headers(END_HEADERS, &bomb)), "too_large", why);
    let fields = [
        &[STATUS_200][..],
        &field("x-field", &"z".repeat(120)).repeat(100),
    ]
    .concat();
    let more = [
        &headers(0, &fields)[..],
        &frame(CONTINUATION, 0, 1, &fields[1..]).repeat(5),
        &frame(CONTINUATION, END_HEADERS, 1, &[]),
    ]
    .concat();
    fails(answering(more), "too_large", TOO_LONG_A_BLOCK);
    let grown = peak_kb() - before;
    assert!(grown < 100_000, "{grown} kB");
    // A name of 4,000 bytes that enters the table again 6,000 times.
    let again = [&[STATUS_200][..], &large_name(), &[0x7e, 0].repeat(6_000)].concat();
    let why = "the server broke the rules of HTTP/2: a header block unfolds into more than 1 MiB (ENHANCE_YOUR_CALM)";
    fails(answering(headers(END_HEADERS, &again)), "too_large", why);
}

/// A field that enters the dynamic table, with a name of 4,000 bytes and without a value.
fn large_name() -> Vec<u8> {
    [&[0x40, 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000], &[0]].concat()
}

#[test]
fn a_head_may_have_any_number_of_fields() {
    let many = [&[STATUS_200][..], &field("x", "y").repeat(1000)].concat();
    let response = headers(END_HEADERS | END_STREAM, &many);
    assert_eq!(failures(answering(response), &json!({})), BTreeMap::new());
}

/// The head of the final response would come after any interim ones.
#[test]
fn interim_heads_are_not_the_first_byte() {
    let interim = headers(END_HEADERS, &[&[0x48, 3][..], b"103"].concat());
    let timeouts = json!({"timeouts": {"connect_ns": 5 * SECOND, "first_byte_ns": 150 * MS, "total_ns": 20 * SECOND}});
    let why = "only interim responses (1xx) came in time".to_owned();
    assert_eq!(
        failures(answering(interim), &timeouts),
        BTreeMap::from([(("response_timeout", why), 2)])
    );
}

#[test]
fn windows_and_streams_that_are_never_granted_time_out() {
    // INITIAL_WINDOW_SIZE 0, and a body that has to go through.
    let closed_window = Script {
        settings: vec![0, 4, 0, 0, 0, 0],
        ..Script::default()
    };
    let body = json!({"requests": [{"name": "r", "method": "POST", "path": "/", "body_base64": "aGVsbG8="}]});
    let expected = BTreeMap::from([(("response_timeout", NO_BYTE.to_owned()), 2)]);
    let body = with(body, "", hurried());
    assert_eq!(failures(closed_window, &body), expected);
    // MAX_CONCURRENT_STREAMS 0: the second request of a client finds it said.
    let no_streams = Script {
        settings: vec![0, 3, 0, 0, 0, 0],
        ..Script::default()
    };
    let twice = json!({"load": {"closed": {"clients": 1, "requests": 2}}});
    let twice = with(twice, "", hurried());
    let none = "no stream of the connection became free in time".to_owned();
    let expected = BTreeMap::from([
        (("response_timeout", NO_BYTE.to_owned()), 1),
        (("response_timeout", none), 1),
    ]);
    assert_eq!(failures(no_streams, &twice), expected);
}

#[test]
fn refusals_have_their_reason() {
    let response = headers(END_HEADERS, &[STATUS_200]);
    let reset = [&response[..], &frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])].concat();
    fails(answering(reset), "reset", "RST_STREAM CANCEL");
    let reset = [&response[..], &frame(RST_STREAM, 0, 1, &[0, 0, 0, 0])].concat();
    fails(answering(reset), "closed_early", "RST_STREAM NO_ERROR");
    let goodbye = |reason| [&[0, 0, 0, 0, 0, 0, 0, reason], &b"a \"word\""[..]].concat();
    let calm = "GOAWAY ENHANCE_YOUR_CALM (\"a \\\"word\\\"\")";
    fails(answering(frame(GOAWAY, 0, 0, &goodbye(11))), "reset", calm);
    let gone = "GOAWAY NO_ERROR (\"a \\\"word\\\"\")";
    fails(answering(frame(GOAWAY, 0, 0, &goodbye(0))), "stale", gone);
    let closing = |response| Script {
        closes: true,
        ..self::answering(response)
    };
    fails(
        closing(vec![]),
        "closed_early",
        "the server closed the connection",
    );
    fails(
        closing(response),
        "closed_early",
        "the server closed the connection",
    );
}

#[test]
fn a_server_that_breaks_the_rules_ends_its_connection() {
    let broken = |response: Vec<u8>, rule: &str| {
        let why = format!("the server broke the rules of HTTP/2: {rule}");
        fails(answering(response), "malformed", &why);
    };
    let response = headers(END_HEADERS, &[STATUS_200]);
    broken(
        frame(DATA, 0, 1, &vec![0; 20_000]),
        "a frame is larger than 16 KiB (FRAME_SIZE_ERROR)",
    );
    let nobody = "a frame came for a stream that nobody opened (PROTOCOL_ERROR)";
    broken(frame(DATA, 0, 0, b"nowhere"), nobody);
    broken(frame(DATA, 0, 7, b"nobody asked"), nobody);
    broken(
        frame(DATA, 8, 1, &[9, 1]),
        "a frame has more padding than payload (PROTOCOL_ERROR)",
    );
    broken(
        frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        "WINDOW_UPDATE by nothing (PROTOCOL_ERROR)",
    );
    broken(
        frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        "a window was opened beyond 2 GiB (FLOW_CONTROL_ERROR)",
    );
    broken(
        frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, STATUS_200]),
        "PUSH_PROMISE, which jostle does not allow (PROTOCOL_ERROR)",
    );
    broken(
        frame(CONTINUATION, END_HEADERS, 1, &[STATUS_200]),
        "CONTINUATION came without a header block (PROTOCOL_ERROR)",
    );
    broken(
        headers(END_HEADERS | END_STREAM, &[STATUS_200, 0xbe]),
        "a header block refers to a table entry that does not exist (COMPRESSION_ERROR)",
    );
    broken(
        [&headers(0, &[STATUS_200])[..], &frame(DATA, 0, 1, b"x")].concat(),
        "a frame came in the middle of a header block (PROTOCOL_ERROR)",
    );
    broken(
        frame(PING, 0, 0, &[0; 7]),
        "a frame's length does not fit its type (FRAME_SIZE_ERROR)",
    );
    broken(
        frame(SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1]),
        "SETTINGS_ENABLE_PUSH of a server is not 0 (PROTOCOL_ERROR)",
    );
    broken(
        frame(SETTINGS, 0, 1, &[]),
        "a frame of the connection came on a stream (PROTOCOL_ERROR)",
    );
    broken(
        [&response[..], &frame(RST_STREAM, 0, 3, &[0; 4])].concat(),
        "RST_STREAM for a stream that is idle (PROTOCOL_ERROR)",
    );
}

#[test]
fn a_response_that_breaks_the_rules_is_malformed_and_its_connection_goes_on() {
    let broken = |response: Vec<u8>, rule: &str| {
        let why = format!("the response breaks the rules of HTTP/2: {rule}");
        fails(answering(response), "malformed", &why);
    };
    let whole = |block: &[u8]| headers(END_HEADERS | END_STREAM, block);
    let with_field = |name, value| whole(&[&[STATUS_200][..], &field(name, value)].concat());
    let response = headers(END_HEADERS, &[STATUS_200]);
    let length = [&[STATUS_200][..], &field("content-length", "10")].concat();
    let length = headers(END_HEADERS, &length);
    broken(
        [&length[..], &frame(DATA, END_STREAM, 1, b"hello")].concat(),
        "its body is not as long as its Content-Length says",
    );
    let two = [
        &[STATUS_200][..],
        &field("content-length", "5"),
        &field("content-length", "6"),
    ];
    fails(
        answering(whole(&two.concat())),
        "malformed",
        "Content-Length is given twice, with different values",
    );
    broken(
        with_field("X-Loud", "1"),
        "a header's name is in capitals, begins with a colon, or has a character that no name can have",
    );
    broken(
        with_field("connection", "close"),
        "its head has a header that only HTTP/1.1 has",
    );
    broken(
        whole(&field("no", "status")),
        "its head does not begin with its status",
    );
    broken(
        whole(&field(":status", "abc")),
        "its status is not one of HTTP/2",
    );
    broken(whole(&[]), "its head has no status");
    broken(
        frame(DATA, END_STREAM, 1, b"hello"),
        "its body came before its head",
    );
    broken(
        [&response[..], &response].concat(),
        "a second head came before its end",
    );
    let trailers = [
        &response[..],
        &headers(END_HEADERS | END_STREAM, &field("a", "b")),
    ]
    .concat();
    assert_eq!(
        failures(answering(trailers), &json!({})),
        BTreeMap::new(),
        "trailers may follow a head"
    );
    let padded = [
        &response[..],
        &frame(DATA, END_STREAM | 8, 1, &[2, b'x', 0, 0]),
    ]
    .concat();
    assert_eq!(failures(answering(padded), &json!({})), BTreeMap::new());
}

/// A server that answers the first request of a connection, and at once the one that is to follow it. What separates the
/// two makes it likely that the second response is read when its request is known, but has not left.
#[test]
fn a_response_that_was_guessed_is_none() {
    let address = serve(|mut stream| async move {
        let mut preface = [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
        stream.read_exact(&mut preface).await.unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        while read_frame(&mut stream).await.unwrap().0 != HEADERS {}
        let response = |id| frame(HEADERS, END_HEADERS | END_STREAM, id, &[STATUS_200]);
        let unknown = frame(0xfa, 0, 0, &[0; 16384 - 9]).repeat(4);
        let both = [response(1), unknown, response(3)].concat();
        stream.write_all(&both).await.ok();
        while let Ok((kind, _, id, _)) = read_frame(&mut stream).await {
            if kind == HEADERS && id == 3 {
                return;
            }
        }
    });
    let load = json!({"closed": {"clients": 1, "requests": 100}});
    let spec = over_http2(address, json!({"connections": 1}), load);
    let seen = run(with(one(spec, 0), "", json!({"threads": 1})));
    let early = "the response breaks the rules of HTTP/2: it came before its request had left";
    let failures = seen.failures();
    assert!(
        failures.contains_key(&("malformed", early.to_owned())),
        "{failures:?}"
    );
}
