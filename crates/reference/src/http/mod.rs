//! HTTP/1.1 without I/O: bytes in, request or "incomplete" or refusal out; answer in, bytes out.

mod answer;
mod request;

pub use answer::{Answer, HELLO, JSON, TEXT, Timing};
pub use request::{Framing, Parsed, Request, parse};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Get,
    Head,
    Other,
}

/// What becomes of the connection after the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Persistence {
    Close,
    /// The default of HTTP/1.1.
    Keep,
    /// Asked for by an HTTP/1.0 client, which wants to be told.
    KeepAndSay,
}

impl Persistence {
    /// The header line that says so; empty where nothing need be said.
    pub fn header(self) -> &'static str {
        match self {
            Self::Close => "Connection: close\r\n",
            Self::KeepAndSay => "Connection: keep-alive\r\n",
            Self::Keep => "",
        }
    }
}
