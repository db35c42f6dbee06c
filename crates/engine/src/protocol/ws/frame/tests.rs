use super::*;

/// An unmasked frame, as a server sends it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        short @ ..126 => out.push(short as u8),
        medium @ 126..=0xFFFF => {
            out.push(126);
            out.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            out.push(127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    out
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Message(MessageKind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
    Wrong(FrameError),
}

fn read(input: &[u8], piece: usize, max_bytes: Option<u64>) -> Vec<Seen> {
    let mut decoder = FrameDecoder::new(max_bytes);
    let (mut seen, mut message) = (Vec::new(), Vec::new());
    for mut bytes in input.chunks(piece) {
        loop {
            let (used, step) = match decoder.step(bytes) {
                Ok(result) => result,
                Err(error) => {
                    seen.push(Seen::Wrong(error));
                    return seen;
                }
            };
            match step {
                FrameStep::NeedMore => {
                    assert_eq!(used, bytes.len());
                    break;
                }
                FrameStep::Data(length) => message.extend_from_slice(&bytes[used - length..used]),
                FrameStep::End(kind) => {
                    seen.push(Seen::Message(kind, std::mem::take(&mut message)));
                }
                FrameStep::Ping => seen.push(Seen::Ping(decoder.payload().to_vec())),
                FrameStep::Pong => seen.push(Seen::Pong(decoder.payload().to_vec())),
                FrameStep::Close(code) => seen.push(Seen::Close(code)),
            }
            bytes = &bytes[used..];
        }
    }
    seen
}

fn check(frames: &[Vec<u8>], expected: &[Seen]) {
    let input = frames.concat();
    for piece in (1..=input.len().min(9)).chain([input.len().max(1)]) {
        assert_eq!(read(&input, piece, None), expected, "in pieces of {piece}");
    }
}

fn text(payload: &[u8]) -> Seen {
    Seen::Message(MessageKind::Text, payload.to_vec())
}

#[test]
fn messages_of_every_length_are_whole() {
    for length in [0, 1, 125, 126, 127, 65_535, 65_536, 70_000] {
        let payload = vec![b'x'; length];
        let expected = [
            Seen::Message(MessageKind::Binary, payload.clone()),
            text(b"end"),
        ];
        check(&[frame(0x82, &payload), frame(0x81, b"end")], &expected);
    }
}

#[test]
fn control_frames_come_between_the_pieces_of_a_message() {
    check(
        &[
            frame(0x01, "Hell\u{f6}".as_bytes()),
            frame(0x89, b"are you there"),
            frame(0x00, b""),
            frame(0x8A, b""),
            frame(0x80, b", world"),
            frame(0x88, b"\x03\xe8bye"),
        ],
        &[
            Seen::Ping(b"are you there".to_vec()),
            Seen::Pong(Vec::new()),
            text("Hell\u{f6}, world".as_bytes()),
            Seen::Close(Some(1000)),
        ],
    );
    check(&[frame(0x88, b"")], &[Seen::Close(None)]);
}

#[test]
fn a_character_may_be_broken_by_fragments_and_by_nothing_else() {
    let e = "\u{20ac}".as_bytes();
    check(&[frame(0x01, &e[..1]), frame(0x80, &e[1..])], &[text(e)]);
    check(&[frame(0x81, &e[..2])], &[Seen::Wrong(FrameError::NotUtf8)]);
    check(&[frame(0x81, b"\xff")], &[Seen::Wrong(FrameError::NotUtf8)]);
    check(
        &[frame(0x82, b"\xff")],
        &[Seen::Message(MessageKind::Binary, b"\xff".to_vec())],
    );
    check(
        &[frame(0x88, b"\x03\xe8\xff")],
        &[Seen::Wrong(FrameError::NotUtf8)],
    );
}

#[test]
fn what_the_protocol_forbids_is_an_error() {
    use FrameError as E;
    let wrong: &[(Vec<u8>, FrameError)] = &[
        (frame(0xC1, b""), E::ReservedBits),
        (frame(0x83, b""), E::Opcode(3)),
        (frame(0x8B, b""), E::Opcode(11)),
        (vec![0x81, 0x80, 0, 0, 0, 0], E::Masked),
        (frame(0x09, b""), E::ControlFragmented),
        (frame(0x89, &[0; 126]), E::ControlTooLong),
        (frame(0x80, b""), E::NothingToContinue),
        (
            [frame(0x01, b"a"), frame(0x81, b"b")].concat(),
            E::Interleaved,
        ),
        (vec![0x81, 126, 0, 125], E::LengthNotMinimal),
        (
            vec![0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            E::LengthNotMinimal,
        ),
        (
            vec![0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            E::LengthTooLarge,
        ),
        (frame(0x88, b"\x03"), E::CloseBody),
        (frame(0x88, b"\x03\xed"), E::CloseCode(1005)),
        (frame(0x88, b"\x13\x88"), E::CloseCode(5000)),
    ];
    for (input, error) in wrong {
        for piece in 1..=input.len() {
            assert_eq!(
                read(input, piece, None),
                [Seen::Wrong(*error)],
                "{input:x?}"
            );
        }
    }
}

#[test]
fn a_message_has_a_bound_over_all_of_its_frames() {
    let input = [frame(0x02, b"1234"), frame(0x80, b"567")].concat();
    assert_eq!(
        read(&input, 3, Some(6)),
        [Seen::Wrong(FrameError::TooLarge)]
    );
    let whole = Seen::Message(MessageKind::Binary, b"1234567".to_vec());
    let twice = [whole.clone(), whole];
    assert_eq!(read(&input.repeat(2), 3, Some(7)), twice);
}

#[test]
fn what_is_sent_is_masked_and_says_its_length() {
    let mut out = Vec::new();
    // Section 5.7.
    encode(opcode::TEXT, b"Hello", [0x37, 0xfa, 0x21, 0x3d], &mut out);
    assert_eq!(out, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    for (length, head) in [(125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
        let payload = vec![7; length];
        let mut out = Vec::new();
        encode(opcode::BINARY, &payload, [1, 2, 3, 4], &mut out);
        assert_eq!(out.len(), head + 4 + length);
        let mut shown = out[head + 4..].to_vec();
        mask(&mut shown, [1, 2, 3, 4]);
        assert_eq!(shown, payload);
    }
}
