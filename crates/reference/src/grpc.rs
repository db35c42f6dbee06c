//! A gRPC server with known responses, for messages of any type: it sends back what it received. The metadata of a call
//! says how: `schedule` (a query like that of `/events`), `delay-ms`, and `status` with `reason`.
//!
//! `jostle.Echo/Say` answers with the message, `Repeat` with the message on a schedule, `Collect` with the last message
//! of a stream, `Talk` with each message of a stream as it comes. `echo.proto` describes it.

use crate::connection::Connection;
use crate::events::{Next, Schedule};
use crate::http2::{self, Begun};
use crate::routes::MILLISECOND;
use crate::timer::Timer;
use bytes::{Buf, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use std::fmt::Write;
use std::io;
use tokio::task::spawn_local;

const PREFIX_BYTES: usize = 5;
/// The longest delay, so that the timer can add it to its own time.
const MAX_NS: u64 = u64::MAX / 2;
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
const STREAMS: u32 = 1024;
const OK: u16 = 0;
const INVALID_ARGUMENT: u16 = 3;
const UNIMPLEMENTED: u16 = 12;

/// How a call ends: its status, and why.
type End = (u16, String);

/// Answers the calls of one connection concurrently, until either side ends it.
pub async fn converse(connection: Connection) -> io::Result<()> {
    let handshake = h2::server::Builder::new()
        .max_concurrent_streams(STREAMS)
        .handshake::<_, Bytes>(Begun::new(connection));
    let mut calls = handshake.await.map_err(io::Error::other)?;
    while let Some(call) = calls.accept().await {
        let (request, respond) = call.map_err(io::Error::other)?;
        spawn_local(async move {
            let _ = response(request, respond).await; // fails if the client has gone
        });
    }
    Ok(())
}

async fn response(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> io::Result<()> {
    let (head, body) = request.into_parts();
    let kind = head.headers.get("content-type");
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/grpc")) {
        let refusal = Response::builder().status(415).body(());
        let refusal = refusal.map_err(io::Error::other)?;
        let sent = respond.send_response(refusal, true);
        return sent.map(|_| ()).map_err(io::Error::other);
    }
    let begun = Response::builder()
        .header("content-type", "application/grpc")
        .body(());
    let begun = begun.map_err(io::Error::other)?;
    let stream = respond.send_response(begun, false);
    let mut call = Call {
        metadata: head.headers,
        messages: Messages {
            body,
            input: BytesMut::new(),
        },
        response: stream.map_err(io::Error::other)?,
    };
    let (status, why) = match call.perform(head.uri.path()).await {
        Ok(()) => (OK, String::new()),
        Err(Failure::Ended(end)) => end,
        Err(Failure::Lost(error)) => return Err(error),
    };
    call.end(status, &why)
}

enum Failure {
    Ended(End),
    Lost(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

struct Call {
    metadata: HeaderMap,
    messages: Messages,
    response: SendStream<Bytes>,
}

impl Call {
    async fn perform(&mut self, path: &str) -> Result<(), Failure> {
        if let Some(delay) = self.number("delay-ms")? {
            let timer = Timer::new()?;
            let delay = delay.saturating_mul(MILLISECOND);
            timer.set(Some(delay.min(MAX_NS)))?;
            timer.expired().await?;
        }
        if let Some(status) = self.number("status")? {
            let reason = self.text("reason").unwrap_or_default().to_owned();
            let status = u16::try_from(status).map_err(|_| wrong("status"))?;
            return Err(Failure::Ended((status, reason)));
        }
        match path {
            "/jostle.Echo/Say" => {
                let message = self.messages.next().await?.unwrap_or_default();
                self.say(&message).await?;
            }
            "/jostle.Echo/Repeat" => self.repeat().await?,
            "/jostle.Echo/Collect" => {
                let mut last = Bytes::new();
                while let Some(message) = self.messages.next().await? {
                    last = message;
                }
                self.say(&last).await?;
            }
            "/jostle.Echo/Talk" => {
                while let Some(message) = self.messages.next().await? {
                    self.say(&message).await?;
                }
            }
            _ => return Err(Failure::Ended((UNIMPLEMENTED, "no such method".into()))),
        }
        Ok(())
    }

    async fn repeat(&mut self) -> Result<(), Failure> {
        let timer = Timer::new()?;
        let schedule = Schedule::of(self.text("schedule").unwrap_or_default());
        let schedule = schedule.map_err(|_| wrong("schedule"))?;
        let message = self.messages.next().await?.unwrap_or_default();
        for number in 0.. {
            match schedule.after(number) {
                Next::Event => {}
                Next::Stall => std::future::pending().await,
                Next::Cut => {
                    return Err(Failure::Lost(io::ErrorKind::ConnectionAborted.into()));
                }
                Next::End => break,
            }
            timer.set(Some(schedule.due(number)))?;
            timer.expired().await?;
            self.say(&message).await?;
        }
        Ok(())
    }

    async fn say(&mut self, message: &[u8]) -> io::Result<()> {
        let mut frame = BytesMut::with_capacity(PREFIX_BYTES + message.len());
        frame.extend_from_slice(&[0]);
        frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
        frame.extend_from_slice(message);
        http2::send(&mut self.response, frame.freeze(), false).await
    }

    fn end(&mut self, status: u16, why: &str) -> io::Result<()> {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.into());
        if !why.is_empty() {
            let why = HeaderValue::try_from(percent_encoded(why)).map_err(io::Error::other)?;
            trailers.insert("grpc-message", why);
        }
        self.response
            .send_trailers(trailers)
            .map_err(io::Error::other)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.metadata.get(name)?.to_str().ok()
    }

    fn number(&self, name: &'static str) -> Result<Option<u64>, Failure> {
        let number = self.text(name).map(str::parse).transpose();
        number.map_err(|_| wrong(name))
    }
}

fn wrong(name: &str) -> Failure {
    Failure::Ended((INVALID_ARGUMENT, format!("cannot understand {name}")))
}

/// The form that gRPC requires of a message in trailers.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            _ => write!(encoded, "%{byte:02X}").expect("memory takes what is written to it"),
        }
    }
    encoded
}

/// The messages of a call, in order.
struct Messages {
    body: RecvStream,
    input: BytesMut,
}

impl Messages {
    /// Returns the next message; `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            if let Some(prefix) = self.input.first_chunk::<PREFIX_BYTES>() {
                let [compressed, length @ ..] = *prefix;
                if compressed != 0 {
                    let why = "compressed messages are not understood here";
                    return Err(Failure::Ended((UNIMPLEMENTED, why.into())));
                }
                let length = u32::from_be_bytes(length) as usize;
                if length > MAX_MESSAGE_BYTES {
                    return Err(Failure::Lost(io::ErrorKind::InvalidData.into()));
                }
                if self.input.len() >= PREFIX_BYTES + length {
                    self.input.advance(PREFIX_BYTES);
                    return Ok(Some(self.input.split_to(length).freeze()));
                }
            }
            let Some(piece) = self.body.data().await else {
                return Ok(None);
            };
            let piece = piece.map_err(io::Error::other)?;
            let released = self.body.flow_control().release_capacity(piece.len());
            released.map_err(io::Error::other)?;
            self.input.extend_from_slice(&piece);
        }
    }
}
