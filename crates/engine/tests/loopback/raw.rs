//! Bytes without a protocol, and every way in which a server can leave them without a response.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jostle_engine::interval::Measure;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A server that does `response` with every line.
fn answering_lines<F, Fut>(response: F) -> SocketAddr
where
    F: Fn(BufReader<TcpStream>, String) -> Fut + Send + Clone + 'static,
    Fut: Future<Output = Option<BufReader<TcpStream>>> + 'static,
{
    serve(move |stream| {
        let response = response.clone();
        async move {
            let mut stream = BufReader::new(stream);
            loop {
                let mut line = String::new();
                match stream.read_line(&mut line).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => match response(stream, line).await {
                        Some(back) => stream = back,
                        None => return,
                    },
                }
            }
        }
    })
}

/// Answers every line with these pieces, each in a write of its own.
fn saying(pieces: &'static [&'static [u8]]) -> SocketAddr {
    answering_lines(move |mut stream, _| async move {
        for piece in pieces {
            stream.write_all(piece).await.ok()?;
            tokio::task::yield_now().await;
        }
        Some(stream)
    })
}

/// Answers a line with these bytes, and closes.
fn saying_last(bytes: &'static [u8]) -> SocketAddr {
    answering_lines(move |mut stream, _| async move {
        stream.write_all(bytes).await.ok()?;
        None
    })
}

fn line_end() -> Value {
    json!({"delimiter-base64": STANDARD.encode("\r\n")})
}

fn raw(until: &Value) -> Value {
    json!({"raw": {"until": until}, "body_base64": STANDARD.encode("PING\r\n")})
}

/// A run of ten exchanges by two clients.
fn ten(address: SocketAddr, until: Value) -> Value {
    let load = json!({"closed": {"clients": 2, "requests": 10}});
    let spec = one(workload(address, load), 0);
    with(spec, "/workloads/0/requests/0", raw(&until))
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 10)])
}

fn refusal(spec: Value) -> String {
    start(spec).expect_err("it is refused").to_string()
}

#[test]
fn exchanges_follow_one_another_on_a_connection() {
    let seen = run(ten(saying(&[b"+PO", b"NG\r", b"\n"]), line_end()));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 2);
    let seen = run(ten(saying(&[b"+PONG\r\n"]), json!({"length": 7})));
    assert_eq!(seen.outcomes(), all("ok"));
    let seen = run(ten(
        saying(&[b"+PONG\r\n"]),
        json!({"regex": r"[+-][A-Z]+\r\n"}),
    ));
    assert_eq!(seen.outcomes(), all("ok"));
}

#[test]
fn a_response_may_end_with_its_connection() {
    let seen = run(ten(saying_last(b"all of it"), json!("close")));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
    let seen = run(ten(saying_last(b""), json!("close")));
    assert_eq!(seen.outcomes(), all("closed_early"));
}

#[test]
fn a_response_is_checked_and_parameters_are_filled_in() {
    let echo = answering_lines(|mut stream, line| async move {
        stream.write_all(line.as_bytes()).await.ok()?;
        Some(stream)
    });
    let filled = json!({
        "body_base64": STANDARD.encode("{\"id\": {n}}\r\n"),
        "params": {"n": {"range": {"from": 7, "to": 7}}},
        "expect": {"body": {"exact": "{\"id\": 7}\r\n"}},
    });
    let spec = with(ten(echo, line_end()), "/workloads/0/requests/0", filled);
    assert_eq!(run(spec).outcomes(), all("ok"));
    let wrong = json!({"expect": {"body": {"contains": "OK"}}});
    let spec = with(ten(echo, line_end()), "/workloads/0/requests/0", wrong);
    assert_eq!(run(spec).outcomes(), all("wrong_body"));
}

#[test]
fn a_server_that_breaks_off_is_counted() {
    let seen = run(ten(saying_last(b"+PON"), line_end()));
    assert_eq!(seen.outcomes(), all("closed_early"));
    let silent = answering_lines(|stream, _| async move { Some(stream) });
    let impatient = json!({"timeouts": {"connect_ns": SECOND, "total_ns": 20 * MS}});
    let spec = with(ten(silent, line_end()), "/workloads/0", impatient);
    assert_eq!(run(spec).outcomes(), all("response_timeout"));
    let reset = answering_lines(|stream, _| async move {
        socket2::SockRef::from(stream.get_ref())
            .set_linger(Some(std::time::Duration::ZERO))
            .unwrap();
        None
    });
    assert_eq!(run(ten(reset, line_end())).outcomes(), all("reset"));
}

#[test]
fn a_response_without_its_end_is_too_large() {
    let endless = answering_lines(|mut stream, _| async move {
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        None
    });
    for until in [line_end(), json!("close")] {
        let spec = with(
            ten(endless, until),
            "/workloads/0",
            json!({"body_limit": 10_000}),
        );
        assert_eq!(run(spec).outcomes(), all("too_large"));
    }
}

#[test]
fn bytes_behind_a_response_are_counted_and_belong_to_no_other() {
    let seen = run(ten(saying(&[b"+PONG\r\n+PONG\r\n"]), line_end()));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.sum(0, |state| state.connects), 10);
    assert_eq!(
        seen.texts(|state| &state.excess)
            .into_values()
            .collect::<Vec<_>>(),
        [10]
    );
}

#[test]
fn a_unix_socket_carries_them_too() {
    let path = std::env::temp_dir().join(format!("jostle-raw-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut lines = std::io::BufReader::new(stream);
                let mut line = String::new();
                while std::io::BufRead::read_line(&mut lines, &mut line).is_ok_and(|n| n > 0) {
                    std::io::Write::write_all(lines.get_mut(), b"+PONG\r\n").unwrap();
                }
            });
        }
    });
    let nowhere = "127.0.0.1:1".parse().unwrap();
    let unix = json!({"connect_to": [format!("unix:{}", path.display())]});
    let seen = run(with(ten(nowhere, line_end()), "/workloads/0/target", unix));
    assert_eq!(seen.outcomes(), all("ok"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn they_may_go_over_tls() {
    let acceptor = self_signed();
    let address = serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = BufReader::new(acceptor.accept(stream).await.unwrap());
            let mut line = String::new();
            while stream.read_line(&mut line).await.is_ok_and(|n| n > 0) {
                stream.write_all(b"+PONG\r\n").await.unwrap();
                stream.flush().await.unwrap();
            }
        }
    });
    let tls = json!({"tls": {"insecure": true}});
    let seen = run(with(ten(address, line_end()), "/workloads/0/target", tls));
    assert_eq!(seen.outcomes(), all("ok"));
    assert_eq!(seen.recorded(Measure::Tls), 2);
}

#[test]
fn what_does_not_go_with_raw_bytes_is_refused() {
    let nowhere = "127.0.0.1:1".parse().unwrap();
    let changed =
        |place: &str, change: Value| refusal(with(ten(nowhere, line_end()), place, change));
    let request = "/workloads/0/requests/0";
    assert!(changed(request, json!({"headers": [["A", "b"]]})).contains("no headers"));
    assert!(changed(request, json!({"stream": {"format": "lines"}})).contains("no stream"));
    assert!(changed(request, json!({"expect": {"status": [200]}})).contains("no status"));
    assert!(changed(request, json!({"body_base64": null})).contains("nothing is sent"));
    assert!(changed("/workloads/0/target", json!({"http2": {}})).contains("leave out http2"));
    assert!(changed("/workloads/0", json!({"redirects": {"most": 1}})).contains("redirects"));
    let http = json!({"name": "http", "method": "GET", "path": "/"});
    let mut mixed = ten(nowhere, line_end());
    mixed["workloads"][0]["requests"]
        .as_array_mut()
        .unwrap()
        .push(http);
    assert!(refusal(mixed).contains("of one kind"));
    let long = with(
        ten(nowhere, json!({"length": 11})),
        "/workloads/0",
        json!({"body_limit": 10}),
    );
    assert!(refusal(long).contains("can never be reached"));
    assert!(refusal(ten(nowhere, json!({"regex": "x*"}))).contains("empty text"));
}
