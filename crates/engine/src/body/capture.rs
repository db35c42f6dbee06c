//! Values captured from a response: from its head once that is complete, from its body as it streams by.

use crate::protocol::head::Head;
use crate::search::html;
use crate::search::json::{self, Pointer};
use crate::search::missing::{MAX_VALUE_BYTES, Missing};
use crate::search::window::{Pattern, Window};
use crate::spec::SourceSpec;

/// A value to look for in the head of a response.
#[derive(Debug)]
pub enum HeadCapture {
    Header(String),
    Cookie(String),
    Status,
}

impl HeadCapture {
    pub fn of(source: &SourceSpec) -> Option<Self> {
        match source {
            SourceSpec::Header(name) => Some(Self::Header(name.clone())),
            SourceSpec::Cookie(name) => Some(Self::Cookie(name.clone())),
            SourceSpec::Status => Some(Self::Status),
            SourceSpec::Json(_) | SourceSpec::Regex(_) | SourceSpec::Html(_) | SourceSpec::Body => {
                None
            }
        }
    }

    pub fn find(&self, head: &Head<'_>) -> Result<Vec<u8>, Missing> {
        let value = match self {
            Self::Header(name) => head.header(name).map(<[u8]>::to_vec),
            Self::Cookie(name) => head.cookie(name).map(<[u8]>::to_vec),
            Self::Status => Some(head.status.to_string().into_bytes()),
        };
        match value {
            None => Err(Missing::Nothing),
            Some(value) if value.len() > MAX_VALUE_BYTES => Err(Missing::TooLong(MAX_VALUE_BYTES)),
            Some(value) => Ok(value),
        }
    }
}

/// A value to look for in the body of a response; prepared once and shared by all clients.
#[derive(Debug)]
pub struct BodyCapture {
    from: BodySource,
    /// The longest value that is captured, in bytes.
    max_bytes: usize,
}

#[derive(Debug)]
enum BodySource {
    Json(Pointer<'static>),
    Regex(Pattern),
    /// A regular expression, whose match is text in HTML.
    Html(Pattern),
    Whole,
}

/// The state of one client's search through a body as it streams by.
#[derive(Debug)]
pub enum BodySearch {
    Json(json::Search),
    Regex(Window),
    Whole { kept: Vec<u8>, too_long: bool },
}

impl BodyCapture {
    /// Returns `None` if the source is not in the body; the error says what is wrong with the source.
    pub fn of(source: &SourceSpec, max_bytes: usize) -> Result<Option<Self>, String> {
        let from = match source {
            SourceSpec::Json(pointer) => {
                BodySource::Json(Pointer::parse(pointer.as_bytes())?.into_owned())
            }
            SourceSpec::Regex(pattern) => BodySource::Regex(Pattern::compile(pattern, max_bytes)?),
            SourceSpec::Html(pattern) => BodySource::Html(Pattern::compile(pattern, max_bytes)?),
            SourceSpec::Body => BodySource::Whole,
            SourceSpec::Header(_) | SourceSpec::Cookie(_) | SourceSpec::Status => return Ok(None),
        };
        Ok(Some(Self { from, max_bytes }))
    }

    /// The whole body.
    pub fn whole(max_bytes: usize) -> Self {
        let from = BodySource::Whole;
        Self { from, max_bytes }
    }

    pub fn begin(&self) -> BodySearch {
        match &self.from {
            BodySource::Json(_) => BodySearch::Json(json::Search::with_limit(self.max_bytes)),
            BodySource::Regex(_) | BodySource::Html(_) => BodySearch::Regex(Window::default()),
            BodySource::Whole => BodySearch::Whole {
                kept: Vec::new(),
                too_long: false,
            },
        }
    }

    pub fn feed(&self, search: &mut BodySearch, bytes: &[u8]) {
        match (&self.from, search) {
            (BodySource::Json(pointer), BodySearch::Json(search)) => search.feed(pointer, bytes),
            (BodySource::Regex(pattern) | BodySource::Html(pattern), BodySearch::Regex(window)) => {
                window.feed(pattern, bytes);
            }
            (BodySource::Whole, BodySearch::Whole { kept, too_long }) => {
                *too_long |= kept.len() + bytes.len() > self.max_bytes;
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
        match (&self.from, search) {
            (BodySource::Json(_), BodySearch::Json(search)) => search.end(),
            (BodySource::Regex(pattern), BodySearch::Regex(window)) => window.end(pattern),
            (BodySource::Html(pattern), BodySearch::Regex(window)) => {
                window.end(pattern).map(html::decoded)
            }
            (BodySource::Whole, BodySearch::Whole { kept, too_long }) => match too_long {
                true => Err(Missing::TooLong(self.max_bytes)),
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
        let source = BodyCapture::of(&SourceSpec::Body, MAX_VALUE_BYTES)
            .unwrap()
            .unwrap();
        let body = |bytes: usize| {
            let mut search = source.begin();
            for piece in vec![b'x'; bytes].chunks(1000) {
                source.feed(&mut search, piece);
            }
            source.end(&mut search).map(|value| value.len())
        };
        assert_eq!(body(0), Ok(0));
        assert_eq!(body(MAX_VALUE_BYTES), Ok(MAX_VALUE_BYTES));
        assert_eq!(
            body(MAX_VALUE_BYTES + 1),
            Err(Missing::TooLong(MAX_VALUE_BYTES))
        );
    }

    #[test]
    fn values_of_the_head_are_found_by_name() {
        let head = b"HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: sid=a=b; Path=/\r\nset-cookie: sid=2\r\n\r\n";
        let head = Head::parse(head).unwrap();
        let find = |source: SourceSpec| HeadCapture::of(&source).unwrap().find(&head);
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
