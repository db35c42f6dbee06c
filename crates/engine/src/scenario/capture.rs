//! Values captured from an answer: from its head once that is complete, from its body as it streams by.

use std::fmt;

use super::head::Head;
use super::json::{self, Pointer};
use super::window::{Pattern, Window};
use crate::spec::SourceSpec;

/// The longest value that can be captured, in bytes.
pub const MAX_VALUE_BYTES: usize = 16 * 1024;

/// Why nothing was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Nothing,
    TooLong,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("found nothing"),
            Self::TooLong => write!(f, "found more than {MAX_VALUE_BYTES} bytes"),
        }
    }
}

/// A value to look for in the head of an answer.
#[derive(Debug)]
pub enum InHead {
    Header(String),
    Cookie(String),
    Status,
}

impl InHead {
    pub fn of(source: &SourceSpec) -> Option<Self> {
        match source {
            SourceSpec::Header(name) => Some(Self::Header(name.clone())),
            SourceSpec::Cookie(name) => Some(Self::Cookie(name.clone())),
            SourceSpec::Status => Some(Self::Status),
            SourceSpec::Json(_) | SourceSpec::Regex(_) | SourceSpec::Body => None,
        }
    }

    pub fn find(&self, head: &Head<'_>) -> Result<Vec<u8>, Missing> {
        let found = match self {
            Self::Header(name) => head.header(name).map(<[u8]>::to_vec),
            Self::Cookie(name) => head.cookie(name).map(<[u8]>::to_vec),
            Self::Status => Some(head.status.to_string().into_bytes()),
        };
        match found {
            None => Err(Missing::Nothing),
            Some(value) if value.len() > MAX_VALUE_BYTES => Err(Missing::TooLong),
            Some(value) => Ok(value),
        }
    }
}

/// A value to look for in the body of an answer; prepared once and shared by all clients.
#[derive(Debug)]
pub enum InBody {
    Json(Pointer<'static>),
    Regex(Pattern),
    Whole { most: usize },
}

/// The state of one client's search through a body as it streams by.
#[derive(Debug)]
pub enum BodySearch {
    Json(json::Search),
    Regex(Window),
    Whole { kept: Vec<u8>, too_long: bool },
}

impl InBody {
    /// Returns `None` if the source is not in the body; the error says what is wrong with the source.
    pub fn of(source: &SourceSpec) -> Result<Option<Self>, String> {
        Ok(Some(match source {
            SourceSpec::Json(pointer) => {
                Self::Json(Pointer::parse(pointer.as_bytes())?.into_owned())
            }
            SourceSpec::Regex(pattern) => Self::Regex(Pattern::compile(pattern)?),
            SourceSpec::Body => Self::Whole {
                most: MAX_VALUE_BYTES,
            },
            SourceSpec::Header(_) | SourceSpec::Cookie(_) | SourceSpec::Status => return Ok(None),
        }))
    }

    pub fn begin(&self) -> BodySearch {
        match self {
            Self::Json(_) => BodySearch::Json(json::Search::of_at_most(MAX_VALUE_BYTES)),
            Self::Regex(_) => BodySearch::Regex(Window::default()),
            Self::Whole { .. } => BodySearch::Whole {
                kept: Vec::new(),
                too_long: false,
            },
        }
    }

    pub fn feed(&self, search: &mut BodySearch, bytes: &[u8]) {
        match (self, search) {
            (Self::Json(pointer), BodySearch::Json(search)) => search.feed(pointer, bytes),
            (Self::Regex(pattern), BodySearch::Regex(window)) => window.feed(pattern, bytes),
            (Self::Whole { most }, BodySearch::Whole { kept, too_long }) => {
                *too_long |= kept.len() + bytes.len() > *most;
                if *too_long {
                    kept.clear();
                } else {
                    kept.extend_from_slice(bytes);
                }
            }
            _ => unreachable!("a search is made by what it is for"),
        }
    }

    pub fn end(&self, search: &mut BodySearch) -> Result<Vec<u8>, Missing> {
        match (self, search) {
            (Self::Json(_), BodySearch::Json(search)) => search.end(),
            (Self::Regex(pattern), BodySearch::Regex(window)) => window.end(pattern),
            (Self::Whole { .. }, BodySearch::Whole { kept, too_long }) => match too_long {
                true => Err(Missing::TooLong),
                false => Ok(std::mem::take(kept)),
            },
            _ => unreachable!("a search is made by what it is for"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_body_is_kept_up_to_a_bound() {
        let source = InBody::of(&SourceSpec::Body).unwrap().unwrap();
        let body = |bytes: usize| {
            let mut search = source.begin();
            for piece in vec![b'x'; bytes].chunks(1000) {
                source.feed(&mut search, piece);
            }
            source.end(&mut search).map(|value| value.len())
        };
        assert_eq!(body(0), Ok(0));
        assert_eq!(body(MAX_VALUE_BYTES), Ok(MAX_VALUE_BYTES));
        assert_eq!(body(MAX_VALUE_BYTES + 1), Err(Missing::TooLong));
    }

    #[test]
    fn values_of_the_head_are_found_by_name() {
        let head = b"HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: sid=a=b; Path=/\r\nset-cookie: sid=2\r\n\r\n";
        let head = Head::parse(head).unwrap();
        let find = |source: SourceSpec| InHead::of(&source).unwrap().find(&head);
        assert_eq!(find(SourceSpec::Status).unwrap(), b"302");
        assert_eq!(
            find(SourceSpec::Header("location".into())).unwrap(),
            b"/next"
        );
        assert_eq!(find(SourceSpec::Cookie("sid".into())).unwrap(), b"2");
        assert_eq!(
            find(SourceSpec::Cookie("other".into())),
            Err(Missing::Nothing)
        );
    }
}
