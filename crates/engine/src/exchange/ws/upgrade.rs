//! How a connection becomes a WebSocket: RFC 6455, section 4.1.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::ReadBuf;

use crate::machine::tasks::Task;
use crate::net::buffers::WorkerBuffers;
use crate::net::dial::interrupt_failure;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::foreign;
use crate::protocol::h1::MAX_HEAD_BYTES;
use crate::protocol::h1::head::parse_response;
use crate::spec::{Match, MessageKind, RequestSpec, WebSocketSpec};
use crate::template::request::{EncodeError, Template, encode_request};

/// What is appended to the key (section 1.3).
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Names of headers that the handshake sets itself.
const OWN_HEADERS: [&str; 6] = [
    "connection",
    "upgrade",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
    "sec-websocket-accept",
];

/// How a WebSocket is opened and used, prepared once for a request.
#[derive(Debug)]
pub struct Upgrade {
    /// The request without its key.
    pub head: Template,
    /// Subprotocols that are offered.
    protocols: Vec<String>,
    /// The type of the message that is sent over it, if there is one.
    pub message: Option<MessageKind>,
    pub matched: Match,
    /// The interval between pings, if any are sent.
    pub ping_ns: Option<u64>,
}

impl Upgrade {
    /// `host_header` is the value of `Host`.
    pub fn new(
        spec: &RequestSpec,
        socket: &WebSocketSpec,
        host_header: &str,
    ) -> Result<Self, String> {
        for (name, _) in &spec.headers {
            if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(format!(
                    "header {name} belongs to the handshake of a WebSocket: leave it out"
                ));
            }
        }
        let offered = spec.headers.iter().filter(|(name, _)| is_protocol(name));
        let protocols = offered.flat_map(|(_, value)| value.split(','));
        let protocols = protocols.map(|name| name.trim().to_owned()).collect();
        let mut handshake = RequestSpec {
            body_base64: None,
            ..spec.clone()
        };
        if spec.fill.is_none() {
            handshake.params.clear(); // they belong to the message
        }
        handshake.headers.extend(
            [
                ("Connection", "Upgrade"),
                ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let head = encode_request(&handshake, host_header, true)
            .map_err(|error: EncodeError| error.to_string())?;
        Ok(Self {
            head,
            protocols,
            message: socket.message,
            matched: socket.matched.clone(),
            ping_ns: socket.ping_ns,
        })
    }

    /// Asks for the upgrade within the deadline that is set. Returns the bytes that came after the response.
    pub async fn shake_hands(
        &self,
        head: &[u8],
        transport: &mut Transport,
        buffers: &Rc<WorkerBuffers>,
        task: &Task,
    ) -> Result<Vec<u8>, Failure> {
        let key = STANDARD.encode(random::<16>());
        let request = [
            head.strip_suffix(b"\r\n").unwrap_or(head),
            b"Sec-WebSocket-Key: ".as_slice(),
            key.as_bytes(),
            b"\r\n\r\n",
        ];
        let request = request.concat();
        let (mut unsent, mut response) = (request.as_slice(), Vec::new());
        let handshake = pin!(poll_fn(|cx| {
            write(transport, &mut unsent, cx).map_err(|error| broken(&error))?;
            loop {
                if let Some(length) = self.read(&response, &key)? {
                    return Poll::Ready(Ok(response.split_off(length)));
                }
                let mut scratch = buffers.scratch.borrow_mut();
                let mut buffer = ReadBuf::new(&mut scratch);
                let read = ready!(transport.poll_read(cx, &mut buffer));
                read.map_err(|error| broken(&error))?;
                if buffer.filled().is_empty() {
                    return Poll::Ready(Err(unfinished()));
                }
                response.extend_from_slice(buffer.filled());
            }
        }));
        let answered = task.or_interrupt(handshake).await;
        answered.map_err(|interrupt| {
            let why = "the server did not answer the WebSocket handshake in time";
            interrupt_failure(interrupt, why)
        })?
    }

    /// The length of the response's head, and of interim ones before it, once it is complete. Fails unless the server
    /// agrees.
    fn read(&self, response: &[u8], key: &str) -> Result<Option<usize>, Failure> {
        let mut begin = 0;
        loop {
            if foreign::is_ambiguous(&response[begin..]) {
                return Ok(None);
            }
            let parsed = parse_response(&response[begin..], |length, head| {
                let agreed = match head.code {
                    Some(100 | 102..=199) => None,
                    status => Some(self.check(status.unwrap_or_default(), head.headers, key)),
                };
                (length, agreed)
            });
            let parsed = parsed.map_err(|error| {
                let why = match foreign::protocol(&response[begin..]) {
                    Some(name) => {
                        format!("the server answered in {name}: a WebSocket begins in HTTP/1.1")
                    }
                    None => format!("the response to the WebSocket handshake is not HTTP: {error}"),
                };
                Failure::new(Outcome::Malformed, why)
            })?;
            match parsed {
                None if response.len() < MAX_HEAD_BYTES => return Ok(None),
                None => {
                    let why = "the response to the WebSocket handshake has a head without end";
                    return Err(Failure::new(Outcome::TooLarge, why));
                }
                Some((length, None)) => begin += length,
                Some((length, Some(agreed))) => {
                    agreed.map_err(|why| Failure::new(Outcome::UpgradeRefused, why))?;
                    return Ok(Some(begin + length));
                }
            }
        }
    }

    /// Checks that the server agrees; the error says why not.
    fn check(
        &self,
        status: u16,
        headers: &[httparse::Header<'_>],
        key: &str,
    ) -> Result<(), String> {
        if status != 101 {
            return Err(format!(
                "the server answered the WebSocket handshake with status {status}, not with 101"
            ));
        }
        let values = |name: &'static str| {
            let named = headers
                .iter()
                .filter(move |h| h.name.eq_ignore_ascii_case(name));
            named.flat_map(|header| header.value.split(|byte| *byte == b','))
        };
        let says = |name, token: &[u8]| {
            values(name).any(|value| value.trim_ascii().eq_ignore_ascii_case(token))
        };
        if !says("upgrade", b"websocket") || !says("connection", b"upgrade") {
            return Err("the server changed to another protocol than WebSocket".to_owned());
        }
        let accept = values("sec-websocket-accept").map(<[u8]>::trim_ascii);
        if !accept.eq([accept_of(key).as_bytes()]) {
            return Err(
                "the response's Sec-WebSocket-Accept does not belong to the request's key"
                    .to_owned(),
            );
        }
        if let Some(extension) = values("sec-websocket-extensions").next() {
            let extension = extension.trim_ascii().escape_ascii();
            return Err(format!(
                "the server uses the extension {extension}, which was not offered"
            ));
        }
        for chosen in values("sec-websocket-protocol").map(<[u8]>::trim_ascii) {
            if !self.protocols.iter().any(|one| one.as_bytes() == chosen) {
                let chosen = chosen.escape_ascii();
                return Err(format!(
                    "the server chose the subprotocol {chosen}, which was not offered"
                ));
            }
        }
        Ok(())
    }
}

/// Bytes that a server cannot predict.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has random bytes");
    bytes
}

fn accept_of(key: &str) -> String {
    let text = [key.as_bytes(), MAGIC].concat();
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &text))
}

fn is_protocol(name: &str) -> bool {
    name.eq_ignore_ascii_case("sec-websocket-protocol")
}

fn unfinished() -> Failure {
    let why = "the server closed the connection during the WebSocket handshake";
    Failure::new(Outcome::ClosedEarly, why)
}

/// Writes what can be written now.
fn write(
    transport: &mut Transport,
    unsent: &mut &[u8],
    cx: &mut Context<'_>,
) -> Result<(), io::Error> {
    while !unsent.is_empty() {
        match transport.poll_write(cx, unsent) {
            Poll::Ready(written) => *unsent = &unsent[written?..],
            Poll::Pending => return Ok(()),
        }
    }
    match transport.poll_flush(cx) {
        Poll::Ready(flushed) => flushed,
        Poll::Pending => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    /// The example of section 1.3.
    const RIGHT: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

    fn upgrade(headers: &serde_json::Value) -> Result<Upgrade, String> {
        let spec =
            json!({"name": "r", "method": "GET", "path": "/chat?room=1", "headers": headers});
        let socket = WebSocketSpec {
            message: Some(MessageKind::Text),
            matched: Match::Order,
            ping_ns: None,
        };
        Upgrade::new(&serde_json::from_value(spec).unwrap(), &socket, "host:81")
    }

    fn read(response: &str) -> Result<Option<usize>, (Outcome, String)> {
        let upgrade = upgrade(&json!([["Sec-WebSocket-Protocol", "v1, v2"]])).unwrap();
        let read = upgrade.read(response.as_bytes(), KEY);
        read.map_err(|failure| (failure.outcome, failure.why))
    }

    #[test]
    fn the_request_asks_for_the_upgrade_and_keeps_the_plan_s_headers() {
        let upgrade = upgrade(&json!([["Authorization", "Bearer x"]])).unwrap();
        let head = upgrade.head.fixed().unwrap();
        let text = std::str::from_utf8(head).unwrap();
        assert!(text.starts_with("GET /chat?room=1 HTTP/1.1\r\nHost: host:81\r\n"));
        let end = "Authorization: Bearer x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\n\r\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn headers_of_the_handshake_are_not_for_the_plan() {
        let refused = upgrade(&json!([["sec-websocket-KEY", "x"]])).unwrap_err();
        assert!(
            refused.contains("header sec-websocket-KEY belongs to the handshake"),
            "{refused}"
        );
    }

    #[test]
    fn a_right_response_is_read_when_it_is_whole_and_what_follows_is_not() {
        let right = format!("{RIGHT}\r\n");
        for end in 0..right.len() {
            assert_eq!(read(&right[..end]), Ok(None));
        }
        assert_eq!(read(&format!("{right}\u{1}rest")), Ok(Some(right.len())));
        for interim in ["100 Continue", "103 Early Hints\r\nLink: x", "199 x"] {
            let hinted = format!("HTTP/1.1 {interim}\r\n\r\n{right}");
            assert_eq!(read(&hinted), Ok(Some(hinted.len())));
        }
        let folded = right.replace("Upgrade: ", "Upgrade:\r\n ");
        assert_eq!(read(&folded), Ok(Some(folded.len())));
        let chosen = format!("{RIGHT}Sec-WebSocket-Protocol: v2\r\n\r\n");
        assert_eq!(read(&chosen), Ok(Some(chosen.len())));
    }

    #[test]
    fn what_the_server_answers_instead_is_told() {
        let changed = |from: &str, to: &str| format!("{}\r\n", RIGHT.replace(from, to));
        let refused = Outcome::UpgradeRefused;
        for (response, outcome, why) in [
            (
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
                refused,
                "with status 404, not with 101",
            ),
            (changed("websocket", "h2c"), refused, "another protocol"),
            (
                changed("Connection: Upgrade", "Connection: close"),
                refused,
                "another protocol",
            ),
            (
                changed("s3pP", "s3pp"),
                refused,
                "Sec-WebSocket-Accept does not belong",
            ),
            (
                changed("Sec-WebSocket-Accept", "X"),
                refused,
                "Sec-WebSocket-Accept does not belong",
            ),
            (
                format!(
                    "{RIGHT}Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n\r\n"
                ),
                refused,
                "the extension permessage-deflate; server_no_context_takeover, which was not offered",
            ),
            (
                format!("{RIGHT}Sec-WebSocket-Protocol: v3\r\n\r\n"),
                refused,
                "the subprotocol v3, which was not offered",
            ),
            (
                "SSH-2.0-x\r\n".to_owned(),
                Outcome::Malformed,
                "is not HTTP",
            ),
            (
                "\0\0\0\x04\0\0\0\0\0".to_owned(),
                Outcome::Malformed,
                "the server answered in HTTP/2",
            ),
            (
                format!("HTTP/1.1 101 x\r\nA: {}", "b".repeat(MAX_HEAD_BYTES)),
                Outcome::TooLarge,
                "a head without end",
            ),
        ] {
            let (kind, text) = read(&response).unwrap_err();
            assert_eq!(kind, outcome, "{response}");
            assert!(text.contains(why), "{text}");
        }
    }
}
