//! Feeding a response whole, in pieces and byte by byte gives the same result; see the README.

use jostle_engine::http1::{DecodeError, HeadValues, ResponseDecoder, ResponseStep};

use super::input::{Cut, pieces};

/// Status, whether the connection stays, and where it redirects and how the body is coded.
type Head = (u16, bool, Option<Box<HeadValues>>);

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    head: Option<Head>,
    body: Vec<u8>,
    left: usize,
}

fn decode(
    decoder: &mut ResponseDecoder,
    head_request: bool,
    pieces: &[&[u8]],
) -> Result<Seen, DecodeError> {
    decoder.begin(head_request);
    decoder.report_codings(true);
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
                ResponseStep::NeedMore => {
                    assert!(rest.is_empty());
                    break;
                }
                ResponseStep::Head {
                    status,
                    keep_alive,
                    closes,
                    values,
                } => {
                    assert!(used > 0 && status >= 200 && !(keep_alive && closes));
                    assert_eq!(seen.head.replace((status, keep_alive, values)), None);
                }
                ResponseStep::Body(bytes) => {
                    assert!(bytes > 0);
                    seen.body.extend_from_slice(&consumed[used - bytes..]);
                }
                ResponseStep::End => return Ok(seen),
            }
        }
    }
    assert_eq!(decoder.eof()?, ResponseStep::End);
    Ok(seen)
}

/// Two bytes of body limit (none if both are 0), one that says whether the request was HEAD (odd), six sizes of pieces,
/// and the response.
pub fn check(data: &[u8]) {
    let mut cut = Cut(data);
    let limit = Some(u64::from(cut.number())).filter(|limit| *limit > 0);
    let head_request = cut.byte() % 2 == 1;
    let sizes = [0; 6].map(|_| cut.number());
    let bytes = cut.0;

    let mut decoder = ResponseDecoder::new(limit).with_locations(true);
    let whole = decode(&mut decoder, head_request, &[bytes]);
    let cut_up = pieces(bytes, &sizes);
    // The used decoder and a new one.
    assert_eq!(decode(&mut decoder, head_request, &cut_up), whole);
    let mut fresh = ResponseDecoder::new(limit).with_locations(true);
    assert_eq!(decode(&mut fresh, head_request, &cut_up), whole);

    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(&mut decoder, head_request, &single), whole);
}
