//! Checks whether a body is the right one as it passes by, and keeps no more of it than the check needs.

use std::fmt;
use std::mem;

use memchr::memmem::Finder;
use ring::digest::{Context, SHA256};
use thiserror::Error;

use crate::search::json::{Json, MAX_DOCUMENT_BYTES, Pointer, Search};
use crate::search::missing::Missing;
use crate::spec::BodyCheck;

/// Why a check cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VerifyError {
    #[error("expected SHA-256 {0:?} is not 64 hexadecimal digits")]
    Sha256(String),
    #[error("{0}")]
    Pointer(String),
}

/// A check, prepared once and shared by all clients; each has a [`BodyState`] of its own.
#[derive(Debug)]
pub struct BodyVerifier(Check);

#[derive(Debug)]
enum Check {
    Exact(Vec<u8>),
    Contains(Box<Finder<'static>>),
    Lacks(Box<Finder<'static>>),
    Length(u64),
    Sha256([u8; 32]),
    Json {
        pointer: Pointer<'static>,
        /// The pointer, as people read it.
        place: String,
        value: Json,
    },
}

/// What a check says of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// With the reason, if it is more than that the body is another one.
    Wrong(Option<String>),
}

impl From<bool> for Verdict {
    fn from(right: bool) -> Self {
        if right {
            Self::Right
        } else {
            Self::Wrong(None)
        }
    }
}

/// The progress of the check of one body.
#[derive(Debug, Default)]
pub struct BodyState {
    /// Body bytes so far.
    seen: u64,
    /// The result, if it is known before the end, whatever follows.
    settled: Option<bool>,
    /// For `Contains` and `Lacks`, the body's last bytes, fewer than the text that is searched for.
    kept: Vec<u8>,
    hash: Option<Box<Hash>>,
    search: Option<Box<Search>>,
}

/// A SHA-256 in progress.
struct Hash(Context);

impl Default for Hash {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash")
    }
}

impl BodyVerifier {
    pub fn new(check: &BodyCheck) -> Result<Self, VerifyError> {
        Ok(Self(match check {
            BodyCheck::Exact(text) => Check::Exact(text.clone().into_bytes()),
            BodyCheck::Contains(text) => Check::Contains(Box::new(Finder::new(text).into_owned())),
            BodyCheck::Lacks(text) => Check::Lacks(Box::new(Finder::new(text).into_owned())),
            BodyCheck::Length(bytes) => Check::Length(*bytes),
            BodyCheck::Sha256(digits) => {
                Check::Sha256(digest(digits).ok_or_else(|| VerifyError::Sha256(digits.clone()))?)
            }
            BodyCheck::Json { pointer, value } => Check::Json {
                pointer: Pointer::parse(pointer.as_bytes())
                    .map_err(VerifyError::Pointer)?
                    .into_owned(),
                place: if pointer.is_empty() {
                    "the response".into()
                } else {
                    format!("the value at {pointer}")
                },
                value: value.into(),
            },
        }))
    }

    /// Begins a new body. Of the one before, the state keeps no memory except the few bytes of a hash.
    pub fn begin(&self, state: &mut BodyState) {
        state.seen = 0;
        state.settled = None;
        state.kept = Vec::new();
        state.search = None;
        if let Check::Sha256(_) = self.0 {
            **state.hash.get_or_insert_default() = Hash::default();
        }
    }

    /// Takes the next bytes of the body.
    pub fn feed(&self, state: &mut BodyState, slice: &[u8]) {
        if state.settled.is_some() {
            return;
        }
        let end = state.seen.saturating_add(slice.len() as u64);
        match &self.0 {
            Check::Exact(expected) => {
                if expected.get(state.seen as usize..end as usize) != Some(slice) {
                    state.settled = Some(false);
                }
            }
            Check::Contains(finder) => {
                if contains(finder, &mut state.kept, slice) {
                    state.settled = Some(true);
                }
            }
            Check::Lacks(finder) => {
                if contains(finder, &mut state.kept, slice) {
                    state.settled = Some(false);
                }
            }
            Check::Length(bytes) => {
                if end > *bytes {
                    state.settled = Some(false);
                }
            }
            Check::Sha256(_) => state.hash.get_or_insert_default().0.update(slice),
            Check::Json { pointer, .. } => {
                state.search.get_or_insert_with(search).feed(pointer, slice);
            }
        }
        state.seen = end;
    }

    /// Ends the body.
    pub fn end(&self, state: &mut BodyState) -> Verdict {
        state.kept = Vec::new();
        if let Some(settled) = state.settled {
            return match &self.0 {
                Check::Lacks(finder) => Verdict::Wrong(Some(format!(
                    "the body contains {:?}",
                    String::from_utf8_lossy(finder.needle())
                ))),
                _ => settled.into(),
            };
        }
        match &self.0 {
            Check::Exact(expected) => (state.seen == expected.len() as u64).into(),
            Check::Contains(finder) => finder.needle().is_empty().into(),
            Check::Lacks(finder) => (!finder.needle().is_empty()).into(),
            Check::Length(bytes) => (state.seen == *bytes).into(),
            Check::Sha256(expected) => {
                let hash = mem::take(&mut **state.hash.get_or_insert_default());
                (hash.0.finish().as_ref() == expected).into()
            }
            Check::Json { place, value, .. } => {
                let mut search = state.search.take().unwrap_or_else(search);
                match value_of(&mut search) {
                    Ok(actual) => actual.is_same(value).into(),
                    Err(Missing::Nothing) => Verdict::Wrong(Some(format!("{place} is missing"))),
                    Err(missing @ Missing::Json(_)) => {
                        Verdict::Wrong(Some(format!("the response {missing}")))
                    }
                    Err(missing) => Verdict::Wrong(Some(format!("{place}: {missing}"))),
                }
            }
        }
    }
}

/// A search that has not begun.
fn search() -> Box<Search> {
    Box::new(Search::with_limit(MAX_DOCUMENT_BYTES))
}

/// Reads the value that the search has come to.
fn value_of(search: &mut Search) -> Result<Json, Missing> {
    let written = search.written()?;
    let begin = search.begin();
    Json::parse(&written).map_err(|problem| Missing::Json(problem.within(begin)))
}

/// Searches the bytes carried over from earlier slices together with `slice`; carries over what may begin a match.
fn contains(finder: &Finder, carried: &mut Vec<u8>, slice: &[u8]) -> bool {
    let border = finder.needle().len().saturating_sub(1);
    if !carried.is_empty() {
        carried.extend_from_slice(&slice[..slice.len().min(border)]);
        if finder.find(carried).is_some() {
            return true;
        }
    }
    if finder.find(slice).is_some() {
        return true;
    }
    if slice.len() >= border || carried.is_empty() {
        carried.clear();
        carried.extend_from_slice(&slice[slice.len().saturating_sub(border)..]);
    } else {
        carried.drain(..carried.len().saturating_sub(border));
    }
    false
}

/// 64 hexadecimal digits as 32 bytes.
fn digest(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
