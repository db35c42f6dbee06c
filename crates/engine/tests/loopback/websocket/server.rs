//! A peer of a WebSocket made by hand, and runs of ten messages to it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

pub const TEXT: u8 = 0x81;
pub const CLOSE: u8 = 0x88;
pub const PING: u8 = 0x89;
pub const PONG: u8 = 0x8A;

pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ ..126 => frame.push(short as u8),
        medium => {
            frame.push(126);
            frame.extend_from_slice(&(medium as u16).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

/// The response to a handshake.
pub fn switching(request: &str) -> String {
    let key = request
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let key = key.expect("a handshake has a key").to_owned();
    let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let accept = STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// Takes a handshake; `None` when the client has closed.
pub async fn upgrade(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    let response = switching(&String::from_utf8(request).unwrap());
    stream.write_all(response.as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

/// A client's frame: its first byte and what it carries, which has at most 125 bytes here.
pub async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 6];
    stream.read_exact(&mut head).await.ok()?;
    assert!(head[1] & 0x80 != 0, "a client masks what it sends");
    let mut payload = vec![0; usize::from(head[1] & 0x7F)];
    stream.read_exact(&mut payload).await.ok()?;
    for (byte, key) in payload.iter_mut().zip(head[2..].iter().cycle()) {
        *byte ^= key;
    }
    Some((head[0], payload))
}

/// A server that does `response` with each message.
pub fn answering_messages<F, Fut>(response: F) -> SocketAddr
where
    F: Fn(TcpStream, Vec<u8>) -> Fut + Send + Clone + 'static,
    Fut: Future<Output = Option<TcpStream>> + 'static,
{
    serve(move |mut stream| {
        let response = response.clone();
        async move {
            if upgrade(&mut stream).await.is_none() {
                return;
            }
            while let Some((first, message)) = read_frame(&mut stream).await {
                if first == CLOSE {
                    stream.write_all(&frame(CLOSE, &message)).await.ok();
                    return;
                }
                match response(stream, message).await {
                    Some(back) => stream = back,
                    None => return,
                }
            }
        }
    })
}

/// Answers every message with these bytes.
pub fn saying(bytes: Vec<u8>) -> SocketAddr {
    answering_messages(move |mut stream, _| {
        let bytes = bytes.clone();
        async move {
            stream.write_all(&bytes).await.ok()?;
            Some(stream)
        }
    })
}

/// A run of ten messages "hello" by two clients; `request` says what else is said of them.
pub fn ten(address: SocketAddr, request: Value) -> Value {
    let load = json!({"closed": {"clients": 2, "requests": 10}});
    let spec = one(workload(address, load), 0);
    let hello = json!({"websocket": {"message": "text"}, "body_base64": "aGVsbG8="});
    with(
        with(spec, "/workloads/0/requests/0", hello),
        "/workloads/0/requests/0",
        request,
    )
}

pub fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 10)])
}

pub fn why(seen: &Seen) -> String {
    let failures = seen.failures();
    failures
        .into_keys()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join("; ")
}
