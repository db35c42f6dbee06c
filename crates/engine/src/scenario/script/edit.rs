//! Changes of a source that keep its lines.

use std::ops::Range;

use super::lexer::Token;

/// A change of the source that keeps its lines.
#[derive(Debug)]
pub struct Edit {
    /// Bytes that are replaced.
    pub at: Range<usize>,
    pub by: String,
}

impl Edit {
    pub fn insert(at: usize, by: impl Into<String>) -> Self {
        Self {
            at: at..at,
            by: by.into(),
        }
    }

    /// `word`: of one byte.
    pub fn symbol(word: &Token<'_>, by: &str) -> Self {
        Self {
            at: word.end - 1..word.end,
            by: by.into(),
        }
    }
}

/// The source with all changes, of which none lies within another.
pub fn edited(source: &str, mut edits: Vec<Edit>) -> String {
    // Calls lie within others.
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
