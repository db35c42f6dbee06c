//! The head of a response as httparse reads it, however many lines it has: only its bytes are limited.

use std::mem::MaybeUninit;

use httparse::{EMPTY_HEADER, Error, Header, ParserConfig, Response, Status, parse_headers};

use crate::protocol::location::Location;

/// Heads of at most this many lines are parsed without memory of their own.
const USUAL_LINES: usize = 100;

/// What is needed of a final head beside its status and framing, if it is there and wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadValues {
    /// Where a redirect leads.
    pub location: Option<Location>,
    /// Its content codings: the values of all such headers, in order, separated by commas.
    pub coding: Option<Box<[u8]>>,
}

impl HeadValues {
    pub fn add_coding(&mut self, value: &[u8]) {
        self.coding = Some(match self.coding.take() {
            None => value.into(),
            Some(earlier) => [&earlier, &b", "[..], value].concat().into(),
        });
    }
}

/// Parses the head at the beginning of `bytes`, and passes its length and itself to `read` once it is whole.
pub fn parse_response<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(usize, &Response<'_, 'a>) -> T,
) -> Result<Option<T>, Error> {
    let mut usual = [const { MaybeUninit::<Header>::uninit() }; USUAL_LINES];
    let mut many;
    let mut response = Response::new(&mut []);
    let mut parsed = config().parse_response_with_uninit_headers(&mut response, bytes, &mut usual);
    if parsed == Err(Error::TooManyHeaders) {
        many = vec![MaybeUninit::<Header>::uninit(); lines(bytes)];
        response = Response::new(&mut []);
        parsed = config().parse_response_with_uninit_headers(&mut response, bytes, &mut many);
    }
    Ok(match parsed? {
        Status::Complete(length) => Some(read(length, &response)),
        Status::Partial => None,
    })
}

/// The length of the trailer section at the beginning of `bytes`, once it is whole. What it says is ignored.
pub fn parse_trailers(bytes: &[u8]) -> Result<Option<usize>, Error> {
    if bytes.starts_with(b"\r\n") {
        return Ok(Some(2));
    }
    match trailers(bytes, &mut [EMPTY_HEADER; USUAL_LINES]) {
        Err(Error::TooManyHeaders) => trailers(bytes, &mut vec![EMPTY_HEADER; lines(bytes)]),
        length => length,
    }
}

fn trailers<'a>(bytes: &'a [u8], headers: &mut [Header<'a>]) -> Result<Option<usize>, Error> {
    Ok(match parse_headers(bytes, headers)? {
        Status::Complete((length, _)) => Some(length),
        Status::Partial => None,
    })
}

fn config() -> ParserConfig {
    let mut config = ParserConfig::default();
    // A user agent must accept folded lines (RFC 9112 section 5.2).
    config.allow_obsolete_multiline_headers_in_responses(true);
    config
}

/// At least as many as there are header lines.
fn lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count() + 1
}
