//! Requests that are calls of gRPC.

use serde::{Deserialize, Serialize};

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
    /// The `grpc-status` of a right answer.
    #[serde(default)]
    pub status: u32,
}
