//! From the bytes of a head to what follows it: RFC 9112 section 6.3, for a client.

use std::cell::RefCell;

use httparse::{Header, Response};

use crate::protocol::foreign;
use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::head::{HeadValues, parse_response};
use crate::protocol::location::Location;

/// What the engine needs to know about a response's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FramedHead {
    pub status: u16,
    /// The connection may carry another request after this response.
    pub keep_alive: bool,
    /// The server is going to close the connection.
    pub closes: bool,
    pub framing: Framing,
    /// It has a `Content-Encoding`.
    pub coded: bool,
}

/// How the end of the body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// A body of this many bytes; 0 if there is none.
    Length(u64),
    Chunked,
    /// `coded`: the head names transfer codings other than chunks, so that its Content-Length does not count.
    UntilClose {
        coded: bool,
    },
}

impl FramedHead {
    /// 1xx: another head follows, for the same request.
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }

    pub fn is_redirect(&self) -> bool {
        is_redirect(self.status)
    }
}

/// Whether a client may follow this status automatically (RFC 9110 section 15.4).
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The last head that this thread parsed. Servers send the same head again and again (the date in it changes once
/// a second), and a comparison saves about 0.1 µs of parsing for each response.
struct LatestHead {
    bytes: Vec<u8>,
    head_request: bool,
    head: FramedHead,
}

/// Longer heads are not remembered.
const MAX_LATEST_BYTES: usize = 1024;

thread_local! {
    static LAST: RefCell<Option<LatestHead>> = const { RefCell::new(None) };
}

/// A head at the beginning of `bytes`: its length and meaning, or `None` while it is not whole.
pub(super) fn parse_head(
    bytes: &[u8],
    head_request: bool,
) -> Result<Option<(usize, FramedHead)>, DecodeError> {
    LAST.with_borrow_mut(|last| {
        // It ends with its own blank line, so bytes that begin with it begin with exactly that head, not a longer one.
        if let Some(last) = last
            && last.head_request == head_request
            && bytes.starts_with(&last.bytes)
        {
            return Ok(Some((last.bytes.len(), last.head)));
        }
        let parsed = parse(bytes, head_request)?;
        if let Some((length, head)) = parsed
            && length <= MAX_LATEST_BYTES
        {
            let mut memory = last.take().map(|last| last.bytes).unwrap_or_default();
            memory.clear();
            memory.extend_from_slice(&bytes[..length]);
            *last = Some(LatestHead {
                bytes: memory,
                head_request,
                head,
            });
        }
        Ok(parsed)
    })
}

/// Reads the values that are wanted of a whole head.
pub(super) fn values(bytes: &[u8], location: bool, coding: bool) -> Option<Box<HeadValues>> {
    if !location && !coding {
        return None;
    }
    let read = |_, response: &Response<'_, '_>| {
        let mut values = HeadValues::default();
        for header in response.headers.iter() {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            if location && is("location") {
                values.location = Location::add(values.location, header.value);
            } else if coding && is("content-encoding") {
                values.add_coding(header.value);
            }
        }
        Box::new(values)
    };
    parse_response(bytes, read).ok().flatten()
}

fn parse(bytes: &[u8], head_request: bool) -> Result<Option<(usize, FramedHead)>, DecodeError> {
    let read = |length, response: &Response<'_, '_>| {
        let (Some(status), Some(version)) = (response.code, response.version) else {
            unreachable!("httparse fills in status and version of a whole head")
        };
        head(status, version, response.headers, head_request).map(|head| (length, head))
    };
    match parse_response(bytes, read) {
        Ok(read) => read.transpose(),
        Err(error) => match foreign::protocol(bytes) {
            Some(name) => Err(DecodeError::Foreign(name)),
            None if foreign::is_ambiguous(bytes) => Ok(None),
            None => Err(DecodeError::Head(error)),
        },
    }
}

fn head(
    status: u16,
    version: u8,
    headers: &[Header],
    head_request: bool,
) -> Result<FramedHead, DecodeError> {
    match status {
        101 => return Err(DecodeError::SwitchingProtocols),
        100.. => {}
        _ => return Err(DecodeError::Status(status)),
    }
    let fields = Fields::read(headers)?;
    if fields.codings > 0 && version == 0 {
        return Err(DecodeError::TransferEncodingInHttp10);
    }
    let bodiless = head_request || matches!(status, 100..200 | 204 | 304);
    let framing = match fields.content_length {
        _ if bodiless => Framing::Length(0),
        _ if fields.chunked_last => Framing::Chunked,
        Some(length) if fields.codings == 0 => Framing::Length(length),
        _ => Framing::UntilClose {
            coded: fields.codings > 0,
        },
    };
    // Two lengths in one head are a way of smuggling responses: the body is read, but the connection is not reused.
    let two_lengths = fields.codings > 0 && fields.content_length.is_some();
    let persistent = version > 0 || fields.keep_alive;
    let until_close = matches!(framing, Framing::UntilClose { .. });
    let closes = fields.close || !persistent || until_close;
    Ok(FramedHead {
        status,
        keep_alive: !closes && !two_lengths,
        closes,
        framing,
        coded: headers
            .iter()
            .any(|header| header.name.eq_ignore_ascii_case("content-encoding")),
    })
}

/// The three headers that decide the framing and the connection's reuse; all others are ignored.
#[derive(Default)]
struct Fields {
    content_length: Option<u64>,
    /// Transfer codings named, in all lines together. `identity` is none, as in RFC 2616 section 3.6.
    codings: usize,
    chunked_last: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn read(headers: &[Header]) -> Result<Self, DecodeError> {
        let mut fields = Self::default();
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            // The length of the name rules out nearly all of them at once.
            match header.name.len() {
                10 if is("connection") => fields.connection(header.value),
                14 if is("content-length") => fields.content_length(header.value)?,
                17 if is("transfer-encoding") => fields.transfer_encoding(header.value)?,
                _ => {}
            }
        }
        Ok(fields)
    }

    fn connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// One number, or the same number several times, in one line or in several.
    fn content_length(&mut self, value: &[u8]) -> Result<(), DecodeError> {
        for element in list(value) {
            let length = decimal(element).ok_or(DecodeError::ContentLength)?;
            if self.content_length.is_some_and(|earlier| earlier != length) {
                return Err(DecodeError::ContentLengthConflict);
            }
            self.content_length = Some(length);
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), DecodeError> {
        let mut named = false;
        for coding in list(value).filter(|coding| !coding.is_empty()) {
            let name = coding
                .split(|&byte| byte == b';')
                .next()
                .unwrap_or_default()
                .trim_ascii_end();
            named = true;
            if name.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            let chunked = name.eq_ignore_ascii_case(b"chunked");
            if chunked && (self.chunked_last || name.len() < coding.len()) {
                return Err(DecodeError::TransferEncoding);
            }
            self.codings += 1;
            self.chunked_last = chunked;
        }
        if named {
            Ok(())
        } else {
            Err(DecodeError::TransferEncoding)
        }
    }
}

/// The elements of a comma-separated value, without the white space around them.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Parses digits only: no sign, no space, no number that does not fit.
pub fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
