//! The response decoder: bytes in; events, "need more" or an error out.

use crate::protocol::h1::MAX_HEAD_BYTES;
use crate::protocol::h1::chunked::{ChunkStep, Chunks};
use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::framing::{FramedHead, Framing, parse_head, values};
use crate::protocol::h1::head::{HeadValues, parse_trailers};

/// Where the status stands in a head, after `HTTP/1.1 `.
const STATUS_AT: usize = 9;
/// What came before a response that has timed out.
pub const ONLY_INTERIM: &str = "only interim responses (1xx) came in time";

/// What the consumed bytes were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseStep {
    /// All input is consumed, and the response continues.
    NeedMore,
    /// The head of the final response; 1xx heads before it are swallowed.
    Head {
        status: u16,
        /// The connection may carry another request afterwards.
        keep_alive: bool,
        /// The server is going to close the connection.
        closes: bool,
        /// What the decoder is to report of it, if any of that is there.
        values: Option<Box<HeadValues>>,
    },
    /// This many of the consumed bytes, at their END, are body; at least 1.
    Body(usize),
    /// The response is whole. Input that is not consumed does not belong to it.
    End,
}

/// Decodes one response after another, one decoder per connection.
///
/// Call [`step`](Self::step) repeatedly, each time with what the last call left of the input, until it returns
/// [`ResponseStep::NeedMore`] or [`ResponseStep::End`]; `End` may come without a byte being consumed. Heads and bodies that arrive
/// whole are decoded in place; only a head or a trailer section that arrives in pieces is gathered.
#[derive(Debug)]
pub struct ResponseDecoder {
    /// An unfinished head or trailer section, or a head that is kept: at most [`MAX_HEAD_BYTES`]. Otherwise empty and
    /// without memory.
    gathered: Vec<u8>,
    body_limit: u64,
    /// Body bytes that this response may still have, at most `body_limit`.
    allowance: u64,
    stage: Stage,
    head_request: bool,
    /// Whether the bytes of the final head stay in `gathered` until they are taken.
    keeps_head: bool,
    reports: Reports,
}

/// Which values of a final head are reported.
#[derive(Debug, Clone, Copy, Default)]
struct Reports {
    /// The `Location` of redirects.
    locations: bool,
    codings: bool,
}

/// The position of the next byte in the response; the transitions are drawn in the module's documentation.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Head,
    /// The number of body bytes still to come; 0 if the response is whole.
    Length(u64),
    Chunked(Chunks),
    Trailers,
    UntilClose {
        coded: bool,
    },
    Failed(DecodeError),
}

const WHOLE: Stage = Stage::Length(0);

impl Default for ResponseDecoder {
    fn default() -> Self {
        Self::new(None)
    }
}

impl ResponseDecoder {
    /// A decoder that refuses bodies of more than `body_limit` bytes.
    #[must_use]
    pub fn new(body_limit: Option<u64>) -> Self {
        let body_limit = body_limit.unwrap_or(u64::MAX);
        Self {
            gathered: Vec::new(),
            body_limit,
            allowance: body_limit,
            stage: WHOLE,
            head_request: false,
            keeps_head: false,
            reports: Reports::default(),
        }
    }

    /// Sets whether the `Location` of redirects is reported.
    #[must_use]
    pub fn with_locations(mut self, locations: bool) -> Self {
        self.reports.locations = locations;
        self
    }

    /// Expects a new response. `head_request`: it answers a HEAD request, so it has no body whatever its head says.
    pub fn begin(&mut self, head_request: bool) {
        self.gathered = Vec::new();
        self.allowance = self.body_limit;
        self.stage = Stage::Head;
        self.head_request = head_request;
    }

    /// Whether the response is to a HEAD request.
    #[must_use]
    pub fn head_request(&self) -> bool {
        self.head_request
    }

    /// Sets whether the bytes of the final head are kept. If so, [take](Self::take_head) them after [`ResponseStep::Head`].
    pub fn keep_head(&mut self, keep: bool) {
        self.keeps_head = keep;
    }

    /// Sets whether the content codings of the body are reported.
    pub fn report_codings(&mut self, report: bool) {
        self.reports.codings = report;
    }

    /// Returns the bytes of the head right after [`ResponseStep::Head`], if they are kept.
    pub fn take_head(&mut self) -> Option<Box<[u8]>> {
        self.keeps_head
            .then(|| std::mem::take(&mut self.gathered).into())
    }

    /// Consumes some of `input`; returns how much and what it was. Nothing is consumed only when `input` is empty or
    /// the response is whole. After an error every step returns that error, until `begin`.
    #[inline]
    pub fn step(&mut self, input: &[u8]) -> Result<(usize, ResponseStep), DecodeError> {
        let result = match &mut self.stage {
            Stage::Head => self.head(input),
            Stage::Length(0) => Ok((0, ResponseStep::End)),
            Stage::Length(left) => Ok(body(input, left)),
            Stage::Chunked(chunks) => match chunks.step(input, &mut self.allowance) {
                Ok((used, ChunkStep::NeedMore)) => Ok((used, ResponseStep::NeedMore)),
                Ok((used, ChunkStep::Data(data))) => Ok((used, ResponseStep::Body(data))),
                Ok((used, ChunkStep::Trailers)) => {
                    self.stage = Stage::Trailers;
                    self.trailers(input, used)
                }
                Err(error) => Err(error),
            },
            Stage::Trailers => self.trailers(input, 0),
            Stage::UntilClose { .. } if self.allowance == 0 && !input.is_empty() => {
                Err(DecodeError::BodyTooLarge)
            }
            Stage::UntilClose { .. } => Ok(body(input, &mut self.allowance)),
            Stage::Failed(error) => Err(*error),
        };
        result.map_err(|error| self.fail(error))
    }

    /// Notes that the peer closed its side, either at the end of the response or too early.
    pub fn eof(&mut self) -> Result<ResponseStep, DecodeError> {
        let error = match self.stage {
            Stage::Length(0) | Stage::UntilClose { .. } => {
                self.stage = WHOLE;
                return Ok(ResponseStep::End);
            }
            Stage::Failed(error) => error,
            Stage::Head if self.gathered.is_empty() => DecodeError::ClosedBeforeHead,
            // An error in the unfinished line says more than the early close.
            Stage::Head => match parse_head(&self.gathered, self.head_request) {
                Err(error) => error,
                Ok(_) => DecodeError::ClosedInHead,
            },
            Stage::Trailers => match parse_trailers(&self.gathered) {
                Err(error) => DecodeError::Trailers(error),
                Ok(_) => DecodeError::ClosedInBody,
            },
            Stage::Length(_) | Stage::Chunked(_) => DecodeError::ClosedInBody,
        };
        Err(self.fail(error))
    }

    /// Whether the final response has begun, as far as can be seen: interim ones are none of it.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        match self.stage {
            Stage::Head => self
                .gathered
                .get(STATUS_AT)
                .is_some_and(|digit| *digit != b'1'),
            _ => true,
        }
    }

    /// Says of an unfinished response of which bytes have come what is missing.
    #[must_use]
    pub fn missing(&self) -> &'static str {
        match self.stage {
            Stage::Head if !self.has_begun() => ONLY_INTERIM,
            Stage::UntilClose { coded: false } => {
                "the response has neither length nor chunks, so only the end of the connection ends it, which did \
                 not come in time"
            }
            Stage::UntilClose { coded: true } => {
                "the response's Transfer-Encoding has no chunks, so only the end of the connection ends it whatever \
                 its Content-Length says, and that did not come in time"
            }
            _ => "the response did not end in time",
        }
    }

    #[cold]
    fn fail(&mut self, error: DecodeError) -> DecodeError {
        self.gathered = Vec::new();
        self.stage = Stage::Failed(error);
        error
    }

    fn head(&mut self, input: &[u8]) -> Result<(usize, ResponseStep), DecodeError> {
        let mut used = 0;
        loop {
            if self.gathered.is_empty() {
                // Line ends before a status line are tolerated, as most clients do.
                used += input[used..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'\r' | b'\n'))
                    .count();
            }
            let head_request = self.head_request;
            let Reports { locations, codings } = self.reports;
            let parse = |bytes: &[u8]| {
                let head = parse_head(bytes, head_request)?;
                Ok(head.map(|(length, head)| {
                    let location = locations && head.is_redirect();
                    let values = values(&bytes[..length], location, codings && head.coded);
                    (length, (head, values))
                }))
            };
            let (length, head) = self.gather(&input[used..], parse, DecodeError::HeadTooLarge)?;
            used += length;
            match head {
                None => return Ok((used, ResponseStep::NeedMore)),
                Some((head, _)) if head.is_interim() => self.gathered = Vec::new(),
                Some((head, values)) => {
                    return self.begin_body(head, values).map(|step| (used, step));
                }
            }
        }
    }

    fn begin_body(
        &mut self,
        head: FramedHead,
        values: Option<Box<HeadValues>>,
    ) -> Result<ResponseStep, DecodeError> {
        self.stage = match head.framing {
            Framing::Length(length) if length > self.body_limit => {
                return Err(DecodeError::BodyTooLarge);
            }
            Framing::Length(length) => Stage::Length(length),
            Framing::Chunked => Stage::Chunked(Chunks::BEGIN),
            Framing::UntilClose { coded } => Stage::UntilClose { coded },
        };
        Ok(ResponseStep::Head {
            status: head.status,
            keep_alive: head.keep_alive,
            closes: head.closes,
            values,
        })
    }

    /// Checks the trailer fields and ignores them.
    fn trailers(
        &mut self,
        input: &[u8],
        used: usize,
    ) -> Result<(usize, ResponseStep), DecodeError> {
        let (length, end) = self.gather(
            &input[used..],
            |bytes| {
                let length = parse_trailers(bytes).map_err(DecodeError::Trailers)?;
                Ok(length.map(|length| (length, ())))
            },
            DecodeError::TrailersTooLarge,
        )?;
        if end.is_none() {
            return Ok((used + length, ResponseStep::NeedMore));
        }
        self.stage = WHOLE;
        Ok((used + length, ResponseStep::End))
    }

    /// Parses a head or trailer section from what was gathered and `input`; gathers it while it is not whole. Returns
    /// how much of `input` was consumed.
    fn gather<T>(
        &mut self,
        input: &[u8],
        parse: impl Fn(&[u8]) -> Result<Option<(usize, T)>, DecodeError>,
        too_large: DecodeError,
    ) -> Result<(usize, Option<T>), DecodeError> {
        let before = self.gathered.len();
        let piece = &input[..input.len().min(MAX_HEAD_BYTES - before)];
        let full = piece.len() < input.len();
        let parsed = if before == 0 {
            parse(piece)?
        } else {
            self.gathered.extend_from_slice(piece);
            if full || may_decide(&self.gathered, before) {
                parse(&self.gathered)?
            } else {
                None
            }
        };
        if let Some((length, value)) = parsed {
            if self.keeps_head && matches!(self.stage, Stage::Head) {
                if before == 0 {
                    self.gathered.extend_from_slice(&piece[..length]);
                } else {
                    self.gathered.truncate(length);
                }
            } else {
                self.gathered = Vec::new();
            }
            return Ok((length - before, Some(value)));
        }
        if full {
            return Err(too_large);
        }
        if before == 0 {
            self.gathered.extend_from_slice(piece);
        }
        Ok((input.len(), None))
    }
}

/// Takes up to `left` bytes of body.
fn body(input: &[u8], left: &mut u64) -> (usize, ResponseStep) {
    let length = (*left).min(input.len() as u64);
    *left -= length;
    match length {
        0 => (0, ResponseStep::NeedMore),
        _ => (length as usize, ResponseStep::Body(length as usize)),
    }
}

/// Whether the bytes from `before` on complete the first line or the section. Only then is it parsed again, so that
/// input that drips in byte by byte costs no more than input that comes at once.
fn may_decide(bytes: &[u8], before: usize) -> bool {
    memchr::memchr_iter(b'\n', &bytes[before..]).any(|at| {
        let line = &bytes[..before + at];
        line.ends_with(b"\n") || line.ends_with(b"\n\r") || memchr::memchr(b'\n', line).is_none()
    })
}
