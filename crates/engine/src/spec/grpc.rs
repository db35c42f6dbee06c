//! Requests that are calls of gRPC.

use serde::{Deserialize, Serialize};

use super::{RequestSpec, WorkloadSpec};

/// A call of gRPC sets these itself.
const OWN_HEADERS: [&str; 3] = ["content-type", "te", "grpc-timeout"];

/// The request calls the method that its path names, `/package.Service/Method`. Its body is the message in JSON, or a
/// list of messages where the method takes a stream; its headers are the call's metadata. The target speaks HTTP/2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrpcSpec {
    /// A `FileDescriptorSet` with all that it imports, base64.
    pub schema_base64: String,
    /// The call must end within this time from its actual send; the server is told.
    #[serde(default)]
    pub deadline_ns: Option<u64>,
    /// From one message that is due to the next, where the method takes a stream. The first one is due at the intended
    /// start of the call; without this all are.
    #[serde(default)]
    pub every_ns: Option<u64>,
    /// The `grpc-status` of a right answer.
    #[serde(default)]
    pub status: u32,
}

/// Why the request cannot be sent so. Calls go over HTTP/2, beside other requests or not.
pub(super) fn problem(workload: &WorkloadSpec, request: &RequestSpec) -> Option<&'static str> {
    let grpc = request.grpc.as_ref()?;
    let mut names = request
        .headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase());
    let problem = if workload.target.http2.is_none() {
        "gRPC goes over HTTP/2: give the target http2"
    } else if request.method != "POST" {
        "a method of gRPC is called with POST"
    } else if request.websocket.is_some() || request.raw.is_some() {
        "it is a call of gRPC, or something else"
    } else if !request.expect.status.is_empty() {
        "a call has a grpc-status and no other one"
    } else if grpc.deadline_ns == Some(0) {
        "grpc.deadline_ns is 0: nothing answers in no time"
    } else if grpc.every_ns == Some(0) {
        "grpc.every_ns is 0: leave it out to send all messages at once"
    } else if names.any(|name| OWN_HEADERS.contains(&name.as_str())) {
        "content-type, te and grpc-timeout are the call's own: leave them out"
    } else {
        return None;
    };
    Some(problem)
}
