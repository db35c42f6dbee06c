//! Edits to a script's source that leave its line numbers unchanged.

use std::ops::Range;

use crate::script::lexer::Token;

#[derive(Debug)]
pub struct Edit {
    /// The bytes to replace.
    at: Range<usize>,
    by: String,
}

impl Edit {
    pub fn new(at: Range<usize>, by: impl Into<String>) -> Self {
        let by = by.into();
        Self { at, by }
    }

    /// An edit that replaces a word.
    pub fn word(word: &Token<'_>, by: &str) -> Self {
        Self::new(word.start..word.end, by)
    }
}

/// Returns the source with all edits applied. They may be in any order, but must not overlap; of several at the same
/// place, the first comes first.
pub fn edited(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at.start);
    let mut out = String::with_capacity(source.len() + 64);
    let mut copied = 0;
    for edit in edits {
        out.push_str(&source[copied..edit.at.start]);
        out.push_str(&edit.by);
        copied = edit.at.end;
    }
    out.push_str(&source[copied..]);
    out
}
