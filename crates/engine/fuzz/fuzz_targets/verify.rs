//! A body is judged alike however it is cut, and as its plain definition says; see the README beside.
#![no_main]

use arbitrary::Arbitrary;
use jostle_engine::verify::{BodyState, BodyVerifier};
use jostle_engine::spec::BodyCheck;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    cuts: [u16; 4],
    wanted: &'a str,
    length: u64,
    body: &'a [u8],
}

fn judge(verifier: &BodyVerifier, state: &mut BodyState, pieces: &[&[u8]]) -> bool {
    verifier.begin(state);
    for piece in pieces {
        verifier.feed(state, piece);
    }
    verifier.end(state)
}

fuzz_target!(|input: Input| {
    let Input { wanted, body, .. } = input;
    let mut rest = body;
    let mut pieces = Vec::new();
    for cut in input.cuts {
        let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();

    let contained = wanted.is_empty()
        || body
            .windows(wanted.len())
            .any(|part| part == wanted.as_bytes());
    let json = serde_json::from_slice::<serde_json::Value>(body).ok();
    let mut checks = vec![
        (
            BodyCheck::Exact(wanted.to_owned()),
            wanted.as_bytes() == body,
        ),
        (BodyCheck::Contains(wanted.to_owned()), contained),
        (
            BodyCheck::Length(input.length),
            input.length == body.len() as u64,
        ),
        (BodyCheck::Length(body.len() as u64), true),
        (BodyCheck::Sha256("0".repeat(64)), false),
    ];
    if let Ok(text) = std::str::from_utf8(body) {
        checks.push((BodyCheck::Exact(text.to_owned()), true));
    }
    // What was read as JSON is what it is; what is no JSON is nothing.
    let value = json.clone().unwrap_or_default();
    let pointer = String::new();
    checks.push((BodyCheck::Json { pointer, value }, json.is_some()));

    let mut state = BodyState::default();
    for (check, right) in checks {
        let verifier = BodyVerifier::new(&check).expect("a check that can be made");
        assert_eq!(judge(&verifier, &mut state, &[body]), right, "{check:?}");
        assert_eq!(judge(&verifier, &mut state, &pieces), right, "{check:?}");
        assert_eq!(judge(&verifier, &mut state, &bytes), right, "{check:?}");
    }
});
