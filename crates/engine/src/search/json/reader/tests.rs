use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::search::json::Json;

fn problem(document: &[u8]) -> String {
    read(document, false, &mut Discard).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (document, expected) in [
        ("", "it is empty"),
        ("\u{feff}", "it is empty"),
        ("[1, 2", "it ends too early, after 5 bytes"),
        ("[1, ]", "']' at byte 4"),
        ("[1 2]", "'2' at byte 3"),
        ("{\"a\"}", "'}' at byte 4"),
        ("{a: 1}", "'a' at byte 1"),
        ("{\"a\": 1} x", "'x' after its end, at byte 9"),
        ("NaN", "'N' at byte 0"),
        ("-", "it ends too early, after 1 bytes"),
        ("1.e3", "'e' at byte 2"),
        ("nul", "it ends too early, after 3 bytes"),
        ("\"a\nb\"", "byte 0x0A unescaped in a string, at byte 2"),
        ("\"\\u12\"", "an escape that JSON has not, at byte 1"),
        ("\"\\ud800\\u0041\"", "half of a surrogate pair"),
        ("\"\\udc00\"", "half of a surrogate pair"),
        ("\"ends", "it ends too early, after 5 bytes"),
    ] {
        let problem = problem(document.as_bytes());
        assert!(problem.starts_with(expected), "{document:?}: {problem}");
    }
    assert_eq!(problem(b"[\"\xe9\"]"), "not UTF-8 at byte 2");
}

#[test]
fn what_is_read_has_a_greatest_depth() {
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(
        read(nested(MAX_DEPTH).as_bytes(), false, &mut Discard),
        Ok(())
    );
    assert_eq!(
        problem(nested(MAX_DEPTH + 1).as_bytes()),
        "nested deeper than 128 at byte 128"
    );
    assert!(problem("[".repeat(100_000).as_bytes()).starts_with("nested deeper"));
}

#[test]
fn characters_are_unescaped() {
    let text = text_of(br#"\u00e4\"\\\/\b\f\n\r\t\ud83d\ude00 x"#).unwrap();
    assert_eq!(text, "ä\"\\/\u{8}\u{c}\n\r\t😀 x");
    assert_eq!(text_of(b"").unwrap(), "");
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn documents_read_as_serde_json_reads_them(document in documents(), pretty: bool) {
        let text = if pretty {
            serde_json::to_vec_pretty(&document).unwrap()
        } else {
            serde_json::to_vec(&document).unwrap()
        };
        prop_assert_eq!(Json::parse(&text), Ok((&document).into()));
    }

    /// What only one of the two takes would be a second opinion on what JSON is.
    #[test]
    fn what_is_json_is_what_serde_json_takes(text in r#"[\[\]{},:"\\u0-9aeE.+ntrlsf-]{0,12}"#) {
        let taken = read(text.as_bytes(), false, &mut Discard).is_ok();
        // It refuses numbers that a floating-point number cannot hold.
        let other = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert_eq!(taken, other, "{}", text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = read(&bytes, false, &mut Discard);
        let _ = Json::parse(&bytes);
    }
}
