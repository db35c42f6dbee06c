//! Checks whether a body is the right one as it passes by, and keeps no more of it than the check needs.

use memchr::memmem::Finder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::spec::BodyCheck;

/// The largest body that is compared as JSON; a larger one is wrong.
pub const MAX_JSON_BYTES: usize = 1024 * 1024;

/// Why a check cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VerifyError {
    #[error("expected SHA-256 {0:?} is not 64 hexadecimal digits")]
    Sha256(String),
    #[error("JSON pointer {0:?} is neither empty nor begins with '/' (RFC 6901)")]
    Pointer(String),
}

/// A check, prepared once and shared by all clients; each has a [`BodyState`] of its own.
#[derive(Debug)]
pub struct BodyVerifier(Check);

#[derive(Debug)]
enum Check {
    Exact(Vec<u8>),
    Contains(Box<Finder<'static>>),
    Length(u64),
    Sha256([u8; 32]),
    Json { pointer: String, value: Value },
}

/// The progress of the check of one body.
#[derive(Debug, Default)]
pub struct BodyState {
    /// Body bytes so far.
    seen: u64,
    /// The result, if it is known before the end, whatever follows.
    settled: Option<bool>,
    /// For `Json`, the body so far. For `Contains`, its last bytes, fewer than the text that is searched for.
    kept: Vec<u8>,
    hash: Option<Box<Sha256>>,
}

impl BodyVerifier {
    pub fn new(check: &BodyCheck) -> Result<Self, VerifyError> {
        Ok(Self(match check {
            BodyCheck::Exact(text) => Check::Exact(text.clone().into_bytes()),
            BodyCheck::Contains(text) => Check::Contains(Box::new(Finder::new(text).into_owned())),
            BodyCheck::Length(bytes) => Check::Length(*bytes),
            BodyCheck::Sha256(digits) => {
                Check::Sha256(digest(digits).ok_or_else(|| VerifyError::Sha256(digits.clone()))?)
            }
            BodyCheck::Json { pointer, .. } if !pointer.is_empty() && !pointer.starts_with('/') => {
                return Err(VerifyError::Pointer(pointer.clone()));
            }
            BodyCheck::Json { pointer, value } => Check::Json {
                pointer: pointer.clone(),
                value: value.clone(),
            },
        }))
    }

    /// Begins a new body. Of the one before, the state keeps no memory except the few bytes of a hash.
    pub fn begin(&self, state: &mut BodyState) {
        state.seen = 0;
        state.settled = None;
        state.kept = Vec::new();
        if let Check::Sha256(_) = self.0 {
            state.hash.get_or_insert_default().reset();
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
            Check::Length(bytes) => {
                if end > *bytes {
                    state.settled = Some(false);
                }
            }
            Check::Sha256(_) => state.hash.get_or_insert_default().update(slice),
            Check::Json { .. } => {
                if end > MAX_JSON_BYTES as u64 {
                    state.kept = Vec::new();
                    state.settled = Some(false);
                } else {
                    state.kept.extend_from_slice(slice);
                }
            }
        }
        state.seen = end;
    }

    /// Ends the body. Returns whether it was the right one.
    pub fn end(&self, state: &mut BodyState) -> bool {
        let kept = std::mem::take(&mut state.kept);
        if let Some(settled) = state.settled {
            return settled;
        }
        match &self.0 {
            Check::Exact(expected) => state.seen == expected.len() as u64,
            Check::Contains(finder) => finder.needle().is_empty(),
            Check::Length(bytes) => state.seen == *bytes,
            Check::Sha256(expected) => {
                state
                    .hash
                    .get_or_insert_default()
                    .finalize_reset()
                    .as_slice()
                    == expected
            }
            Check::Json { pointer, value } => {
                serde_json::from_slice::<Value>(&kept).is_ok_and(|found| {
                    found
                        .pointer(pointer)
                        .is_some_and(|found| same(found, value))
                })
            }
        }
    }
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

/// Equal as JSON: 1 and 1.0 are the same number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
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
#[path = "verify_tests.rs"]
mod tests;
