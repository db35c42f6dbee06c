//! gRPC over HTTP/2: messages after a prefix of five bytes, and a status in the trailers. Except for [`reflection`],
//! it does not deal with connections: it builds the bytes of a request, and is given the headers, bytes and trailers of
//! the response.
//!
//! Source: grpc.io, "gRPC over HTTP2" (PROTOCOL-HTTP2.md); JSON as described in the Protocol Buffers documentation.
pub mod method;
pub mod pace;
pub mod reflection;
pub mod response;

pub use response::{GrpcResponse, check_head};
