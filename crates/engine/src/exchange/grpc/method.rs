//! A method and how it is called, prepared once for a request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use prost_reflect::MethodDescriptor;

use crate::exchange::grpc::pace::Pace;
use crate::protocol::grpc::{frames, schema};
use crate::spec::{Fill, GrpcSpec, RequestSpec};
use crate::template::request::{Template, encode_request};

const MILLISECOND: u64 = 1_000_000;
/// The largest value of a timeout, which may have at most eight digits.
const MAX_TIMEOUT: u64 = 99_999_999;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

#[derive(Debug)]
pub struct Method {
    pub(super) descriptor: MethodDescriptor,
    pub(super) deadline_ns: Option<u64>,
    every_ns: Option<u64>,
    /// The `grpc-status` of a right response.
    pub(super) status: u32,
}

impl Method {
    pub fn new(spec: &RequestSpec, grpc: &GrpcSpec) -> Result<Self, String> {
        let bytes = STANDARD.decode(&grpc.schema_base64);
        let bytes = bytes.map_err(|error| format!("schema_base64 is not base64: {error}"))?;
        let name = spec.path.trim_start_matches('/');
        let schema = schema::Schema::decode(&bytes)
            .map_err(|problem| format!("its schema cannot be read: {problem}"))?;
        let descriptor = schema.method(name);
        let descriptor = descriptor
            .ok_or_else(|| format!("its schema has no method {name} (package.Service/Method)"))?;
        if grpc.every_ns.is_some() && !descriptor.is_client_streaming() {
            return Err(format!(
                "{name} takes one message, so that none is sent after another: leave out every_ns"
            ));
        }
        Ok(Self {
            descriptor,
            deadline_ns: grpc.deadline_ns,
            every_ns: grpc.every_ns,
            status: grpc.status,
        })
    }

    pub fn deadline_ns(&self) -> Option<u64> {
        self.deadline_ns
    }

    /// When the messages of a call that is due at `intended` are sent; `None` if all of them are sent at once.
    pub fn pace(&self, intended: u64) -> Option<Pace> {
        let one_response_each = self.gives_stream();
        self.every_ns
            .map(|interval_ns| Pace::new(intended, interval_ns, one_response_each))
    }

    /// Checks that the response is read as what it is: one message, or a stream of them.
    pub fn check_stream(&self, read_as_stream: bool) -> Result<(), String> {
        let name = self.descriptor.full_name();
        match (self.gives_stream(), read_as_stream) {
            (false, true) => Err(format!("{name} answers with one message: leave out stream")),
            (true, false) => Err(format!(
                "{name} answers with a stream: read it as one of messages"
            )),
            _ => Ok(()),
        }
    }

    /// Whether its response is a stream of messages.
    pub fn gives_stream(&self) -> bool {
        self.descriptor.is_server_streaming()
    }

    /// The request in the form of HTTP/1.1. A message that is always the same is already encoded; one with parameters
    /// is still JSON, which [`Method::finish`] replaces.
    pub fn encode(&self, spec: &RequestSpec, host_header: &str) -> Result<Template, String> {
        let mut whole = spec.clone(); // with the headers of gRPC
        whole.headers.extend(self.headers());
        whole.fill = Some(Fill::Json);
        let encode = |spec: &RequestSpec| {
            encode_request(spec, host_header, true).map_err(|error| error.to_string())
        };
        let template = encode(&whole)?;
        let Some(fixed) = template.fixed() else {
            return Ok(template);
        };
        let frames = self.frames(body_of(fixed))?;
        whole.body_base64 = Some(STANDARD.encode(frames));
        whole.fill = None;
        whole.params.clear();
        encode(&whole)
    }

    /// Replaces the JSON of a request, whose parameters have been filled in, by the encoded messages.
    pub fn finish(&self, request: &mut Vec<u8>) -> Result<(), String> {
        let frames = self.frames(body_of(request))?;
        request.truncate(request.len() - body_of(request).len());
        request.extend_from_slice(&frames);
        Ok(())
    }

    /// The request as it is shown to people, with its messages in JSON, one per line.
    pub fn shown(&self, request: &[u8]) -> Vec<u8> {
        let body = body_of(request);
        let mut shown = request[..request.len() - body.len()].to_vec();
        for message in frames::split(body) {
            if let Ok(json) = schema::to_json(&self.descriptor.input(), message) {
                shown.extend_from_slice(&json);
                shown.push(b'\n');
            }
        }
        shown
    }

    fn frames(&self, json: &[u8]) -> Result<Vec<u8>, String> {
        let messages =
            schema::encode(&self.descriptor, json).map_err(|refusal| refusal.to_string())?;
        let mut out = Vec::new();
        for message in &messages {
            frames::write(message, &mut out);
        }
        Ok(out)
    }

    fn headers(&self) -> impl Iterator<Item = (String, String)> {
        let own = [("content-type", "application/grpc"), ("te", "trailers")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let timeout = self.deadline_ns.map(timeout);
        own.into_iter()
            .chain(timeout.map(|timeout| ("grpc-timeout".to_owned(), timeout)))
    }
}

/// Formats `TimeoutValue` and `TimeoutUnit`, rounded down so that it is never longer than asked.
fn timeout(ns: u64) -> String {
    match ns {
        _ if ns <= MAX_TIMEOUT => format!("{ns}n"),
        _ if ns / 1000 <= MAX_TIMEOUT => format!("{}u", ns / 1000),
        _ if ns / MILLISECOND <= MAX_TIMEOUT => format!("{}m", ns / MILLISECOND),
        _ => format!("{}S", (ns / MILLISECOND / 1000).min(MAX_TIMEOUT)),
    }
}

/// The body of a request in HTTP/1.1.
fn body_of(request: &[u8]) -> &[u8] {
    let end = memmem::find(request, END_OF_HEAD).map(|at| at + END_OF_HEAD.len());
    &request[end.unwrap_or(request.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_at_most_eight_digits_and_is_not_longer_than_asked() {
        for (ns, text) in [
            (1, "1n"),
            (99_999_999, "99999999n"),
            (200 * MILLISECOND, "200000u"),
            (100 * 1000 * MILLISECOND + 999_999, "100000m"),
            (400 * 24 * 3600 * 1000 * MILLISECOND, "34560000S"),
        ] {
            assert_eq!(timeout(ns), text);
        }
    }
}
