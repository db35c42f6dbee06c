//! What an HTTP/2 server sends is understood the same whole, in pieces and byte by byte; see the README.

use std::rc::Rc;

use jostle_engine::http2::{Endpoint, Fields, Stream, StreamEvent};

use super::input::{Cut, pieces};

/// `:method: GET`, in the static table of HPACK.
const BLOCK: [u8; 1] = [0x82];

type Events = Vec<(u64, usize, StreamEvent)>;

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// By stream: what came, and its bytes.
    streams: Vec<(Events, Vec<u8>)>,
    answered: Vec<u8>,
    ending: Option<String>,
}

/// Three requests are open, of which the second has a body that is not sent yet.
fn read(pieces: &[&[u8]]) -> Seen {
    let mut endpoint = Endpoint::default();
    endpoint.wrote(endpoint.unsent().len());
    let streams: [Rc<Stream>; 3] = Default::default();
    for (number, stream) in streams.iter().enumerate() {
        endpoint.ask(stream, &BLOCK, number != 1);
    }
    endpoint.wrote(endpoint.unsent().len());
    let violation = pieces
        .iter()
        .find_map(|piece| endpoint.feed(piece, 0).err());
    let streams = streams.iter().map(|stream| {
        let inbox = stream.take();
        check_inbox(&inbox.events, &inbox.bytes);
        (inbox.events, inbox.bytes)
    });
    Seen {
        streams: streams.collect(),
        answered: endpoint.unsent().to_vec(),
        ending: violation.map(|violation| format!("{violation:?} {:?}", endpoint.go_away)),
    }
}

fn check_inbox(events: &[(u64, usize, StreamEvent)], bytes: &[u8]) {
    let mut rest = bytes;
    for (_, wire, event) in events {
        let part;
        match event {
            StreamEvent::Head { length, whole, .. } => {
                (part, rest) = rest.split_at(*length);
                let fields = Fields(part).map(|(name, value)| 4 + name.len() + value.len());
                assert_eq!(fields.sum::<usize>(), *length);
                assert!(*length <= 1 << 16 && (*whole || *length > 0 || *wire > 0));
            }
            StreamEvent::Data { length, .. } => {
                assert!(length <= wire);
                rest = &rest[*length..];
            }
            StreamEvent::Reset(_) | StreamEvent::Refused => {}
        }
    }
    assert!(rest.is_empty());
}

/// Six sizes of pieces, and the frames.
pub fn check(data: &[u8]) {
    let mut cut = Cut(data);
    let sizes = [0; 6].map(|_| cut.number());
    let bytes = cut.0;

    let whole = read(&[bytes]);
    assert_eq!(read(&pieces(bytes, &sizes)), whole);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single), whole);
}
