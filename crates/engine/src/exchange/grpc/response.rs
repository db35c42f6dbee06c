//! The response to one call, read while it comes.

use crate::exchange::grpc::method::Method;
use crate::exchange::observer::ExchangeObserver;
use crate::outcome::{Failure, Outcome};
use crate::protocol::grpc::frames::{MessagePiece, MessageReader};
use crate::protocol::grpc::{schema, status};

const CONTENT_TYPE: &[u8] = b"application/grpc";
/// The largest message that is read as JSON.
const MAX_READ_BYTES: usize = 4 * 1024 * 1024;
/// How many bytes of a Content-Type are quoted in an error.
const SHOWN_BYTES: usize = 60;

/// A response that is not one of gRPC.
pub struct NotGrpc {
    /// The status that its HTTP status stands for; `None` if that says that all is well.
    pub status: Option<u32>,
    pub why: String,
}

/// Checks that the head of a response is one of gRPC. With an HTTP status other than 200 it is one only if it has a
/// `grpc-status`.
pub fn check_head<'h>(
    http_status: u16,
    header: impl Fn(&str) -> Option<&'h [u8]>,
) -> Result<(), NotGrpc> {
    let content_type = header("content-type").unwrap_or_default();
    let rest = content_type.strip_prefix(CONTENT_TYPE);
    let right = rest.is_some_and(|rest| rest.is_empty() || b"+;".contains(&rest[0]));
    if right && (http_status == 200 || header("grpc-status").is_some()) {
        return Ok(());
    }
    let shown = match &content_type[..content_type.len().min(SHOWN_BYTES)] {
        [] => "no Content-Type".to_owned(),
        given => format!("Content-Type {}", given.escape_ascii()),
    };
    if http_status == 200 {
        let why = format!(
            "the server does not answer in gRPC here: {shown} in place of application/grpc"
        );
        return Err(NotGrpc { status: None, why });
    }
    let status = status::of_http(http_status);
    let name = status::describe(status, None);
    let why = format!("{name}: HTTP status {http_status}, {shown}, and no grpc-status");
    let status = Some(status);
    Err(NotGrpc { status, why })
}

pub struct GrpcResponse<'a> {
    method: &'a Method,
    reader: MessageReader,
    /// How many messages have come completely.
    messages: u64,
    /// The message that is coming, if its content is wanted.
    kept: Option<Vec<u8>>,
}

impl<'a> GrpcResponse<'a> {
    pub fn new(method: &'a Method, observer: &ExchangeObserver<'_>) -> Self {
        Self {
            method,
            reader: MessageReader::default(),
            messages: 0,
            kept: observer.reads_body().then(Vec::new),
        }
    }

    /// How many messages are complete.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How a call is counted whose response is not one of gRPC.
    pub fn foreign(&self, foreign: NotGrpc, observer: &mut ExchangeObserver<'_>) -> Outcome {
        match foreign.status {
            Some(status) if status == self.method.status => observer.complete(),
            Some(_) => observer.failed(Failure::new(Outcome::GrpcStatus, foreign.why)),
            None => observer.failed(Failure::new(Outcome::Malformed, foreign.why)),
        }
    }

    /// Takes in the next bytes. Returns true if no more are wanted.
    pub fn data(
        &mut self,
        mut bytes: &[u8],
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<bool, Failure> {
        while let Some(piece) = self.reader.next(&mut bytes) {
            match piece {
                MessagePiece::Begin { compressed, length } => self.begin(compressed, length)?,
                MessagePiece::Bytes(piece) => {
                    if let Some(kept) = &mut self.kept {
                        kept.extend_from_slice(piece);
                    }
                }
                MessagePiece::End => {
                    if self.message(observer)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn begin(&mut self, compressed: bool, length: usize) -> Result<(), Failure> {
        if compressed {
            let why = "a message is compressed, which was not offered";
            return Err(Failure::new(Outcome::Malformed, why));
        }
        if self.messages > 0 && !self.method.gives_stream() {
            let why = "a second message came where the method answers with one";
            return Err(Failure::new(Outcome::Malformed, why));
        }
        if self.kept.is_some() && length > MAX_READ_BYTES {
            let why = format!("a message of {length} bytes is too long to be looked at");
            return Err(Failure::new(Outcome::TooLarge, why));
        }
        Ok(())
    }

    fn message(&mut self, observer: &mut ExchangeObserver<'_>) -> Result<bool, Failure> {
        self.messages += 1;
        if let Some(kept) = &mut self.kept {
            let json =
                schema::to_json(&self.method.descriptor.output(), kept).map_err(|error| {
                    let name = self.method.descriptor.output();
                    let why = format!("a message is no {}: {error}", name.full_name());
                    Failure::new(Outcome::Malformed, why)
                })?;
            kept.clear();
            observer.body(&json);
        }
        Ok(self.method.gives_stream() && observer.message())
    }

    /// The response has ended with these trailers; returns how the call is counted.
    pub fn end<'h>(
        self,
        trailer: impl Fn(&str) -> Option<&'h [u8]>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        match self.judge(trailer) {
            Ok(()) => observer.complete(),
            Err(failure) => observer.failed(failure),
        }
    }

    fn judge<'h>(&self, trailer: impl Fn(&str) -> Option<&'h [u8]>) -> Result<(), Failure> {
        let malformed = |why: &str| Err(Failure::new(Outcome::Malformed, why));
        let Some(text) = trailer("grpc-status") else {
            return malformed("the response ended without grpc-status");
        };
        let status = std::str::from_utf8(text).ok();
        let Some(status) = status.and_then(|text| text.parse().ok()) else {
            return malformed("its grpc-status is no number");
        };
        if status != self.method.status {
            let why = status::describe(status, trailer("grpc-message"));
            let outcome = match (status, self.method.deadline_ns) {
                // Both sides watch the deadline, and it is a matter of chance which of them notices first.
                (status::DEADLINE_EXCEEDED, Some(_)) => Outcome::ResponseTimeout,
                _ => Outcome::GrpcStatus,
            };
            return Err(Failure::new(outcome, why));
        }
        if self.reader.is_incomplete() {
            return malformed("the response ended in the middle of a message");
        }
        if status == status::OK && self.messages == 0 && !self.method.gives_stream() {
            return malformed("the response ended without its message");
        }
        Ok(())
    }
}
