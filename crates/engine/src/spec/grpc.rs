//! Requests that are calls of gRPC.

use serde::{Deserialize, Serialize};

use crate::spec::{RequestSpec, WorkloadSpec};

/// Headers that a gRPC call sets itself.
const OWN_HEADERS: [&str; 3] = ["content-type", "te", "grpc-timeout"];

/// The request calls the method that its path names, `/package.Service/Method`.
///
/// Its body is the message in JSON, or a list of messages if the method takes a stream. Its headers are the call's
/// metadata. The target must speak HTTP/2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrpcSpec {
    /// A `FileDescriptorSet` including everything that it imports, in base64.
    pub schema_base64: String,
    /// The call must end within this time from its actual send; it is sent to the server.
    #[serde(default)]
    pub deadline_ns: Option<u64>,
    /// Interval at which messages are due, if the method takes a stream of them. The first is due at the intended start
    /// of the call; when `None`, all of them are.
    #[serde(default)]
    pub every_ns: Option<u64>,
    /// The `grpc-status` of a right response.
    #[serde(default)]
    pub status: u32,
}

/// Returns why the request cannot be sent like this, if so.
///
/// Calls go over HTTP/2; a workload may mix them with other requests.
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
