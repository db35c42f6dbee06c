//! gRPC over HTTP/2: messages behind a prefix of five bytes, and a status in the trailers. Knows no connection: it makes
//! the bytes of a request, and is shown the headers, bytes and trailers of the answer.
//!
//! Source: grpc.io, "gRPC over HTTP2" (PROTOCOL-HTTP2.md); JSON as the Protocol Buffers documentation has it.
mod answer;
mod frames;
mod method;
mod pace;
pub mod reflection;
pub mod schema;
mod status;

pub use answer::Answer;
pub use method::Method;
pub use pace::Pace;
