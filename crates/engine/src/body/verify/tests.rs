use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::body::verify::{BodyState, BodyVerifier, Verdict, VerifyError};
use crate::search::json::MAX_DOCUMENT_BYTES;
use crate::spec::BodyCheck;

/// The result for the body, checked to be the same in one slice and in single bytes, each after an unfinished body.
#[track_caller]
fn right(check: &BodyCheck, body: &[u8]) -> bool {
    verdict(check, body) == Verdict::Right
}

/// As for [`right`].
#[track_caller]
fn verdict(check: &BodyCheck, body: &[u8]) -> Verdict {
    let verifier = BodyVerifier::new(check).unwrap();
    let mut state = BodyState::default();
    let mut verify = |slices: &mut dyn Iterator<Item = &[u8]>| {
        verifier.begin(&mut state);
        verifier.feed(&mut state, b"of a response that broke off");
        verifier.begin(&mut state);
        slices.for_each(|slice| verifier.feed(&mut state, slice));
        verifier.end(&mut state)
    };
    let whole = verify(&mut std::iter::once(body));
    assert_eq!(verify(&mut body.chunks(1)), whole, "byte by byte");
    whole
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<BodyState>() <= 64);
}

#[test]
fn exact() {
    let check = BodyCheck::Exact("1936".to_owned());
    assert!(right(&check, b"1936"));
    for body in ["", "193", "19360", "1937", "2936"] {
        assert!(!right(&check, body.as_bytes()), "{body}");
    }
    assert!(right(&BodyCheck::Exact(String::new()), b""));
}

#[test]
fn lacks() {
    let check = BodyCheck::Lacks("\"errors\"".to_owned());
    assert!(right(&check, br#"{"data": 1}"#));
    assert!(right(&check, b""));
    let verdict = verdict(&check, br#"{"data": null, "errors": []}"#);
    let why = r#"the body contains "\"errors\"""#;
    assert_eq!(verdict, Verdict::Wrong(Some(why.to_owned())));
}

#[test]
fn contains() {
    let check = BodyCheck::Contains("aab".to_owned());
    for body in ["aab", "aaab", "xaabx", "ababaab"] {
        assert!(right(&check, body.as_bytes()), "{body}");
    }
    for body in ["", "aa", "aaxb", "abaa"] {
        assert!(!right(&check, body.as_bytes()), "{body}");
    }
    assert!(right(&BodyCheck::Contains(String::new()), b""));
    assert!(right(&BodyCheck::Contains("x".to_owned()), b"abx"));
}

#[test]
fn length() {
    assert!(right(&BodyCheck::Length(3), b"abc"));
    assert!(!right(&BodyCheck::Length(3), b"ab"));
    assert!(!right(&BodyCheck::Length(3), b"abcd"));
    assert!(right(&BodyCheck::Length(0), b""));
}

#[test]
fn sha256() {
    // FIPS 180-2, appendix B.1.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(right(&BodyCheck::Sha256(abc.to_owned()), b"abc"));
    assert!(!right(&BodyCheck::Sha256(abc.to_owned()), b"abd"));
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert!(right(&BodyCheck::Sha256(empty.to_owned()), b""));
}

#[test]
fn json() {
    let check = |pointer: &str, value| BodyCheck::Json {
        pointer: pointer.to_owned(),
        value,
    };
    let body = br#" { "fibResult" : 6765, "list": [1, {"a": 2.0}] } "#;
    assert!(right(&check("/fibResult", json!(6765)), body));
    assert!(right(&check("/fibResult", json!(6765.0)), body));
    assert!(right(&check("/list", json!([1.0, {"a": 2}])), body));
    assert!(right(
        &check("", json!({"list": [1, {"a": 2}], "fibResult": 6765})),
        body
    ));
    assert!(!right(&check("/fibResult", json!("6765")), body));
    assert!(!right(&check("/fibresult", json!(6765)), body));
    assert!(!right(&check("", json!({"fibResult": 6765})), body));
    assert!(!right(&check("/a", json!(1)), b"{\"a\": 1"));
    assert!(!right(
        &check("/a", json!(9_007_199_254_740_993_u64)),
        b"{\"a\": 9007199254740992}"
    ));
    let deep = "[".repeat(100_000);
    assert!(!right(&check("", json!([])), deep.as_bytes()));
}

#[test]
fn the_value_is_kept_up_to_a_limit_and_the_document_has_none() {
    let check = |pointer: &str| BodyCheck::Json {
        pointer: pointer.to_owned(),
        value: json!(7),
    };
    let long = "x".repeat(MAX_DOCUMENT_BYTES + 1);
    let body = format!(r#"{{"long": "{long}", "id": 7}}"#);
    let wrong = |why: &str| Verdict::Wrong(Some(why.to_owned()));
    assert_eq!(verdict(&check("/id"), body.as_bytes()), Verdict::Right);
    assert_eq!(
        verdict(&check("/long"), body.as_bytes()),
        wrong("the value at /long: found more than 1048576 bytes, which is its limit")
    );
    assert_eq!(
        verdict(&check(""), body.as_bytes()),
        wrong("the response: found more than 1048576 bytes, which is its limit")
    );
}

#[test]
fn a_body_that_cannot_be_read_is_told_with_the_reason() {
    let check = |pointer: &str| BodyCheck::Json {
        pointer: pointer.to_owned(),
        value: json!(7),
    };
    let deep = format!(
        "{{\"d\": {}{}, \"id\": 7}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    for (pointer, body, why) in [
        (
            "",
            deep.as_bytes(),
            "the response cannot be read as JSON: nested deeper than 128 at byte 133",
        ),
        (
            "/d",
            deep.as_bytes(),
            "the response cannot be read as JSON: nested deeper than 128 at byte 134",
        ),
        (
            "/id",
            b"<html>",
            "the response cannot be read as JSON: '<' at byte 0",
        ),
        (
            "/id",
            b"",
            "the response cannot be read as JSON: it is empty",
        ),
        (
            "/id",
            b"{\"id\": \"caf\xe9\"}",
            "the response cannot be read as JSON: not UTF-8 at byte 11",
        ),
        ("/id", br#"{"other": 7}"#, "the value at /id is missing"),
    ] {
        assert_eq!(
            verdict(&check(pointer), body),
            Verdict::Wrong(Some(why.to_owned()))
        );
    }
    for body in [
        &deep,
        r#"{"x": 1e400, "s": "\ud800", "id": 7}"#,
        "\u{feff}{\"id\": 7}",
    ] {
        assert_eq!(
            verdict(&check("/id"), body.as_bytes()),
            Verdict::Right,
            "{body}"
        );
    }
    assert_eq!(
        verdict(&check("/id"), br#"{"id": 8}"#),
        Verdict::Wrong(None)
    );
    assert_eq!(
        verdict(&check("/id"), br#"{"id": 8, "id": 7}"#),
        Verdict::Right
    );
}

#[test]
fn checks_that_cannot_be_made() {
    let pointer = BodyCheck::Json {
        pointer: "a".to_owned(),
        value: json!(1),
    };
    assert_eq!(
        BodyVerifier::new(&pointer).unwrap_err(),
        VerifyError::Pointer(
            "JSON pointer \"a\" is neither empty nor begins with '/' (RFC 6901)".to_owned()
        )
    );
    for digits in ["abc".to_owned(), "g".repeat(64), "é".repeat(32)] {
        let error = BodyVerifier::new(&BodyCheck::Sha256(digits.clone())).unwrap_err();
        assert_eq!(error, VerifyError::Sha256(digits));
    }
}

proptest! {
    #[test]
    fn a_needle_is_found_across_slices(slices in vec("[ab]{0,5}", 0..8), needle in "[ab]{0,5}") {
        let verifier = BodyVerifier::new(&BodyCheck::Contains(needle.clone())).unwrap();
        let mut state = BodyState::default();
        verifier.begin(&mut state);
        for slice in &slices {
            verifier.feed(&mut state, slice.as_bytes());
        }
        let contains = slices.concat().contains(&needle);
        prop_assert_eq!(verifier.end(&mut state), contains.into());
    }
}
