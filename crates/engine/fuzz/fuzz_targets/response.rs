//! Feeding a response whole, in pieces and byte by byte gives the same result; see the README beside.
#![no_main]

use arbitrary::Arbitrary;
use jostle_engine::codec::{DecodeError, ResponseDecoder, Step};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    /// Sizes of the first pieces; the rest is one piece.
    cuts: [u16; 6],
    body_limit: Option<u16>,
    head_request: bool,
    bytes: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    head: Option<(u16, bool)>,
    body: Vec<u8>,
    left: usize,
}

fn decode(
    decoder: &mut ResponseDecoder,
    head_request: bool,
    pieces: &[&[u8]],
) -> Result<Seen, DecodeError> {
    decoder.begin(head_request);
    let mut seen = Seen {
        head: None,
        body: Vec::new(),
        left: pieces.iter().map(|piece| piece.len()).sum(),
    };
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let (used, step) = decoder.step(rest)?;
            let consumed = &rest[..used];
            rest = &rest[used..];
            seen.left -= used;
            match step {
                Step::NeedMore => {
                    assert!(rest.is_empty());
                    break;
                }
                Step::Head {
                    status,
                    keep_alive,
                    closes,
                } => {
                    assert!(used > 0 && status >= 200 && !(keep_alive && closes));
                    assert_eq!(seen.head.replace((status, keep_alive)), None);
                }
                Step::Body(bytes) => {
                    assert!(bytes > 0);
                    seen.body.extend_from_slice(&consumed[used - bytes..]);
                }
                Step::End => return Ok(seen),
            }
        }
    }
    assert_eq!(decoder.eof()?, Step::End);
    Ok(seen)
}

fuzz_target!(|input: Input| {
    let limit = input.body_limit.map(u64::from);
    let mut decoder = ResponseDecoder::new(limit);
    let whole = decode(&mut decoder, input.head_request, &[input.bytes]);

    let mut rest = input.bytes;
    let mut pieces = Vec::new();
    for cut in input.cuts {
        let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    // The used decoder and a new one.
    assert_eq!(decode(&mut decoder, input.head_request, &pieces), whole);
    assert_eq!(
        decode(
            &mut ResponseDecoder::new(limit),
            input.head_request,
            &pieces
        ),
        whole
    );

    let bytes: Vec<&[u8]> = input.bytes.chunks(1).collect();
    assert_eq!(decode(&mut decoder, input.head_request, &bytes), whole);
});
