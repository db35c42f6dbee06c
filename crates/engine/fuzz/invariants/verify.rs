//! A body is judged alike however it is cut, and as its plain definition says; see the README.

use jostle_engine::spec::BodyCheck;
use jostle_engine::verify::{BodyState, BodyVerifier, Verdict};

use super::input::{Cut, pieces};

fn judge(verifier: &BodyVerifier, state: &mut BodyState, pieces: &[&[u8]]) -> bool {
    verifier.begin(state);
    for piece in pieces {
        verifier.feed(state, piece);
    }
    verifier.end(state) == Verdict::Right
}

/// Four sizes of pieces, two bytes of length, the length of a text, the text, and the body.
pub fn check(data: &[u8]) {
    let mut cut = Cut(data);
    let sizes = [0; 4].map(|_| cut.number());
    let length = u64::from(cut.number());
    let size = usize::from(cut.byte()).min(cut.0.len());
    let (text, body) = cut.0.split_at(size);
    let wanted = &*String::from_utf8_lossy(text);
    let cut_up = pieces(body, &sizes);
    let single: Vec<&[u8]> = body.chunks(1).collect();

    let contained = wanted.is_empty()
        || body
            .windows(wanted.len())
            .any(|part| part == wanted.as_bytes());
    // A byte order mark and record separators are no part of a document.
    let document = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let end = document
        .iter()
        .rposition(|byte| !b" \t\n\r\x1e".contains(byte));
    let document = &document[..end.map_or(0, |end| end + 1)];
    let json = serde_json::from_slice::<serde_json::Value>(document).ok();
    let mut checks = vec![
        (
            BodyCheck::Exact(wanted.to_owned()),
            wanted.as_bytes() == body,
        ),
        (BodyCheck::Contains(wanted.to_owned()), contained),
        (BodyCheck::Lacks(wanted.to_owned()), !contained),
        (BodyCheck::Length(length), length == body.len() as u64),
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
        assert_eq!(judge(&verifier, &mut state, &cut_up), right, "{check:?}");
        assert_eq!(judge(&verifier, &mut state, &single), right, "{check:?}");
    }
}
