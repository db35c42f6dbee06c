//! Finds the value at a JSON pointer (RFC 6901) as the document streams by.
//!
//! Only the member name that is being read and the value that was asked for are kept. Of several members with the same
//! name, the first counts. Errors after the value are not noticed, and neither are most in values that are skipped.

use std::borrow::Cow;

use memchr::memchr2;
use smallvec::SmallVec;

use super::capture::Missing;

/// A longer member name is not compared, and counts as a different one.
const MAX_NAME_BYTES: usize = 1024;
/// Memory reserved for a value; most are no longer.
const MOST_VALUES_BYTES: usize = 64;
/// Most pointers have no more tokens than this.
const MOST_LEVELS: usize = 4;

#[derive(Debug)]
pub struct Pointer<'a>(SmallVec<[Token<'a>; MOST_LEVELS]>);

#[derive(Debug)]
struct Token<'a> {
    name: Cow<'a, [u8]>,
    /// The token as the index of an array element, if it is a valid one.
    index: Option<u64>,
}

impl<'a> Pointer<'a> {
    /// Parses a pointer; fails if `text` is neither empty nor begins with `/`.
    pub fn parse(text: &'a [u8]) -> Result<Self, String> {
        if !text.is_empty() && text[0] != b'/' {
            let text = String::from_utf8_lossy(text);
            return Err(format!(
                "JSON pointer {text:?} is neither empty nor begins with '/' (RFC 6901)"
            ));
        }
        let mut tokens = SmallVec::new();
        for token in text.split(|byte| *byte == b'/').skip(1) {
            let name = unescaped_token(token);
            let index = index(&name);
            tokens.push(Token { name, index });
        }
        Ok(Self(tokens))
    }

    pub fn into_owned(self) -> Pointer<'static> {
        let tokens = self.0.into_iter().map(|token| Token {
            name: token.name.into_owned().into(),
            index: token.index,
        });
        Pointer(tokens.collect())
    }
}

/// Replaces `~1` by a slash and `~0` by a tilde.
fn unescaped_token(token: &[u8]) -> Cow<'_, [u8]> {
    if !token.contains(&b'~') {
        return token.into();
    }
    let mut name = Vec::with_capacity(token.len());
    let mut rest = token;
    while let [byte, behind @ ..] = rest {
        let (byte, behind) = match (byte, behind) {
            (b'~', [b'1', behind @ ..]) => (b'/', behind),
            (b'~', [b'0', behind @ ..]) => (b'~', behind),
            _ => (*byte, behind),
        };
        name.push(byte);
        rest = behind;
    }
    name.into()
}

/// Parses an array index, which has no leading zeros.
fn index(name: &[u8]) -> Option<u64> {
    let plain = name.iter().all(u8::is_ascii_digit) && (name == b"0" || !name.starts_with(b"0"));
    plain.then(|| std::str::from_utf8(name).ok()?.parse().ok())?
}

/// The state of the search through one document.
#[derive(Debug)]
pub struct Search {
    /// The longest value that is kept, in bytes.
    most: usize,
    state: State,
    /// Whether the current value is the one that was asked for, or the current member leads to it.
    wanted: bool,
    /// Whether the previous byte was a backslash.
    escaped: bool,
    /// How many objects and arrays along the pointer have been entered.
    level: usize,
    /// Whether the innermost of them is an array; `index` is then that of its current element.
    array: bool,
    index: u64,
    /// Nesting depth within the value that is being skipped or kept.
    depth: u32,
    /// The part of a member name that came in earlier pieces of the document, or the value as it is written.
    kept: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a value that the pointer leads to or through.
    OnTheWay,
    /// In an object along the pointer, before a member name or the end.
    Member,
    Name,
    Colon,
    /// In an array along the pointer, before an element or the end.
    Element,
    /// At the start of a value that is skipped or kept.
    Begin,
    Scalar,
    Text,
    /// In an object or array that is skipped or kept.
    Nested,
    TextInNested,
    /// After a value that was skipped.
    Behind,
    Found,
    Nothing,
    TooLong,
}

impl Search {
    pub fn of_at_most(bytes: usize) -> Self {
        Self {
            most: bytes,
            state: State::OnTheWay,
            wanted: false,
            escaped: false,
            level: 0,
            array: false,
            index: 0,
            depth: 0,
            kept: Vec::new(),
        }
    }

    pub fn feed(&mut self, pointer: &Pointer<'_>, bytes: &[u8]) {
        let mut rest = bytes;
        while let [byte, behind @ ..] = rest {
            rest = match self.state {
                State::Name => self.name(pointer, rest),
                State::Scalar => self.scalar(rest),
                State::Text => self.rest_of_text(rest),
                State::Nested | State::TextInNested => self.nested(rest),
                State::Found | State::Nothing | State::TooLong => return,
                _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => behind,
                _ => {
                    let taken = self.between(pointer, *byte);
                    if taken { behind } else { rest }
                }
            };
        }
    }

    /// Ends the search and returns the value as text. A string comes without quotes and escapes, everything else as it
    /// is written; `null` counts as not found.
    pub fn end(&mut self) -> Result<Vec<u8>, Missing> {
        let mut written = self.written()?;
        match &written[..] {
            [b'"', text @ .., b'"'] => {
                if text.contains(&b'\\') {
                    return unescaped(text).ok_or(Missing::Nothing);
                }
                written.pop();
                written.remove(0);
                Ok(written)
            }
            b"null" => Err(Missing::Nothing),
            _ => Ok(written),
        }
    }

    /// Ends the search and returns the value as it is written.
    pub fn written(&mut self) -> Result<Vec<u8>, Missing> {
        match self.state {
            State::Scalar if !self.wanted => Err(Missing::Nothing),
            State::Found | State::Scalar => Ok(std::mem::take(&mut self.kept)),
            State::TooLong => Err(Missing::TooLong),
            _ => Err(Missing::Nothing),
        }
    }

    /// Handles a byte between names and values. Returns false if the new state has to handle it, too.
    fn between(&mut self, pointer: &Pointer<'_>, byte: u8) -> bool {
        let (state, taken) = match self.state {
            State::OnTheWay if self.level == pointer.0.len() => {
                self.wanted = true;
                self.kept.clear();
                (State::Begin, false)
            }
            State::OnTheWay => {
                self.level += 1;
                (self.array, self.index) = (byte == b'[', 0);
                match byte {
                    b'{' => (State::Member, true),
                    b'[' => (State::Element, true),
                    _ => (State::Nothing, true),
                }
            }
            State::Member if byte == b'"' => {
                self.kept.clear();
                self.escaped = false;
                (State::Name, true)
            }
            State::Colon if byte == b':' && self.wanted => (State::OnTheWay, true),
            State::Colon if byte == b':' => (State::Begin, true),
            State::Element if byte == b']' => (State::Nothing, true),
            State::Element if pointer.0[self.level - 1].index == Some(self.index) => {
                (State::OnTheWay, false)
            }
            State::Element => {
                self.wanted = false;
                (State::Begin, false)
            }
            State::Behind if byte == b',' => {
                self.index += 1;
                let next = if self.array {
                    State::Element
                } else {
                    State::Member
                };
                (next, true)
            }
            State::Begin => (self.begin(byte), true),
            _ => (State::Nothing, true),
        };
        self.state = state;
        taken
    }

    /// Begins a value that is skipped or kept, of which this is the first byte.
    fn begin(&mut self, byte: u8) -> State {
        (self.escaped, self.depth) = (false, 1);
        if self.wanted {
            self.kept.reserve(MOST_VALUES_BYTES);
            self.kept.push(byte);
        }
        match byte {
            b'"' => State::Text,
            b'{' | b'[' => State::Nested,
            b',' | b':' | b'}' | b']' => State::Nothing,
            _ => State::Scalar,
        }
    }

    /// Consumes what belongs to a member name and returns the rest.
    fn name<'b>(&mut self, pointer: &Pointer<'_>, bytes: &'b [u8]) -> &'b [u8] {
        let (own, rest, ends) = self.up_to_quote(bytes);
        if !ends {
            // One byte beyond the limit is kept to show that the name is too long.
            let room = (MAX_NAME_BYTES + 1).saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&own[..own.len().min(room)]);
            return rest;
        }
        let last = &own[..own.len() - 1];
        let whole = if self.kept.is_empty() {
            last
        } else {
            self.kept.extend_from_slice(last);
            &self.kept
        };
        let wanted = &pointer.0[self.level - 1].name;
        self.wanted = whole.len() <= MAX_NAME_BYTES
            && if whole.contains(&b'\\') {
                unescaped(whole).is_some_and(|name| name == **wanted)
            } else {
                whole == &**wanted
            };
        self.state = State::Colon;
        rest
    }

    fn scalar<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let behind = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']');
        let end = bytes.iter().position(behind);
        let (own, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.keep(own, end.is_some());
        rest
    }

    fn rest_of_text<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (own, rest, ends) = self.up_to_quote(bytes);
        self.keep(own, ends);
        rest
    }

    /// Consumes what belongs to an object or array and returns the rest.
    fn nested<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        let mut text = self.state == State::TextInNested;
        while let [byte, behind @ ..] = rest {
            if text {
                let (_, behind, ends) = self.up_to_quote(rest);
                (rest, text) = (behind, !ends);
                continue;
            }
            rest = behind;
            match byte {
                b'"' => text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                break;
            }
        }
        self.state = if text {
            State::TextInNested
        } else {
            State::Nested
        };
        self.keep(&bytes[..bytes.len() - rest.len()], self.depth == 0);
        rest
    }

    /// Splits bytes of a string after its closing quote, if that is among them; also returns whether it is.
    fn up_to_quote<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], &'b [u8], bool) {
        let mut at = 0;
        while at < bytes.len() {
            if std::mem::take(&mut self.escaped) {
                at += 1;
                continue;
            }
            let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) else {
                break;
            };
            at += found + 1;
            if bytes[at - 1] == b'"' {
                return (&bytes[..at], &bytes[at..], true);
            }
            self.escaped = true;
        }
        (bytes, &[], false)
    }

    /// Keeps bytes of a value if it is wanted; `ends` says whether the value ends with them.
    fn keep(&mut self, bytes: &[u8], ends: bool) {
        if self.wanted {
            if self.kept.len() + bytes.len() > self.most {
                self.state = State::TooLong;
                return;
            }
            self.kept.extend_from_slice(bytes);
        }
        if ends {
            self.state = if self.wanted {
                State::Found
            } else {
                State::Behind
            };
        }
    }
}

/// Resolves the escapes in the contents of a JSON string; `None` if they are not valid.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let quoted = [b"\"", text, b"\""].concat();
    let text: String = serde_json::from_slice(&quoted).ok()?;
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::capture::MAX_VALUE_BYTES;
    use proptest::prelude::*;
    use serde_json::Value;

    fn find(pointer: &str, document: &[u8], piece: usize) -> Result<Vec<u8>, Missing> {
        let pointer = Pointer::parse(pointer.as_bytes()).unwrap();
        let mut search = Search::of_at_most(MAX_VALUE_BYTES);
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
}
