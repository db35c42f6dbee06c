//! What holds for every response and for every sequence of bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::protocol::h1::tests::{
    DecodeError, ResponseDecoder, ResponseStep, Seen, decode, decode_with,
};

/// A valid response as bytes, what should be seen of it, and whether only closing ends it.
#[derive(Debug, Clone)]
struct Response {
    bytes: Vec<u8>,
    seen: Seen,
    head_request: bool,
    until_close: bool,
}

#[derive(Debug, Clone)]
enum Body {
    None {
        head_request: bool,
    },
    Length(Vec<u8>),
    /// Pieces, one extension for all, trailer fields.
    Chunked(Vec<Vec<u8>>, String, Vec<(String, String)>),
    UntilClose(Vec<u8>),
}

fn any_body() -> impl Strategy<Value = Body> {
    let bytes = || vec(any::<u8>(), 0..3000);
    prop_oneof![
        any::<bool>().prop_map(|head_request| Body::None { head_request }),
        bytes().prop_map(Body::Length),
        (
            vec(vec(any::<u8>(), 1..500), 0..10),
            "(;[a-z]{1,9}=[a-z]{1,9})?",
            fields()
        )
            .prop_map(|(pieces, extension, trailers)| Body::Chunked(pieces, extension, trailers)),
        bytes().prop_map(Body::UntilClose),
    ]
}

/// Header fields that do not matter.
fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    vec(
        (
            "[A-Za-z][A-Za-z0-9-]{0,20}-x",
            "([!-~]([ -~]{0,40}[!-~])?)?",
        ),
        0..8,
    )
}

prop_compose! {
    fn any_response()(
        body in any_body(),
        fields in fields(),
        reason in "[ -~]{0,20}",
        interim in 0..3_usize,
        close in any::<bool>(),
        at in any::<Index>(),
    ) -> Response {
        let status = if matches!(body, Body::None { head_request: false }) { 204 } else { 200 };
        let mut headers = fields;
        let framing = match &body {
            Body::None { .. } | Body::UntilClose(_) => None,
            Body::Length(bytes) => Some(("Content-Length", bytes.len().to_string())),
            Body::Chunked(..) => Some(("transfer-encoding", "chunked".to_owned())),
        };
        if let Some((name, value)) = framing {
            headers.insert(at.index(headers.len() + 1), (name.to_owned(), value));
        }
        if close {
            headers.insert(at.index(headers.len() + 1), ("Connection".to_owned(), "close".to_owned()));
        }
        let mut bytes = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".repeat(interim);
        bytes.extend_from_slice(format!("HTTP/1.1 {status} {reason}\r\n").as_bytes());
        write_fields(&mut bytes, &headers);
        let content = write_body(&mut bytes, &body);
        let until_close = matches!(body, Body::UntilClose(_));
        Response {
            bytes,
            seen: Seen { status, keep_alive: !close && !until_close, body: content, left: 0 },
            head_request: matches!(body, Body::None { head_request: true }),
            until_close,
        }
    }
}

fn write_fields(bytes: &mut Vec<u8>, fields: &[(String, String)]) {
    for (name, value) in fields {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
}

/// Writes the body with its framing, and returns it without.
fn write_body(bytes: &mut Vec<u8>, body: &Body) -> Vec<u8> {
    match body {
        Body::None { .. } => Vec::new(),
        Body::Length(body) | Body::UntilClose(body) => {
            bytes.extend_from_slice(body);
            body.clone()
        }
        Body::Chunked(pieces, extension, trailers) => {
            for piece in pieces {
                bytes.extend_from_slice(format!("{:x}{extension}\r\n", piece.len()).as_bytes());
                bytes.extend_from_slice(piece);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(format!("0{extension}\r\n").as_bytes());
            write_fields(bytes, trailers);
            pieces.concat()
        }
    }
}

/// `bytes` cut at these places.
fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place.index(bytes.len() + 1))
        .collect();
    places.sort_unstable();
    places.push(bytes.len());
    let mut from = 0;
    places
        .into_iter()
        .map(|to| &bytes[std::mem::replace(&mut from, to)..to])
        .collect()
}

/// Bytes that are nearly a response: a valid one with some bytes changed.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<Index>(),
        prop_oneof![any::<u8>(), prop::sample::select(b"\r\n\0 :;,0f".to_vec())],
    );
    (any_response(), vec(change, 0..6)).prop_map(|(response, changes)| {
        let mut bytes = response.bytes;
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    })
}

proptest! {
    #[test]
    fn a_valid_response_is_seen_as_it_is(response in any_response(), places in vec(any::<Index>(), 0..12)) {
        let pieces = cut(&response.bytes, &places);
        prop_assert_eq!(decode(response.head_request, &pieces), Ok(response.seen));
    }

    #[test]
    fn what_follows_a_response_is_left(
        response in any_response(), rest in vec(any::<u8>(), 0..50), places in vec(any::<Index>(), 0..12),
    ) {
        prop_assume!(!response.until_close);
        let bytes = [response.bytes, rest.clone()].concat();
        let seen = Seen { left: rest.len(), ..response.seen };
        prop_assert_eq!(decode(response.head_request, &cut(&bytes, &places)), Ok(seen));
    }

    #[test]
    fn no_end_comes_before_the_framing_says_so(response in any_response(), place in any::<Index>()) {
        let bytes = &response.bytes[..place.index(response.bytes.len())];
        let mut decoder = ResponseDecoder::default();
        decoder.begin(response.head_request);
        let mut at = 0;
        loop {
            let (used, step) = decoder.step(&bytes[at..]).unwrap();
            at += used;
            prop_assert_ne!(&step, &ResponseStep::End);
            if step == ResponseStep::NeedMore {
                break;
            }
        }
        // Closing is an error, unless it is what ends the body.
        let outcome = decoder.eof();
        prop_assert!(match outcome {
            Ok(_) => response.until_close,
            Err(error) => matches!(
                error,
                DecodeError::ClosedBeforeHead | DecodeError::ClosedInHead | DecodeError::ClosedInBody
            ),
        }, "{:?}", outcome);
    }

    #[test]
    fn pieces_make_no_difference(
        bytes in prop_oneof![spoilt(), vec(any::<u8>(), 0..300)],
        places in vec(any::<Index>(), 0..12),
        limit in prop::option::of(0..2000_u64),
        head_request in any::<bool>(),
    ) {
        let decode = |pieces: &[&[u8]]| decode_with(&mut ResponseDecoder::new(limit), head_request, pieces);
        let whole = decode(&[&bytes]);
        prop_assert_eq!(&decode(&cut(&bytes, &places)), &whole);
        prop_assert_eq!(&decode(&bytes.chunks(1).collect::<Vec<_>>()), &whole);
    }
}
