use super::*;
use crate::search::missing::MAX_VALUE_BYTES;
use proptest::prelude::*;
use serde_json::Value;

fn find(pointer: &str, document: &[u8], piece: usize) -> Result<Vec<u8>, Missing> {
    let pointer = Pointer::parse(pointer.as_bytes()).unwrap();
    let mut search = Search::with_limit(MAX_VALUE_BYTES);
    for piece in document.chunks(piece.max(1)) {
        search.feed(&pointer, piece);
    }
    search.end()
}

fn found(pointer: &str, document: &str) -> Option<String> {
    let value = find(pointer, document.as_bytes(), document.len()).ok()?;
    Some(String::from_utf8(value).unwrap())
}

#[test]
fn values_are_found_by_names_and_numbers() {
    let document =
        r#" {"a": [1, {"b/c": "x\u00e4\"y"}, [true]], "a~": -2.5e3, "": {"d": null} , "e":"é"} "#;
    assert_eq!(found("/a/0", document).unwrap(), "1");
    assert_eq!(found("/a/1/b~1c", document).unwrap(), "xä\"y");
    assert_eq!(found("/a/2", document).unwrap(), "[true]");
    assert_eq!(found("/a/2/0", document).unwrap(), "true");
    assert_eq!(found("/a~0", document).unwrap(), "-2.5e3");
    assert_eq!(found("/e", document).unwrap(), "é");
    assert_eq!(found("", "42").unwrap(), "42");
    for nothing in ["/a/3", "/a/01", "/x", "/a/0/b", "//d", "/a/1/b"] {
        assert_eq!(found(nothing, document), None, "{nothing}");
    }
}

#[test]
fn what_is_not_json_is_told_with_its_place() {
    for (document, expected) in [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("<html>", "'<' at byte 0"),
        ("\u{feff}<", "'<' at byte 3"),
        ("{", "it ends too early, after 1 bytes"),
        (r#"{"a""#, "it ends too early, after 4 bytes"),
        (r#"{"a": "unfinished"#, "it ends too early, after 17 bytes"),
        (r#"{"a": 1"#, "it ends too early, after 7 bytes"),
        (r#"{"b": 1, "a": 1"#, "it ends too early, after 15 bytes"),
        (r#"{"a" 1}"#, "'1' at byte 5"),
        ("[1 2]", "'2' at byte 3"),
        (r#"{"a": 1]"#, "']' at byte 7"),
        (r#"{"a": 1,}"#, "'}' at byte 8"),
        (r#"{"a": 1}{"a": 2}"#, "'{' after its end, at byte 8"),
        (r#"{"a": tru}"#, "it ends too early, after 9 bytes"),
        (r#"{"a": 01}"#, "'1' after its end, at byte 7"),
        (
            "{\"a\": \"x\ty\"}",
            "byte 0x09 unescaped in a string, at byte 8",
        ),
        (r#"{"a": "x\ud800y"}"#, "half of a surrogate pair"),
        (r#"{"a": ["x\ud800"]}"#, "half of a surrogate pair"),
        (r#"{"a": "\x"}"#, "an escape that JSON has not, at byte 7"),
    ] {
        for piece in [1, 3, 100] {
            match find("/a", document.as_bytes(), piece) {
                Err(Missing::Json(problem)) => {
                    let problem = problem.to_string();
                    assert!(problem.starts_with(expected), "{document}: {problem}");
                }
                other => panic!("{document}: {other:?}"),
            }
        }
    }
    let latin = b"{\"a\": \"caf\xe9\"}";
    let problem = find("/a", latin, 5).unwrap_err().to_string();
    assert_eq!(problem, "cannot be read as JSON: not UTF-8 at byte 10");
}

#[test]
fn what_is_passed_over_is_not_checked() {
    let deep = format!(
        "{{\"d\": {}{}, \"id\": 7}}",
        "[".repeat(1000),
        "]".repeat(1000)
    );
    for document in [
        deep.as_str(),
        r#"{"x": 1e400, "id": 7}"#,
        r#"{"x": "\ud800", "id": 7}"#,
        r#"{"x": tru, "id": 7}"#,
    ] {
        assert_eq!(found("/id", document).unwrap(), "7");
    }
    assert_eq!(
        find("/id", b"{\"x\": \"\xe9\x01\", \"id\": 7}", 2).unwrap(),
        b"7"
    );
}

#[test]
fn of_members_with_the_same_name_the_last_counts() {
    for (pointer, document, expected) in [
        ("/id", r#"{"id": 1, "id": 2}"#, Some("2")),
        ("/id", r#"{"id": 1, "i\u0064": 2}"#, Some("2")),
        (
            "/a/b",
            r#"{"a": {"b": 1}, "c": 0, "a": {"b": 2, "b": "x"}}"#,
            Some("x"),
        ),
        ("/a/b", r#"{"a": {"b": 1}, "a": {}}"#, None),
        ("/a/b", r#"{"a": {"b": 1}, "a": 7}"#, None),
        ("/a/0", r#"{"a": [1, 2], "a": [3]}"#, Some("3")),
        ("/a/1", r#"{"a": [1, 2], "a": [3]}"#, None),
        ("/0/a", r#"[{"a": 1, "a": 2}, {"a": 3}]"#, Some("2")),
        ("/id", r#"{"id": 1, "id": null}"#, None),
    ] {
        assert_eq!(found(pointer, document).as_deref(), expected, "{document}");
    }
}

#[test]
fn a_mark_before_a_document_and_a_separator_behind_it_are_skipped() {
    for document in [
        "\u{feff}{\"a\": 1}",
        "{\"a\": 1}\u{1e}",
        "\u{feff} {\"a\":1} \u{1e}\n",
    ] {
        for piece in [1, 2, 100] {
            assert_eq!(find("/a", document.as_bytes(), piece).unwrap(), b"1");
        }
    }
    assert_eq!(found("", "\u{feff}7\u{1e}").unwrap(), "7");
}

#[test]
fn numbers_keep_their_digits() {
    let document = r#"{"a": [1.10, 1E400, -0, 123456789012345.678901, 18446744073709551617], "b": { "c":1.0 } }"#;
    for (index, written) in [
        "1.10",
        "1E400",
        "-0",
        "123456789012345.678901",
        "18446744073709551617",
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(found(&format!("/a/{index}"), document).unwrap(), *written);
    }
    assert_eq!(found("/b", document).unwrap(), r#"{ "c":1.0 }"#);
}

#[test]
fn a_value_has_a_longest_length_and_what_is_passed_over_has_none() {
    let long = "x".repeat(MAX_VALUE_BYTES + 1);
    let document = format!(r#"{{"{long}": "{long}", "a": "{long}", "b": 1}}"#);
    let too_long = Err(Missing::TooLong(MAX_VALUE_BYTES));
    assert_eq!(find("/a", document.as_bytes(), 1000), too_long);
    assert_eq!(find("/b", document.as_bytes(), 1000).unwrap(), b"1");
    let again = format!(r#"{{"a": "{long}", "a": "short"}}"#);
    assert_eq!(find("/a", again.as_bytes(), 1000).unwrap(), b"short");
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let names = prop::sample::select(vec!["a", "b", "0", "1", "a/b", "~", "\"", "ä"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names, inner), 0..4).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

proptest! {
    /// `serde_json` holds the whole document; a search in pieces of any size must find the same.
    #[test]
    fn it_finds_what_serde_json_finds(
        document in json(),
        path in prop::collection::vec(prop::sample::select(vec!["a", "b", "0", "1", "a~1b", "~0", "\"", "ä"]), 0..4),
        piece in 1_usize..20,
        pretty: bool,
    ) {
        let pointer = path.iter().fold(String::new(), |pointer, token| pointer + "/" + token);
        let text = if pretty {
            serde_json::to_string_pretty(&document).unwrap()
        } else {
            document.to_string()
        };
        let expected = match document.pointer(&pointer) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        let found = find(&pointer, text.as_bytes(), piece).ok();
        let found = found.map(|value| String::from_utf8(value).unwrap());
        match (&found, &expected) {
            // An object or array is kept as it is written, including white space.
            (Some(found), Some(expected)) if found.starts_with(['{', '[']) && !matches!(document.pointer(&pointer), Some(Value::String(_))) => {
                let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                prop_assert_eq!(parse(found), parse(expected));
            }
            _ => prop_assert_eq!(found, expected),
        }
    }
}
