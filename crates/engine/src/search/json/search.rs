//! Finds the value at a JSON pointer (RFC 6901) as the document streams by.
//!
//! Only the member name that is being read and the value that was asked for are kept. What is passed over is checked no
//! further than is needed to find where it ends.

use memchr::memchr2;

use crate::search::json::pointer::Pointer;
use crate::search::json::problem::{Problem, What};
use crate::search::json::reader::{Discard, read, text_of};
use crate::search::json::{BYTE_ORDER_MARK, MAX_DEPTH, RECORD_SEPARATOR, is_blank, is_plain};
use crate::search::missing::Missing;

/// A longer member name is not compared, and counts as a different one.
const MAX_NAME_BYTES: usize = 1024;
/// Memory reserved for a value; most are no longer.
const USUAL_VALUE_BYTES: usize = 64;

/// The bytes outside of strings that tell where an object or array ends. Looking each byte up in a table is quicker than
/// comparing it with all of them, and most of a long document is passed over in this way.
const STRUCTURAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut bytes: &[u8] = b"\"{[}]";
    while let [byte, rest @ ..] = bytes {
        table[*byte as usize] = true;
        bytes = rest;
    }
    table
};

/// The state of the search through one document.
#[derive(Debug)]
pub struct Search {
    /// The longest value that is kept, in bytes.
    max_bytes: usize,
    state: State,
    /// Whether the current value is the one that was asked for, or the current member leads to it.
    wanted: bool,
    /// Whether the previous byte was a backslash.
    escaped: bool,
    /// How many objects and arrays along the pointer the current place is in.
    level: usize,
    /// Which of them are arrays, from the lowest bit on.
    arrays: u128,
    /// If the innermost of them is an array: the index of its current element; `None` once the pointer has led into one.
    index: Option<u64>,
    /// Nesting depth within the value that is being skipped or kept.
    depth: u64,
    /// The part of a member name that came in earlier pieces of the document.
    name: Vec<u8>,
    found: Found,
    /// The value as it is written.
    value: Vec<u8>,
    /// Where it begins in the document.
    begin: u64,
    /// The length of the pieces that came before.
    fed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Value,
    TooLong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the document, of whose byte order mark so many bytes have come.
    Mark(usize),
    /// At the start of a value that the pointer leads to or through.
    OnPath,
    /// In an object along the pointer, before a member name or, if no member came `before`, the end.
    Member {
        before: bool,
    },
    Name,
    Colon,
    /// In an array along the pointer, before an element or, if none came `before`, the end.
    Element {
        before: bool,
    },
    /// At the start of a value that is skipped or kept.
    Begin,
    Scalar,
    Text,
    /// In an object or array that is skipped or kept.
    Nested,
    TextInNested,
    /// After a value: in an object or array along the pointer, or after the document.
    After,
    Broken(Problem),
}

impl Search {
    pub fn with_limit(bytes: usize) -> Self {
        Self {
            max_bytes: bytes,
            state: State::Mark(0),
            wanted: false,
            escaped: false,
            level: 0,
            arrays: 0,
            index: None,
            depth: 0,
            name: Vec::new(),
            found: Found::Nothing,
            value: Vec::new(),
            begin: 0,
            fed: 0,
        }
    }

    /// Searches a whole document. Returns the value as it is written.
    pub fn whole(pointer: &Pointer<'_>, document: &[u8]) -> Result<Vec<u8>, Missing> {
        let mut search = Self::with_limit(document.len());
        search.feed(pointer, document);
        search.written()
    }

    /// Takes the next piece of the document.
    pub fn feed(&mut self, pointer: &Pointer<'_>, bytes: &[u8]) {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            rest = match self.state {
                State::Name => self.in_name(pointer, rest),
                State::Scalar => self.scalar(rest),
                State::Text => self.rest_of_text(rest),
                State::Nested | State::TextInNested => self.nested(rest),
                State::Broken(_) => return,
                State::Mark(_) => self.mark(*byte, rest, after, bytes),
                _ if is_blank(*byte) => after,
                _ => {
                    let at = self.place(rest, bytes);
                    let taken = self.structure(pointer, *byte, at);
                    if taken { after } else { rest }
                }
            };
        }
        self.fed += bytes.len() as u64;
    }

    /// Ends the search and returns the value as text. A string comes without quotes and escapes, everything else as it
    /// is written; `null` counts as not found.
    pub fn end(&mut self) -> Result<Vec<u8>, Missing> {
        let mut written = self.written()?;
        let in_document = |problem: Problem| Missing::Json(problem.within(self.begin));
        match &written[..] {
            [b'"', text @ .., b'"'] if is_plain(text) => {
                written.pop();
                written.remove(0);
                Ok(written)
            }
            [b'"', text @ .., b'"'] => {
                let text = text_of(text).map_err(|problem| in_document(problem.within(1)))?;
                Ok(text.into_bytes())
            }
            b"null" => Err(Missing::Nothing),
            _ => {
                read(&written, false, &mut Discard).map_err(in_document)?;
                Ok(written)
            }
        }
    }

    /// Ends the search and returns the value as it is written.
    pub fn written(&mut self) -> Result<Vec<u8>, Missing> {
        match self.state {
            State::Broken(problem) => return Err(Missing::Json(problem)),
            State::Mark(0) | State::OnPath if self.level == 0 => {
                return Err(Missing::Json(Problem::new(What::Empty, self.fed)));
            }
            State::Scalar if self.level == 0 => self.ends(),
            State::After if self.level == 0 => {}
            _ => return Err(Missing::Json(Problem::new(What::Ends, self.fed))),
        }
        match self.found {
            Found::Nothing => Err(Missing::Nothing),
            Found::Value => Ok(std::mem::take(&mut self.value)),
            Found::TooLong => Err(Missing::TooLong(self.max_bytes)),
        }
    }

    /// Where the value that was found last begins in the document.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// Takes a byte that may belong to a byte order mark before the document; returns the rest of the `piece`.
    fn mark<'b>(&mut self, byte: u8, rest: &'b [u8], after: &'b [u8], piece: &[u8]) -> &'b [u8] {
        let State::Mark(seen) = self.state else {
            unreachable!("it is asked for before the document only");
        };
        if byte == BYTE_ORDER_MARK[seen] {
            self.state = match seen + 1 {
                seen if seen < BYTE_ORDER_MARK.len() => State::Mark(seen),
                _ => State::OnPath,
            };
            return after;
        }
        self.state = match seen {
            0 => State::OnPath,
            _ => State::Broken(Problem::new(What::Byte(byte), self.place(rest, piece))),
        };
        rest
    }

    /// Handles a byte between names and values, at `at` in the document. Returns false if the new state has to handle
    /// it, too.
    fn structure(&mut self, pointer: &Pointer<'_>, byte: u8, at: u64) -> bool {
        let is_array = self.is_array();
        let (state, taken) = match self.state {
            State::OnPath if self.level == pointer.0.len() => {
                self.wanted = true;
                self.begin = at;
                self.value.clear();
                (State::Begin, false)
            }
            State::OnPath if matches!(byte, b'{' | b'[') => {
                if self.level == MAX_DEPTH {
                    (State::Broken(Problem::new(What::Deep, at)), true)
                } else {
                    (self.enter(byte == b'['), true)
                }
            }
            State::OnPath => {
                self.wanted = false;
                (State::Begin, false)
            }
            State::Member { .. } if byte == b'"' => {
                self.name.clear();
                self.escaped = false;
                (State::Name, true)
            }
            State::Member { before: false } if byte == b'}' => (self.leave(), true),
            State::Colon if byte == b':' && self.wanted => (State::OnPath, true),
            State::Colon if byte == b':' => (State::Begin, true),
            State::Element { before: false } if byte == b']' => (self.leave(), true),
            State::Element { .. } => {
                let wanted = pointer.0[self.level - 1].index;
                if self.index.is_some() && wanted == self.index {
                    self.index = None;
                    (State::OnPath, false)
                } else {
                    self.wanted = false;
                    (State::Begin, false)
                }
            }
            State::After if self.level == 0 => match byte {
                RECORD_SEPARATOR => (State::After, true),
                _ => (State::Broken(Problem::new(What::AfterEnd(byte), at)), true),
            },
            State::After if byte == b',' => {
                self.index = self.index.map(|index| index + 1);
                let before = true;
                let next = if is_array {
                    State::Element { before }
                } else {
                    State::Member { before }
                };
                (next, true)
            }
            State::After if byte == if is_array { b']' } else { b'}' } => (self.leave(), true),
            State::Begin => (self.begin_value(byte, at), true),
            _ => (State::Broken(Problem::new(What::Byte(byte), at)), true),
        };
        self.state = state;
        taken
    }

    /// Enters an object or array along the pointer.
    fn enter(&mut self, array: bool) -> State {
        let bit = 1 << self.level;
        self.arrays = self.arrays & !bit | if array { bit } else { 0 };
        self.level += 1;
        self.index = Some(0);
        let before = false;
        if array {
            State::Element { before }
        } else {
            State::Member { before }
        }
    }

    /// Leaves the innermost object or array along the pointer. If it is an element of an array, that was the one to which
    /// the pointer leads, so no later element is looked into.
    fn leave(&mut self) -> State {
        self.level -= 1;
        self.index = None;
        State::After
    }

    fn is_array(&self) -> bool {
        self.level > 0 && self.arrays >> (self.level - 1) & 1 == 1
    }

    /// Begins a value that is skipped or kept, of which this is the first byte.
    fn begin_value(&mut self, byte: u8, at: u64) -> State {
        (self.escaped, self.depth) = (false, 1);
        if self.wanted {
            self.value.reserve(USUAL_VALUE_BYTES);
            self.value.push(byte);
        }
        match byte {
            b'"' => State::Text,
            b'{' | b'[' => State::Nested,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => State::Scalar,
            _ => State::Broken(Problem::new(What::Byte(byte), at)),
        }
    }

    /// Consumes what belongs to a member name and returns the rest.
    fn in_name<'b>(&mut self, pointer: &Pointer<'_>, bytes: &'b [u8]) -> &'b [u8] {
        let (consumed, rest, ends) = self.up_to_quote(bytes);
        if !ends {
            // One byte beyond the limit is kept to show that the name is too long.
            let free = (MAX_NAME_BYTES + 1).saturating_sub(self.name.len());
            self.name
                .extend_from_slice(&consumed[..consumed.len().min(free)]);
            return rest;
        }
        let last = &consumed[..consumed.len() - 1];
        let whole = if self.name.is_empty() {
            last
        } else {
            self.name.extend_from_slice(last);
            &self.name
        };
        let wanted = &pointer.0[self.level - 1].name;
        self.wanted = whole.len() <= MAX_NAME_BYTES
            && if whole.contains(&b'\\') {
                text_of(whole).is_ok_and(|name| name.as_bytes() == &**wanted)
            } else {
                whole == &**wanted
            };
        if self.wanted {
            // Of several members with this name the last counts, even if the pointer leads nowhere in it.
            self.found = Found::Nothing;
        }
        self.state = State::Colon;
        rest
    }

    fn scalar<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let after =
            |byte: &u8| is_blank(*byte) || matches!(*byte, b',' | b'}' | b']' | RECORD_SEPARATOR);
        let end = bytes.iter().position(after);
        let (consumed, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.keep(consumed, end.is_some());
        rest
    }

    fn rest_of_text<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (consumed, rest, ends) = self.up_to_quote(bytes);
        self.keep(consumed, ends);
        rest
    }

    /// Consumes what belongs to an object or array and returns the rest.
    fn nested<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        let mut text = self.state == State::TextInNested;
        while !rest.is_empty() && self.depth > 0 {
            if text {
                let (_, after, ends) = self.up_to_quote(rest);
                (rest, text) = (after, !ends);
                continue;
            }
            let counts = |byte: &u8| STRUCTURAL[usize::from(*byte)];
            let Some(at) = rest.iter().position(counts) else {
                rest = &[];
                break;
            };
            match rest[at] {
                b'"' => text = true,
                b'{' | b'[' => self.depth += 1,
                _ => self.depth -= 1,
            }
            rest = &rest[at + 1..];
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
            if self.value.len() + bytes.len() > self.max_bytes {
                self.value = Vec::new();
                self.found = Found::TooLong;
                self.wanted = false;
            } else {
                self.value.extend_from_slice(bytes);
            }
        }
        if ends {
            self.ends();
        }
    }

    /// Ends the value that is skipped or kept.
    fn ends(&mut self) {
        if std::mem::take(&mut self.wanted) {
            self.found = Found::Value;
        }
        self.state = State::After;
    }

    /// Where in the document `rest` begins, which is the end of the `piece`.
    fn place(&self, rest: &[u8], piece: &[u8]) -> u64 {
        self.fed + (piece.len() - rest.len()) as u64
    }
}

#[cfg(test)]
mod tests;
