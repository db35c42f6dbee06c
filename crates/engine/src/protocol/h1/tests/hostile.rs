//! Responses as they should not be, and the limits of valid ones: whole, byte by byte, and with bytes after them.

use crate::outcome::Outcome;
use crate::protocol::foreign::Foreign;
use crate::protocol::h1::tests::response::{byte_by_byte, ok};
use crate::protocol::h1::tests::{DecodeError, ResponseDecoder, decode, decode_with};
use crate::protocol::h1::{MAX_CHUNK_LINE_BYTES, MAX_HEAD_BYTES};

#[track_caller]
fn fails(bytes: impl AsRef<[u8]>, error: DecodeError) {
    let bytes = bytes.as_ref();
    assert_eq!(decode(false, &[bytes]), Err(error), "whole");
    assert_eq!(
        decode(false, &byte_by_byte(bytes)),
        Err(error),
        "byte by byte"
    );
    let trailing = [bytes, b"\r\n\r\n"].concat();
    if error.outcome() == Outcome::Malformed {
        assert_eq!(
            decode(false, &[&trailing]),
            Err(error),
            "with trailing bytes"
        );
    }
}

#[test]
fn a_switch_of_protocols_was_not_asked_for() {
    fails(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        DecodeError::SwitchingProtocols,
    );
}

#[test]
fn content_lengths_that_are_none() {
    for value in [
        "+5",
        "-5",
        "5 5",
        "0x5",
        "5;",
        "",
        "5,",
        "five",
        "18446744073709551616",
    ] {
        fails(
            format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\nhello"),
            DecodeError::ContentLength,
        );
    }
    for pair in ["5, 6", "5\r\nContent-Length: 6"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {pair}\r\n\r\nhello");
        fails(head, DecodeError::ContentLengthConflict);
    }
}

#[test]
fn bad_transfer_encodings() {
    for value in [
        "",
        ",",
        "chunked, chunked",
        "chunked;q=1",
        "chunked\r\nTransfer-Encoding: chunked",
    ] {
        let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {value}\r\n\r\n0\r\n\r\n");
        fails(head, DecodeError::TransferEncoding);
    }
    let old = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    fails(old, DecodeError::TransferEncodingInHttp10);
}

#[test]
fn bad_chunks() {
    let fails = |body: &str, error| {
        fails(
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
            error,
        );
    };
    for line in [
        "\r\n", "x\r\n", "-1\r\n", "+1\r\n", " 1\r\n", "0x1\r\n", "1 1\r\n", "1,\r\n", "1\n",
        "\0\r\n",
    ] {
        fails(line, DecodeError::ChunkSize);
    }
    fails("10000000000000000\r\n", DecodeError::ChunkSizeOverflow);
    fails("1;a\nx", DecodeError::ChunkExtension);
    fails("1;a\0\r\nx", DecodeError::ChunkExtension);
    fails("1\rx", DecodeError::ChunkLineEnd);
    fails("1\r\nxx\r\n", DecodeError::ChunkLineEnd);
    fails("1\r\nx\n0\r\n\r\n", DecodeError::ChunkLineEnd);
    fails("1\r\nx\rx", DecodeError::ChunkLineEnd);
    fails(
        "0\r\nbad trailer\r\n\r\n",
        DecodeError::Trailers(httparse::Error::HeaderName),
    );
    fails(
        "0\r\nX: a\0b\r\n\r\n",
        DecodeError::Trailers(httparse::Error::HeaderValue),
    );
}

#[test]
fn heads_that_are_none() {
    use httparse::Error::{HeaderName, HeaderValue, Status, Version};
    fails("SSH-2.0-OpenSSH_9.2\r\n", DecodeError::Head(Version));
    fails("HTTP/2 200\r\n", DecodeError::Head(Version));
    fails(
        "\x15\x03\x01\0\x02\x02\x46",
        DecodeError::Foreign(Foreign::Tls),
    );
    fails("\0\0\0\x04\0\0\0\0\0", DecodeError::Foreign(Foreign::Http2));
    fails("HTTP/1.1 20 OK\r\n", DecodeError::Head(Status));
    fails("HTTP/1.1 200 O\0K\r\n", DecodeError::Head(Status));
    fails(
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        DecodeError::Head(HeaderValue),
    );
    fails(
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        DecodeError::Head(HeaderName),
    );
    fails(
        "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
        DecodeError::Head(HeaderName),
    );
    fails("HTTP/1.1 099 Low\r\n\r\n", DecodeError::Status(99));
}

#[test]
fn what_is_wrong_in_an_unfinished_line_counts_at_its_end() {
    fails("HTTP/2", DecodeError::Head(httparse::Error::Version));
    let endless = "HTTP/2 ".repeat(MAX_HEAD_BYTES);
    fails(endless, DecodeError::Head(httparse::Error::Version));
    let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX\0";
    fails(trailers, DecodeError::Trailers(httparse::Error::HeaderName));
}

#[test]
fn early_close() {
    fails("", DecodeError::ClosedBeforeHead);
    fails("\r\n", DecodeError::ClosedBeforeHead);
    fails("HTTP/1.1 200 OK\r\nContent-", DecodeError::ClosedInHead);
    fails(
        "HTTP/1.1 100 Continue\r\n\r\n",
        DecodeError::ClosedBeforeHead,
    );
    fails(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh",
        DecodeError::ClosedInBody,
    );
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n";
    let body = chunked.find("5\r\nhello").unwrap();
    for end in body..chunked.len() {
        fails(&chunked[..end], DecodeError::ClosedInBody);
    }
}

#[test]
fn heads_are_limited_to_the_byte() {
    let head = |bytes: usize| {
        let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \r\n\r\n".len();
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: {}\r\n\r\n",
            "x".repeat(bytes - empty)
        )
    };
    ok(&head(MAX_HEAD_BYTES), true, "");
    fails(head(MAX_HEAD_BYTES + 1), DecodeError::HeadTooLarge);
    fails(
        "HTTP/1.1 200 OK\r\nX: ".to_owned() + &"x".repeat(2 * MAX_HEAD_BYTES),
        DecodeError::HeadTooLarge,
    );
}

/// Browsers and curl take them, too.
#[test]
fn a_head_and_a_trailer_section_may_have_any_number_of_lines() {
    for lines in [100, 101, 5_000] {
        let lines = "X: y\r\n".repeat(lines);
        ok(
            &format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n"),
            true,
            "",
        );
        ok(
            &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{lines}\r\n"),
            true,
            "",
        );
    }
}

#[test]
fn chunk_lines_and_trailers_are_limited() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let line = |bytes: usize| format!("{head}1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(bytes - 4));
    ok(&line(usize::from(MAX_CHUNK_LINE_BYTES)), true, "x");
    fails(
        line(usize::from(MAX_CHUNK_LINE_BYTES) + 1),
        DecodeError::ChunkLineTooLong,
    );
    fails(
        format!("{head}0\r\nX: {}", "x".repeat(MAX_HEAD_BYTES)),
        DecodeError::TrailersTooLarge,
    );
}

#[test]
fn bodies_are_limited_when_asked() {
    let heads = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    ];
    for bytes in heads.map(str::as_bytes) {
        for pieces in [vec![bytes], byte_by_byte(bytes)] {
            for (limit, expected) in [(5, Ok("hello")), (4, Err(DecodeError::BodyTooLarge))] {
                let mut decoder = ResponseDecoder::new(Some(limit));
                // Each response has the whole limit to itself.
                for _ in 0..2 {
                    let body = decode_with(&mut decoder, false, &pieces).map(|seen| seen.body);
                    assert_eq!(body, expected.map(Vec::from));
                }
            }
        }
    }
}

#[test]
fn outcomes_tell_malformed_too_large_and_early_close_apart() {
    assert_eq!(DecodeError::ChunkSize.outcome(), Outcome::Malformed);
    assert_eq!(
        DecodeError::Head(httparse::Error::Version).outcome(),
        Outcome::Malformed
    );
    assert_eq!(DecodeError::HeadTooLarge.outcome(), Outcome::TooLarge);
    assert_eq!(DecodeError::BodyTooLarge.outcome(), Outcome::TooLarge);
    assert_eq!(DecodeError::ClosedInBody.outcome(), Outcome::ClosedEarly);
}
