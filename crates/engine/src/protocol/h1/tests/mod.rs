pub mod hostile;
pub mod properties;
pub mod response;

use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::response::{ResponseDecoder, ResponseStep};

/// What a client would see of one response.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    status: u16,
    keep_alive: bool,
    body: Vec<u8>,
    /// Bytes of the input that were left when the response ended.
    left: usize,
}

/// Decodes one response that arrives in `pieces`, after which the peer closes. Also checks what must always hold: the
/// decoder takes no more than it is given, makes progress, and stays at an end or an error.
fn decode_with(
    decoder: &mut ResponseDecoder,
    head_request: bool,
    pieces: &[&[u8]],
) -> Result<Seen, DecodeError> {
    decoder.begin(head_request);
    let mut seen = Seen {
        status: 0,
        keep_alive: false,
        body: Vec::new(),
        left: 0,
    };
    for (index, piece) in pieces.iter().enumerate() {
        let mut at = 0;
        loop {
            let (used, step) = decoder.step(&piece[at..]).inspect_err(|error| {
                assert_eq!(
                    decoder.step(b"HTTP/1.1 200 OK\r\n\r\n"),
                    Err(*error),
                    "errors stay"
                );
                assert_eq!(decoder.eof(), Err(*error), "errors stay");
            })?;
            at += used;
            assert!(at <= piece.len(), "consumed more than there was");
            match step {
                ResponseStep::NeedMore => {
                    assert_eq!(at, piece.len(), "asked for more and left some");
                    break;
                }
                ResponseStep::Head {
                    status,
                    keep_alive,
                    closes,
                    ..
                } => {
                    assert!(
                        !(keep_alive && closes),
                        "kept alive by a server that closes"
                    );
                    assert_eq!(seen.status, 0, "two heads");
                    assert!(status >= 200, "an interim head came out");
                    (seen.status, seen.keep_alive) = (status, keep_alive);
                }
                ResponseStep::Body(bytes) => {
                    assert!(
                        0 < bytes && bytes <= used,
                        "no progress, or body that was not there"
                    );
                    seen.body.extend_from_slice(&piece[at - bytes..at]);
                }
                ResponseStep::End => {
                    assert_eq!(
                        decoder.step(b"more"),
                        Ok((0, ResponseStep::End)),
                        "the end stays"
                    );
                    seen.left = piece.len() - at
                        + pieces[index + 1..]
                            .iter()
                            .map(|rest| rest.len())
                            .sum::<usize>();
                    return Ok(seen);
                }
            }
        }
    }
    assert_eq!(decoder.eof()?, ResponseStep::End);
    Ok(seen)
}

fn decode(head_request: bool, pieces: &[&[u8]]) -> Result<Seen, DecodeError> {
    decode_with(&mut ResponseDecoder::default(), head_request, pieces)
}
