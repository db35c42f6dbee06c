//! Responses as servers send them: whole, byte by byte, and with bytes after them.

use crate::protocol::h1::tests::{ResponseDecoder, ResponseStep, Seen, decode, decode_with};

pub(super) fn byte_by_byte(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1).collect()
}

/// Checks that the response is seen like this however it arrives, and that what follows it is left alone.
#[track_caller]
fn complete(head_request: bool, bytes: &str, status: u16, keep_alive: bool, body: &str) {
    let mut seen = Seen {
        status,
        keep_alive,
        body: body.into(),
        left: 0,
    };
    let bytes = bytes.as_bytes();
    assert_eq!(decode(head_request, &[bytes]).as_ref(), Ok(&seen), "whole");
    assert_eq!(
        decode(head_request, &byte_by_byte(bytes)).as_ref(),
        Ok(&seen),
        "byte by byte"
    );
    let trailing = [bytes, b"HTTP/1.1 500 "].concat();
    seen.left = 13;
    assert_eq!(
        decode(head_request, &[&trailing]).as_ref(),
        Ok(&seen),
        "with trailing bytes"
    );
    assert_eq!(
        decode(head_request, &byte_by_byte(&trailing)).as_ref(),
        Ok(&seen),
        "both"
    );
}

#[track_caller]
pub(super) fn ok(bytes: &str, keep_alive: bool, body: &str) {
    complete(false, bytes, 200, keep_alive, body);
}

/// Checks a response whose body continues until the peer closes.
#[track_caller]
fn until_close(bytes: &str, body: &str) {
    let seen = Ok(Seen {
        status: 200,
        keep_alive: false,
        body: body.into(),
        left: 0,
    });
    assert_eq!(decode(false, &[bytes.as_bytes()]), seen, "whole");
    assert_eq!(
        decode(false, &byte_by_byte(bytes.as_bytes())),
        seen,
        "byte by byte"
    );
}

#[test]
fn the_decoder_is_small() {
    assert!(size_of::<ResponseDecoder>() <= 64);
}

#[test]
fn content_length() {
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        true,
        "hello",
    );
    ok(
        "HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello",
        true,
        "hello",
    );
    ok("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, "");
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 007\r\n\r\n7 bytes",
        true,
        "7 bytes",
    );
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        true,
        "hello",
    );
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        true,
        "hello",
    );
}

#[test]
fn heads_of_known_servers() {
    ok(
        "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 18:52:34 GMT\r\n\
         Content-Type: text/html\r\nContent-Length: 2\r\nConnection: keep-alive\r\nETag: \"6553-2\"\r\n\
         Accept-Ranges: bytes\r\n\r\nhi",
        true,
        "hi",
    );
    ok(
        "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 18:52:34 GMT\r\nConnection: keep-alive\r\n\
         Keep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        true,
        "hi",
    );
    // Cowboy: names in lower case.
    ok(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nserver: Cowboy\r\n\r\nhi",
        true,
        "hi",
    );
    // WEBrick and Unicorn, closing.
    ok(
        "HTTP/1.1 200 OK\r\nStatus: 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        false,
        "hi",
    );
    // Apache for ab: HTTP/1.0 with keep-alive.
    ok(
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi",
        true,
        "hi",
    );
    // Python's http.server.
    until_close(
        "HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6 Python/3.11.2\r\n\r\nhi",
        "hi",
    );
    // No reason, an empty reason, a reason in Latin-1.
    ok("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", true, "hi");
    ok("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", true, "hi");
    ok(
        "HTTP/1.1 200 D'accord \u{e9}\r\nContent-Length: 2\r\n\r\nhi",
        true,
        "hi",
    );
}

#[test]
fn tolerated_line_ends() {
    ok("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", true, "hi");
    ok(
        "\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        true,
        "hi",
    );
    // A folded line is read as a space.
    ok(
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n 2\r\n\r\nhi",
        true,
        "hi",
    );
    ok(
        "HTTP/1.1 200 OK\r\nConnection: x,\r\n\tclose\r\nContent-Length: 0\r\n\r\n",
        false,
        "",
    );
}

#[test]
fn chunked() {
    let ok = |body: &str, content: &str| {
        ok(
            &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
            true,
            content,
        );
    };
    ok("0\r\n\r\n", "");
    ok("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world");
    ok(
        "A\r\n0123456789\r\n00a\r\n0123456789\r\n0000\r\n\r\n",
        "01234567890123456789",
    );
    ok("5;name=\"va;lue\"\r\nhello\r\n0;last\r\n\r\n", "hello");
    // Padded with spaces, as old servers do.
    ok("5   \r\nhello\r\n0 \r\n\r\n", "hello");
    ok(
        "5\r\nhello\r\n0\r\nExpires: never\r\nX-Sum: 1\r\n\r\n",
        "hello",
    );
    ok("2\r\n\r\n\r\n0\r\n\r\n", "\r\n");
}

#[test]
fn chunked_is_found_in_lists() {
    for value in [
        "Chunked",
        "gzip, chunked",
        "gzip\r\nTransfer-Encoding: chunked",
        ", chunked ,",
    ] {
        ok(
            &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {value}\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
            true,
            "x",
        );
    }
}

#[test]
fn another_last_coding_ends_with_the_connection() {
    for value in ["gzip", "chunked, gzip", "xchunked"] {
        until_close(
            &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {value}\r\n\r\n0\r\n\r\n"),
            "0\r\n\r\n",
        );
        until_close(
            &format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: {value}\r\n\r\nxyz"
            ),
            "xyz",
        );
    }
}

/// RFC 2616 section 3.6; RFC 9112 no longer knows it, and some servers still name it.
#[test]
fn identity_is_no_transfer_coding() {
    ok(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
        true,
        "ok",
    );
    ok(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, Identity\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        true,
        "x",
    );
    until_close(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "0\r\n\r\n",
    );
}

#[test]
fn the_final_response_begins_where_its_status_does() {
    let mut decoder = ResponseDecoder::default();
    decoder.begin(false);
    for (piece, begun) in [
        ("HTTP/1.1 1", false),
        ("03 Early Hints\r\n\r\n", false),
        ("\r\nHTTP/1.1", false),
        (" 2", true),
        ("00 OK\r\n\r\n", true),
    ] {
        decoder.step(piece.as_bytes()).unwrap();
        assert_eq!(decoder.has_begun(), begun, "{piece:?}");
    }
}

#[test]
fn content_codings_are_told_where_they_are_asked_for() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 0\r\ncontent-encoding: gzip, gzip\r\n\r\n";
    for report in [true, false] {
        let mut decoder = ResponseDecoder::default();
        decoder.begin(false);
        decoder.report_codings(report);
        let Ok((_, ResponseStep::Head { values, .. })) = decoder.step(head) else {
            panic!("no head");
        };
        let coding = values.and_then(|values| values.coding);
        assert_eq!(coding, report.then(|| b"br, gzip, gzip"[..].into()));
    }
}

#[test]
fn two_lengths_make_the_connection_unfit() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n";
    ok(&format!("{head}1\r\nx\r\n0\r\n\r\n"), false, "x");
    assert!(!closes(head), "nobody said that the server will close it");
}

fn closes(head: &str) -> bool {
    let mut decoder = ResponseDecoder::default();
    decoder.begin(false);
    match decoder.step(head.as_bytes()) {
        Ok((_, ResponseStep::Head { closes, .. })) => closes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn responses_without_body() {
    complete(
        true,
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        200,
        true,
        "",
    );
    complete(
        true,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        200,
        true,
        "",
    );
    complete(true, "HTTP/1.1 200 OK\r\n\r\n", 200, true, "");
    complete(true, "HTTP/1.0 200 OK\r\n\r\n", 200, false, "");
    complete(false, "HTTP/1.1 204 No Content\r\n\r\n", 204, true, "");
    complete(
        false,
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
        204,
        false,
        "",
    );
    complete(
        false,
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
        304,
        true,
        "",
    );
}

#[test]
fn interim_responses_are_swallowed() {
    ok(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        true,
        "hi",
    );
    complete(
        true,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n",
        404,
        true,
        "",
    );
}

#[test]
fn connection_options() {
    for (version, value, keep_alive) in [
        ("1.1", "keep-alive", true),
        ("1.1", "CLOSE", false),
        ("1.1", "upgrade, close", false),
        ("1.1", "close\r\nConnection: keep-alive", false),
        ("1.1", "closed", true),
        ("1.0", "keep-alive", true),
        ("1.0", "x, Keep-Alive", true),
        ("1.0", "keep-alive, close", false),
        ("1.0", "x", false),
    ] {
        let head =
            format!("HTTP/{version} 200 OK\r\nConnection: {value}\r\nContent-Length: 0\r\n\r\n");
        ok(&head, keep_alive, "");
        assert_eq!(closes(&head), !keep_alive, "{head}");
    }
}

#[test]
fn one_decoder_takes_one_response_after_another() {
    let good = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".as_slice();
    let mut decoder = ResponseDecoder::default();
    assert_eq!(
        decoder.step(good),
        Ok((0, ResponseStep::End)),
        "nothing is expected before begin"
    );
    for spoilt in [&good[..20], b"HTTP/1.1 2x0", &good[..good.len() - 1]] {
        assert!(decode_with(&mut decoder, false, &[spoilt]).is_err());
        assert_eq!(
            decode_with(&mut decoder, false, &[good]).map(|seen| seen.body),
            Ok(b"hi".to_vec())
        );
    }
}

#[test]
fn the_same_head_means_something_else_after_a_head_request() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    for _ in 0..2 {
        complete(true, bytes, 200, true, "");
        ok(&format!("{bytes}hi"), true, "hi");
    }
}

#[test]
fn the_final_head_is_given_whole_where_it_is_kept() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\n";
    let bytes = [b"HTTP/1.1 100 Continue\r\n\r\n".as_slice(), head, b"ok"].concat();
    for size in [1, 7, bytes.len()] {
        let mut decoder = ResponseDecoder::default();
        decoder.begin(false);
        decoder.keep_head(true);
        let mut given = None;
        for piece in bytes.chunks(size) {
            let mut rest = piece;
            loop {
                let (used, step) = decoder.step(rest).unwrap();
                rest = &rest[used..];
                match step {
                    ResponseStep::Head { .. } => given = decoder.take_head(),
                    ResponseStep::Body(_) => {}
                    ResponseStep::NeedMore | ResponseStep::End => break,
                }
            }
        }
        assert_eq!(given.as_deref(), Some(head.as_slice()), "{size}");
    }
}
