//! WebSocket frames that are read whole, in pieces and byte by byte carry the same messages; see the README.

use jostle_engine::websocket::{
    FrameDecoder, FrameError, FrameStep, MAX_CONTROL_BYTES, MessageKind,
};

use super::input::{Cut, pieces};

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Message(MessageKind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
    Wrong(FrameError),
}

/// What was seen; a last message may have begun and not ended.
fn read(max_bytes: Option<u64>, pieces: &[&[u8]]) -> (Vec<Seen>, Vec<u8>) {
    let mut decoder = FrameDecoder::new(max_bytes);
    let (mut seen, mut message) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let (used, step) = match decoder.step(rest) {
                Ok(result) => result,
                Err(error) => {
                    seen.push(Seen::Wrong(error));
                    return (seen, Vec::new());
                }
            };
            match step {
                FrameStep::NeedMore => {
                    assert_eq!(used, rest.len());
                    break;
                }
                FrameStep::Data(length) => {
                    assert!(length > 0 && decoder.is_within_message());
                    message.extend_from_slice(&rest[used - length..used]);
                    assert!(message.len() as u64 <= max_bytes.unwrap_or(u64::MAX));
                }
                FrameStep::End(kind) => {
                    let message = std::mem::take(&mut message);
                    assert!(kind == MessageKind::Binary || std::str::from_utf8(&message).is_ok());
                    seen.push(Seen::Message(kind, message));
                }
                FrameStep::Ping => seen.push(Seen::Ping(decoder.payload().to_vec())),
                FrameStep::Pong => seen.push(Seen::Pong(decoder.payload().to_vec())),
                FrameStep::Close(code) => seen.push(Seen::Close(code)),
            }
            assert!(decoder.payload().len() <= MAX_CONTROL_BYTES);
            rest = &rest[used..];
        }
    }
    (seen, message)
}

/// Two bytes of the longest message (no limit if both are 0), six sizes of pieces, and the frames.
pub fn check(data: &[u8]) {
    let mut cut = Cut(data);
    let max_bytes = Some(u64::from(cut.number())).filter(|max_bytes| *max_bytes > 0);
    let sizes = [0; 6].map(|_| cut.number());
    let bytes = cut.0;

    let whole = read(max_bytes, &[bytes]);
    assert_eq!(read(max_bytes, &pieces(bytes, &sizes)), whole);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(max_bytes, &single), whole);
}
