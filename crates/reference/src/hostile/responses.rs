//! Hostile responses that consist of the same bytes every time.

use super::How::Response;
use super::{Behaviour, Then};
use crate::http::HELLO;

const fn behaviour(
    name: &'static str,
    about: &'static str,
    bytes: fn() -> Vec<u8>,
    then: Then,
) -> Behaviour {
    Behaviour {
        name,
        about,
        how: Response(bytes, then),
    }
}

pub static RESPONSES: &[Behaviour] = &[
    // Connections that end, or do not
    behaviour(
        "never-answers",
        "reads the request and stays silent",
        Vec::new,
        Then::Hold,
    ),
    behaviour(
        "close-after-request",
        "reads the request and closes",
        Vec::new,
        Then::Close,
    ),
    behaviour(
        "reset-after-request",
        "reads the request and resets",
        Vec::new,
        Then::Reset,
    ),
    behaviour(
        "close-mid-headers",
        "closes within the headers",
        half_headers,
        Then::Close,
    ),
    behaviour(
        "reset-mid-headers",
        "resets within the headers",
        half_headers,
        Then::Reset,
    ),
    behaviour(
        "close-mid-body",
        "closes after half of the body",
        half_body,
        Then::Close,
    ),
    behaviour(
        "reset-mid-body",
        "resets after half of the body",
        half_body,
        Then::Reset,
    ),
    behaviour(
        "half-close",
        "answers, closes its direction, and reads on",
        hello,
        Then::HalfClose,
    ),
    // Lengths
    behaviour(
        "length-too-long",
        "promises 2048 bytes, sends 1024, and waits",
        || sized("2048"),
        Then::Hold,
    ),
    behaviour(
        "length-too-short",
        "promises 512 bytes and sends 1024",
        || sized("512"),
        Then::Next,
    ),
    behaviour(
        "length-huge",
        "promises 2^64 bytes",
        || sized("18446744073709551616"),
        Then::Hold,
    ),
    behaviour(
        "length-negative",
        "Content-Length: -1",
        || sized("-1"),
        Then::Next,
    ),
    behaviour(
        "length-not-a-number",
        "Content-Length: 1024, 0x400",
        || sized("1024, 0x400"),
        Then::Next,
    ),
    behaviour(
        "length-conflict",
        "two values of Content-Length",
        || sized("1024\r\nContent-Length: 512"),
        Then::Next,
    ),
    behaviour(
        "length-and-chunked",
        "a length and chunks, which disagree",
        length_and_chunked,
        Then::Next,
    ),
    // Chunks
    behaviour(
        "chunk-size-not-hex",
        "a chunk of size xyz",
        || chunked(b"xyz\r\nhello\r\n0\r\n\r\n"),
        Then::Next,
    ),
    behaviour(
        "chunk-size-negative",
        "a chunk of size -5",
        || chunked(b"-5\r\nhello\r\n0\r\n\r\n"),
        Then::Next,
    ),
    behaviour(
        "chunk-size-huge",
        "a chunk of 2^68 bytes",
        || chunked(b"fffffffffffffffff\r\nhello"),
        Then::Hold,
    ),
    behaviour(
        "chunk-too-long",
        "a chunk longer than its size",
        || chunked(b"3\r\nhello\r\n0\r\n\r\n"),
        Then::Next,
    ),
    behaviour(
        "chunk-cut-off",
        "closes within a chunk",
        || chunked(b"400\r\nhello"),
        Then::Close,
    ),
    behaviour(
        "chunks-without-end",
        "closes without the last chunk",
        || chunked(b"5\r\nhello\r\n"),
        Then::Close,
    ),
    behaviour(
        "small-chunks",
        "100,000 chunks of one byte, correctly",
        small_chunks,
        Then::Next,
    ),
    // Heads
    behaviour(
        "bad-status-line",
        "HTP/9.9 banana",
        || b"HTP/9.9 banana\r\n\r\n".to_vec(),
        Then::Close,
    ),
    behaviour(
        "tls-alert",
        "a TLS alert in clear: handshake failure",
        tls_alert,
        Then::Close,
    ),
    behaviour(
        "nul-in-header",
        "NUL bytes in the value of a header",
        || with_header("X-Nul: a\0b"),
        Then::Next,
    ),
    behaviour(
        "header-without-colon",
        "a header line without a colon",
        || with_header("nonsense"),
        Then::Next,
    ),
    behaviour(
        "markup",
        "HTML and script in reason, header and body",
        markup,
        Then::Next,
    ),
    // Responses that are well formed and wrong
    behaviour(
        "wrong-status",
        "500 with the right body",
        wrong_status,
        Then::Next,
    ),
    behaviour(
        "wrong-body",
        "200 with one wrong byte",
        wrong_body,
        Then::Next,
    ),
    behaviour(
        "junk-after-answer",
        "a right response, then an unasked one and noise",
        junk_after,
        Then::Next,
    ),
];

/// A response with these header lines (which alone may state a length), and this body.
fn message(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n{headers}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

pub fn hello() -> Vec<u8> {
    sized("1024")
}

/// The /hello body under a claimed length.
fn sized(length: &str) -> Vec<u8> {
    message("200 OK", &format!("Content-Length: {length}"), HELLO)
}

fn with_header(line: &str) -> Vec<u8> {
    message("200 OK", &format!("{line}\r\nContent-Length: 1024"), HELLO)
}

fn chunked(body: &[u8]) -> Vec<u8> {
    message("200 OK", "Transfer-Encoding: chunked", body)
}

fn half_headers() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Le".to_vec()
}

fn half_body() -> Vec<u8> {
    let mut bytes = hello();
    bytes.truncate(bytes.len() - HELLO.len() / 2);
    bytes
}

fn length_and_chunked() -> Vec<u8> {
    message(
        "200 OK",
        "Content-Length: 1024\r\nTransfer-Encoding: chunked",
        b"5\r\nhello\r\n0\r\n\r\n",
    )
}

fn small_chunks() -> Vec<u8> {
    chunked(&[b"1\r\nx\r\n".repeat(100_000).as_slice(), b"0\r\n\r\n"].concat())
}

fn tls_alert() -> Vec<u8> {
    vec![21, 3, 3, 0, 2, 2, 40] // alert, TLS 1.2, two bytes: fatal, handshake_failure
}

fn markup() -> Vec<u8> {
    let script = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let headers = format!("Server: {script}\r\nContent-Length: {}", script.len());
    message(&format!("500 {script}"), &headers, script.as_bytes())
}

fn wrong_status() -> Vec<u8> {
    message("500 Internal Server Error", "Content-Length: 1024", HELLO)
}

fn wrong_body() -> Vec<u8> {
    let mut bytes = hello();
    let last = bytes.len() - 1;
    bytes[last] = b'!';
    bytes
}

fn junk_after() -> Vec<u8> {
    [
        hello(),
        message("200 OK", "Content-Length: 5", b"again"),
        b"\x00\xff noise".to_vec(),
    ]
    .concat()
}
