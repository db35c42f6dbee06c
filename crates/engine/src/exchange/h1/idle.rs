//! What a server sends on a connection that no request is using.

use crate::exchange::idle_event::IdleEvent;
use crate::protocol::h1::response::{ResponseDecoder, ResponseStep};

/// Why a request met the end of its connection (RFC 9110 section 15.5.9).
pub const TIMED_OUT: &str = "408 on an idle connection: its idle limit is shorter than the pause";

/// How a body in chunks ends. Some servers send it, as all of the body, after responses that have none.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// The response after which a connection is idle.
#[derive(Debug, Default, Clone, Copy)]
pub struct PrecedingResponse {
    pub head_request: bool,
    pub status: u16,
}

impl PrecedingResponse {
    /// What follows the response, without the end of an empty body that it cannot have. That does no harm.
    pub fn strip(self, bytes: &[u8]) -> &[u8] {
        let bodiless = self.head_request || matches!(self.status, 204 | 304);
        match bytes.strip_prefix(LAST_CHUNK) {
            Some(rest) if bodiless => rest,
            _ => bytes,
        }
    }

    /// Describes bytes that follow the response and belong to none.
    pub fn excess(self) -> &'static str {
        match self.status {
            _ if self.head_request => {
                "a response to HEAD was followed by bytes, as if it had a body"
            }
            204 => "a 204 has no body; bytes followed",
            304 => "a 304 has no body; bytes followed",
            _ => "a whole response was followed by bytes that belong to none",
        }
    }
}

/// What `bytes` that came after a response mean.
pub fn idle_event(bytes: &[u8], before: PrecedingResponse) -> IdleEvent {
    let mut decoder = ResponseDecoder::default();
    decoder.begin(false);
    match decoder.step(bytes) {
        Ok((_, ResponseStep::Head { status, closes, .. })) if closes || status == 408 => {
            IdleEvent::Dismissed(status)
        }
        _ => IdleEvent::UnexpectedData(before.excess()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: PrecedingResponse = PrecedingResponse {
        head_request: false,
        status: 200,
    };

    #[test]
    fn a_final_response_that_closes_the_connection_dismisses_the_client() {
        for (bytes, status) in [
            (
                "HTTP/1.0 408 Request Time-out\r\nConnection: close\r\n\r\n<html>",
                408,
            ),
            (
                "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
                408,
            ),
            (
                "HTTP/1.1 503 Gone\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
                503,
            ),
        ] {
            assert_eq!(
                idle_event(bytes.as_bytes(), GET),
                IdleEvent::Dismissed(status)
            );
        }
        for bytes in [
            "junk",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "0\r\n\r\n",
        ] {
            assert_eq!(
                idle_event(bytes.as_bytes(), GET),
                IdleEvent::UnexpectedData(GET.excess())
            );
        }
    }

    #[test]
    fn an_empty_body_after_a_response_without_one_does_no_harm() {
        for (head_request, status) in [(false, 204), (false, 304), (true, 200)] {
            let before = PrecedingResponse {
                head_request,
                status,
            };
            assert_eq!(before.strip(b"0\r\n\r\n"), b"");
            assert_eq!(before.strip(b"0\r\n\r\nHTTP/"), b"HTTP/");
            assert_eq!(before.strip(b"hello"), b"hello");
            assert!(before.excess().contains("body"));
        }
        assert_eq!(GET.strip(b"0\r\n\r\n"), b"0\r\n\r\n");
    }
}
