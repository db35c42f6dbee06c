//! HTTP/1.1 without I/O: bytes in, and a request, "incomplete" or a refusal out; a response in, and bytes out.

mod request;
mod response;

pub use request::{Parsed, Request, RequestHead, parse};
pub use response::{HELLO, JSON, Response, TEXT, Timing};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Get,
    Head,
    Other,
}

/// What happens to the connection after the response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Persistence {
    Close,
    /// The default of HTTP/1.1.
    Keep,
    /// An HTTP/1.0 client asked for it, and expects the response to confirm it.
    KeepAndSay,
}

impl Persistence {
    /// The header line that states this; empty if none is needed.
    pub fn header(self) -> &'static str {
        match self {
            Self::Close => "Connection: close\r\n",
            Self::KeepAndSay => "Connection: keep-alive\r\n",
            Self::Keep => "",
        }
    }
}
