//! Encoding of responses.

use super::{Method, Persistence};
use jostle_discipline::Nanos;
use std::borrow::Cow;
use std::io::Write;

pub const TEXT: &str = "text/plain";
pub const JSON: &str = "application/json";

/// The 1 kB body of `/hello`: 1023 times `x` and a line feed.
pub const HELLO: &[u8] = &{
    let mut body = [b'x'; 1024];
    body[1023] = b'\n';
    body
};

/// The true times of a request in the server, told to the client in a `Server-Timing` header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    pub demand: Nanos,
    /// From arrival to completion.
    pub sojourn: Nanos,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Cow<'static, [u8]>,
}

impl Response {
    pub fn ok(content_type: &'static str, body: impl Into<Body>) -> Self {
        Self {
            status: 200,
            content_type,
            body: body.into().0,
        }
    }

    pub fn refusal(status: u16, message: impl Into<Body>) -> Self {
        Self {
            status,
            content_type: TEXT,
            body: message.into().0,
        }
    }

    /// Appends the response to `output`, without its body if the request was `HEAD`.
    pub fn encode(
        &self,
        method: Method,
        persistence: Persistence,
        timing: Option<Timing>,
        output: &mut Vec<u8>,
    ) {
        self.encode_head(persistence, timing, output)
            .expect("memory takes what is written to it");
        if method != Method::Head {
            output.extend_from_slice(&self.body);
        }
    }

    fn encode_head(
        &self,
        persistence: Persistence,
        timing: Option<Timing>,
        output: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        write!(
            output,
            "HTTP/1.1 {} {}\r\n",
            self.status,
            reason(self.status)
        )?;
        write!(
            output,
            "Content-Type: {}\r\nContent-Length: {}\r\n",
            self.content_type,
            self.body.len()
        )?;
        if self.status == 405 {
            write!(output, "Allow: GET, HEAD\r\n")?;
        }
        if self.status == 426 {
            output.extend_from_slice(
                b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n",
            );
        }
        output.extend_from_slice(persistence.header().as_bytes());
        if let Some(Timing { demand, sojourn }) = timing {
            let (demand, sojourn) = (milliseconds(demand), milliseconds(sojourn));
            write!(
                output,
                "Server-Timing: demand;dur={demand:.6}, sojourn;dur={sojourn:.6}\r\n"
            )?;
        }
        output.extend_from_slice(b"\r\n");
        Ok(())
    }
}

/// Anything that can be the body of a response.
pub struct Body(Cow<'static, [u8]>);

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text.into_bytes()))
    }
}

fn milliseconds(nanos: Nanos) -> f64 {
    nanos as f64 / 1e6
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_states_its_length_also_where_the_body_is_left_out() {
        let encoded = |method, persistence, timing| {
            let mut output = Vec::new();
            Response::ok(TEXT, "1936").encode(method, persistence, timing, &mut output);
            String::from_utf8(output).unwrap()
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n";
        assert_eq!(
            encoded(Method::Get, Persistence::Keep, None),
            format!("{head}\r\n1936")
        );
        assert_eq!(
            encoded(Method::Head, Persistence::Close, None),
            format!("{head}Connection: close\r\n\r\n")
        );
        let timing = Some(Timing {
            demand: 20_000,
            sojourn: 1_500_000_001,
        });
        assert!(encoded(Method::Get, Persistence::KeepAndSay, timing).contains(
            "Connection: keep-alive\r\nServer-Timing: demand;dur=0.020000, sojourn;dur=1500.000001\r\n"
        ));
    }
}
