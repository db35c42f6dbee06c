//! Each hostile behaviour does what its name says.

use crate::client::{BINARY, Client, End, Server};
use std::process::Command;
use std::time::Duration;

/// For an end that must come, and for silence, which cannot be waited out.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(800);
const LIMIT: usize = 1 << 20;

/// All bytes that the behaviour sends to one request, and how the connection goes on, for the second of two
/// clients; the first leaves at once.
fn met(behaviour: &str, patience: Duration) -> (String, End) {
    let server = Server::start(&format!("hostile {behaviour}"));
    drop(ask(&server));
    let (bytes, end) = ask(&server).listen(patience, LIMIT);
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

fn ask(server: &Server) -> Client {
    let mut client = server.connect();
    client.offer(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client
}

fn listed() -> Vec<String> {
    let output = Command::new(BINARY)
        .args(["hostile", "--list"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// Name, least and (exclusive) most bytes, end.
const ENDS: &[(&str, usize, usize, End)] = &[
    ("reset-after-accept", 0, 1, End::Reset),
    ("close-after-accept", 0, 1, End::Closed),
    ("never-reads", 0, 1, End::Silent),
    ("never-answers", 0, 1, End::Silent),
    ("early-answer", 1024, 1200, End::Closed),
    ("close-after-request", 0, 1, End::Closed),
    ("reset-after-request", 0, 1, End::Reset),
    ("close-mid-headers", 20, 100, End::Closed),
    ("reset-mid-headers", 20, 100, End::Reset),
    ("close-mid-body", 512, 1024, End::Closed),
    ("reset-mid-body", 512, 1024, End::Reset),
    ("half-close", 1024, 1200, End::Closed),
    ("drip", 1, 2, End::Silent),
    ("endless-status-line", LIMIT, usize::MAX, End::More),
    ("endless-headers", LIMIT, usize::MAX, End::More),
    ("endless-continue", LIMIT, usize::MAX, End::More),
    ("endless-body", LIMIT, usize::MAX, End::More),
    ("endless-chunks", LIMIT, usize::MAX, End::More),
    ("endless-chunk-size", LIMIT, usize::MAX, End::More),
    ("chunk-cut-off", 50, 1000, End::Closed),
    ("tls-alert", 7, 20, End::Closed),
];

/// Name, and what is found among the bytes.
const BYTES: &[(&str, &str)] = &[
    ("length-too-long", "Content-Length: 2048\r\n"),
    ("length-too-short", "Content-Length: 512\r\n"),
    ("length-huge", "Content-Length: 18446744073709551616\r\n"),
    ("length-negative", "Content-Length: -1\r\n"),
    ("length-not-a-number", "0x400\r\n"),
    (
        "length-conflict",
        "Content-Length: 1024\r\nContent-Length: 512\r\n",
    ),
    (
        "length-and-chunked",
        "Content-Length: 1024\r\nTransfer-Encoding: chunked\r\n",
    ),
    ("chunk-size-not-hex", "\r\n\r\nxyz\r\n"),
    ("chunk-size-negative", "\r\n\r\n-5\r\n"),
    ("chunk-size-huge", "\r\n\r\nfffffffffffffffff\r\n"),
    ("chunk-too-long", "\r\n\r\n3\r\nhello\r\n"),
    ("chunks-without-end", "\r\n\r\n5\r\nhello\r\n"),
    ("bad-status-line", "HTP/9.9 banana\r\n"),
    ("nul-in-header", "a\0b\r\n"),
    ("header-without-colon", "\r\nnonsense\r\n"),
    ("markup", "HTTP/1.1 500 <script>alert(1)</script>"),
    ("wrong-status", "HTTP/1.1 500 "),
    ("wrong-body", "xxx!"),
    ("junk-after-answer", "xxx\nHTTP/1.1 200 OK\r\n"),
];

#[test]
fn the_connection_ends_or_does_not_as_stated() {
    for &(behaviour, bytes_at_least, bytes_below, ref end) in ENDS {
        let patience = if *end == End::Silent { SHORT } else { LONG };
        let (text, found) = met(behaviour, patience);
        assert_eq!(found, *end, "{behaviour} sent {text:?}");
        assert!(
            (bytes_at_least..bytes_below).contains(&text.len()),
            "{behaviour}: {} bytes",
            text.len()
        );
    }
}

#[test]
fn the_bytes_are_wrong_in_the_stated_way() {
    for (behaviour, expected) in BYTES {
        let server = Server::start(&format!("hostile {behaviour}"));
        let mut client = ask(&server);
        let mut text = String::new();
        while !text.contains(expected) {
            let (bytes, end) = client.listen(LONG, 0);
            text += &String::from_utf8_lossy(&bytes);
            assert_eq!(end, End::More, "{behaviour} sent {text:?}");
        }
    }
}

#[test]
fn small_chunks_are_a_hundred_thousand_and_correct() {
    let (text, end) = met("small-chunks", Duration::from_secs(2));
    let body = text.split_once("\r\n\r\n").expect("a head").1;
    assert_eq!(
        (body, end),
        (
            ("1\r\nx\r\n".repeat(100_000) + "0\r\n\r\n").as_str(),
            End::Silent
        )
    );
}

#[test]
fn every_listed_behaviour_is_tested_here() {
    let mut tested: Vec<&str> = ENDS.iter().map(|row| row.0).collect();
    tested.extend(BYTES.iter().map(|row| row.0));
    tested.push("small-chunks");
    let mut listed = listed();
    tested.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, tested);
}
