//! The value at a JSON pointer (RFC 6901), found while the document passes by.
//!
//! Nothing of the document is kept but the key that is being read and the value that was asked for. Of members with
//! the same name the first counts. A document that is broken somewhere behind the value is not noticed.

use std::borrow::Cow;

use super::capture::{MAX_VALUE_BYTES, Missing};

/// A longer member name is not compared: it is another one.
const MAX_NAME_BYTES: usize = 1024;

#[derive(Debug)]
pub struct Pointer(Vec<Token>);

#[derive(Debug)]
struct Token {
    name: String,
    /// As the number of an element, where it is one.
    index: Option<u64>,
}

impl Pointer {
    /// `None` for what is neither empty nor begins with `/`.
    pub fn parse(text: &str) -> Option<Self> {
        let tokens = tokens(text)?.map(|name| Token {
            index: index(&name),
            name: name.into_owned(),
        });
        Some(Self(tokens.collect()))
    }
}

/// The names that a pointer leads through. `None` for what is neither empty nor begins with `/`.
pub fn tokens(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    Some(pointer.split('/').skip(1).map(|token| {
        if token.contains('~') {
            token.replace("~1", "/").replace("~0", "~").into()
        } else {
            token.into()
        }
    }))
}

/// A name as the number of an element, where it is one.
pub fn index(name: &str) -> Option<u64> {
    let plain =
        name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if plain { name.parse().ok() } else { None }
}

/// What is said of a text that is no pointer.
pub fn no_pointer(text: &str) -> String {
    format!("JSON pointer {text:?} is neither empty nor begins with '/' (RFC 6901)")
}

/// How far the search through one document has come.
#[derive(Debug, Default)]
pub struct Search {
    state: State,
    /// Objects and arrays on the way that were entered.
    level: usize,
    /// The innermost of them is an array, and this is the number of its element.
    array: bool,
    index: u64,
    /// Nesting within the value that is passed over or taken.
    depth: u32,
    /// The member name or the value that is being read, as it stands in the document.
    kept: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value begins that the pointer leads to or through.
    #[default]
    OnTheWay,
    /// In an object on the way: a member name, or its end.
    Member,
    Name {
        escaped: bool,
    },
    Colon {
        matches: bool,
    },
    /// In an array on the way: an element, or its end.
    Element,
    /// A value begins that is passed over, or taken.
    Begin {
        take: bool,
    },
    Scalar {
        take: bool,
    },
    Text {
        take: bool,
        escaped: bool,
    },
    Nested {
        take: bool,
        text: bool,
        escaped: bool,
    },
    /// Behind a value that was passed over.
    Behind,
    Found,
    Nothing,
    TooLong,
}

impl Search {
    pub fn feed(&mut self, pointer: &Pointer, bytes: &[u8]) {
        for byte in bytes {
            // Some bytes end what stands before them and begin something themselves.
            while !self.step(pointer, *byte) {}
            if matches!(self.state, State::Found | State::Nothing | State::TooLong) {
                return;
            }
        }
    }

    /// The document is whole: the value as text. A text without its quotes and escapes, everything else as it stands
    /// there; `null` is nothing.
    pub fn end(&mut self) -> Result<Vec<u8>, Missing> {
        let kept = std::mem::take(&mut self.kept);
        match self.state {
            State::Found | State::Scalar { take: true } => match kept.first() {
                Some(b'"') => unescaped(&kept).ok_or(Missing::Nothing),
                _ if kept == b"null" => Err(Missing::Nothing),
                _ => Ok(kept),
            },
            State::TooLong => Err(Missing::TooLong),
            _ => Err(Missing::Nothing),
        }
    }

    /// Takes one byte; false if it is to be looked at again in the new state.
    fn step(&mut self, pointer: &Pointer, byte: u8) -> bool {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.state {
            State::OnTheWay
            | State::Member
            | State::Element
            | State::Colon { .. }
            | State::Begin { .. }
            | State::Behind
                if space => {}
            State::OnTheWay if self.level == pointer.0.len() => {
                self.kept.clear();
                self.state = State::Begin { take: true };
                return false;
            }
            State::OnTheWay => {
                self.level += 1;
                (self.array, self.index) = (byte == b'[', 0);
                self.state = match byte {
                    b'{' => State::Member,
                    b'[' => State::Element,
                    _ => State::Nothing,
                };
            }
            State::Member => {
                self.kept.clear();
                self.kept.push(byte);
                self.state = match byte {
                    b'"' => State::Name { escaped: false },
                    _ => State::Nothing,
                };
            }
            State::Name { escaped } => self.name(pointer, byte, escaped),
            State::Colon { matches } => {
                self.state = match byte {
                    b':' if matches => State::OnTheWay,
                    b':' => State::Begin { take: false },
                    _ => State::Nothing,
                };
            }
            State::Element if byte == b']' => self.state = State::Nothing,
            State::Element => {
                let wanted = pointer.0[self.level - 1].index == Some(self.index);
                self.state = if wanted {
                    State::OnTheWay
                } else {
                    State::Begin { take: false }
                };
                return false;
            }
            State::Behind => {
                self.state = match byte {
                    b',' if self.array => State::Element,
                    b',' => State::Member,
                    _ => State::Nothing,
                };
                self.index += 1;
            }
            State::Begin { take } => {
                self.depth = 1;
                self.state = match byte {
                    b'"' => State::Text {
                        take,
                        escaped: false,
                    },
                    b'{' | b'[' => State::Nested {
                        take,
                        text: false,
                        escaped: false,
                    },
                    b',' | b':' | b'}' | b']' => State::Nothing,
                    _ => State::Scalar { take },
                };
                self.keep(take, byte);
            }
            State::Scalar { take } if space || matches!(byte, b',' | b'}' | b']') => {
                self.value_ends(take);
                return take;
            }
            State::Scalar { take } => self.keep(take, byte),
            State::Text { take, escaped } => {
                self.state = State::Text {
                    take,
                    escaped: !escaped && byte == b'\\',
                };
                self.keep(take, byte);
                if byte == b'"' && !escaped {
                    self.value_ends(take);
                }
            }
            State::Nested {
                take,
                text,
                escaped,
            } => self.nested(byte, take, text, escaped),
            State::Found | State::Nothing | State::TooLong => {}
        }
        true
    }

    fn name(&mut self, pointer: &Pointer, byte: u8, escaped: bool) {
        if self.kept.len() < MAX_NAME_BYTES {
            self.kept.push(byte);
        }
        self.state = if byte == b'"' && !escaped {
            let wanted = pointer.0[self.level - 1].name.as_bytes();
            let matches = unescaped(&self.kept).is_some_and(|name| name == wanted);
            State::Colon { matches }
        } else {
            State::Name {
                escaped: !escaped && byte == b'\\',
            }
        };
    }

    fn nested(&mut self, byte: u8, take: bool, text: bool, escaped: bool) {
        let (mut text, mut escaped) = (text, escaped);
        if text {
            text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else {
            match byte {
                b'"' => text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        self.state = State::Nested {
            take,
            text,
            escaped,
        };
        self.keep(take, byte);
        if self.depth == 0 {
            self.value_ends(take);
        }
    }

    fn keep(&mut self, take: bool, byte: u8) {
        if !take {
            return;
        }
        if self.kept.len() < MAX_VALUE_BYTES {
            self.kept.push(byte);
        } else {
            self.state = State::TooLong;
        }
    }

    fn value_ends(&mut self, take: bool) {
        if self.state != State::TooLong {
            self.state = if take { State::Found } else { State::Behind };
        }
    }
}

/// A JSON text in its quotes, as it reads.
fn unescaped(quoted: &[u8]) -> Option<Vec<u8>> {
    if !quoted.contains(&b'\\') {
        return quoted
            .strip_prefix(b"\"")?
            .strip_suffix(b"\"")
            .map(<[u8]>::to_vec);
    }
    let text: String = serde_json::from_slice(quoted).ok()?;
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn find(pointer: &str, document: &[u8], piece: usize) -> Result<Vec<u8>, Missing> {
        let pointer = Pointer::parse(pointer).unwrap();
        let mut search = Search::default();
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
        let document = r#" {"a": [1, {"b/c": "x\u00e4\"y"}, [true]], "a~": -2.5e3, "": {"d": null} , "e":"é"} "#;
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
    fn what_is_not_json_or_ends_too_early_gives_nothing() {
        for document in [
            "",
            "<html>",
            "{",
            r#"{"a""#,
            r#"{"a": "unfinished"#,
            r#"{"a" 1}"#,
            "[1 2]",
        ] {
            assert_eq!(
                find("/a", document.as_bytes(), 3),
                Err(Missing::Nothing),
                "{document}"
            );
        }
    }

    #[test]
    fn a_value_has_a_longest_length_and_what_is_passed_over_has_none() {
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        let document = format!(r#"{{"{long}": "{long}", "a": "{long}", "b": 1}}"#);
        assert_eq!(find("/a", document.as_bytes(), 1000), Err(Missing::TooLong));
        assert_eq!(find("/b", document.as_bytes(), 1000).unwrap(), b"1");
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
        /// serde_json holds the whole document; pieces of any size must find the same in it.
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
                // A container is taken as it stands, white space and all.
                (Some(found), Some(expected)) if found.starts_with(['{', '[']) && !matches!(document.pointer(&pointer), Some(Value::String(_))) => {
                    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                    prop_assert_eq!(parse(found), parse(expected));
                }
                _ => prop_assert_eq!(found, expected),
            }
        }
    }
}
