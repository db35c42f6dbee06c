//! A WebSocket server with known responses: `/echo` sends every message back, `/push` sends messages on a stated
//! schedule (a [`Schedule`]).
//!
//! Parameters of `/echo`: `delay-ms=5` sends each message back after 5 ms. `noise=2` sends two other messages before
//! it. `ping=1` first sends a ping, and nothing more before its pong. `pong=0` leaves pings of the client unanswered.

mod frame;

use crate::connection::Connection;
use crate::events::{Next, Schedule};
use crate::http::{Request, RequestHead, Response};
use crate::routes::{parameter, path_and_query, real, whole};
use crate::site::Site;
use crate::timer::{Timer, monotonic};
use frame::{CLOSE, Frame, OpCode, PING, PONG, TEXT};
use jostle_discipline::Nanos;
use std::collections::VecDeque;
use std::io;
use std::io::Write;
use tungstenite::handshake::derive_accept_key;

const NORMAL: u16 = 1000;
const TOO_MUCH: u16 = 1008;
/// How many frames may come before a pong.
const MAX_WAITING: usize = 1000;
const MAX_MS: f64 = 600_000.0;
const MAX_NOISE: u64 = 1000;
const MILLISECOND: f64 = 1e6;

pub struct WebSocket;

/// What happens over a WebSocket, and the key of its handshake.
pub struct Conversation {
    key: String,
    what: What,
}

enum What {
    Echo(Echo),
    Push(Schedule),
}

struct Echo {
    delay: Nanos,
    noise: u64,
    ping: bool,
    pongs: bool,
}

impl Site for WebSocket {
    type Task = Result<Conversation, Response>;

    fn interpret(&self, request: &Request) -> Self::Task {
        let (path, query) = path_and_query(request.target);
        let what = match path {
            "/echo" => What::Echo(Echo::of(query)?),
            "/push" => What::Push(Schedule::of(query)?),
            _ => {
                return Err(Response::refusal(
                    404,
                    "there is no such page; ask for /echo or /push",
                ));
            }
        };
        let Some(key) = request.websocket else {
            return Err(Response::refusal(426, "this is for WebSocket clients"));
        };
        let key = key.to_owned();
        Ok(Conversation { key, what })
    }

    /// Ends with an error after a conversation, because the connection cannot be used for another request.
    async fn response(
        &self,
        task: Self::Task,
        head: RequestHead,
        connection: &mut Connection,
    ) -> io::Result<()> {
        match task {
            Ok(Conversation { key, what }) => {
                switch(&key, &mut connection.output);
                let code = match what {
                    What::Echo(echo) => echo.converse(connection).await?,
                    What::Push(schedule) => push(&schedule, connection).await?,
                };
                frame::write(CLOSE, &code.to_be_bytes(), &mut connection.output);
                connection.end().await?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Err(response) => {
                response.encode(head.method, head.persistence, None, &mut connection.output);
                Ok(())
            }
        }
    }
}

/// Appends the response to the handshake.
fn switch(key: &str, output: &mut Vec<u8>) {
    let accept = derive_accept_key(key.as_bytes());
    write!(
        output,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .expect("memory takes what is written to it");
}

/// A connection after the handshake.
struct Socket<'a> {
    connection: &'a mut Connection,
    responses_pings: bool,
    /// Whether the frames so far are the beginning of a message.
    in_parts: bool,
}

impl<'a> Socket<'a> {
    fn new(connection: &'a mut Connection, responses_pings: bool) -> Self {
        Self {
            connection,
            responses_pings,
            in_parts: false,
        }
    }

    /// Returns the next frame, or as the inner error the code to close with.
    async fn next(&mut self) -> io::Result<Result<Frame, u16>> {
        loop {
            match frame::parse(&self.connection.input) {
                Err(code) => return Ok(Err(code)),
                Ok(None) => {
                    if !self.connection.fill().await? {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Ok(Some((frame, length))) => {
                    self.connection.input.drain(..length);
                    match frame.opcode {
                        CLOSE => return Ok(Err(NORMAL)),
                        PING if self.responses_pings => self.write(PONG, &frame.payload),
                        PING => {}
                        PONG => return Ok(Ok(frame)),
                        _ if frame.continues() != self.in_parts => {
                            return Ok(Err(frame::PROTOCOL_ERROR));
                        }
                        _ => {
                            self.in_parts = !frame.last;
                            return Ok(Ok(frame));
                        }
                    }
                }
            }
        }
    }

    fn write(&mut self, opcode: OpCode, payload: &[u8]) {
        frame::write(opcode, payload, &mut self.connection.output);
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.connection.flush().await
    }
}

impl Echo {
    fn of(query: &str) -> Result<Self, Response> {
        let delay = parameter(query, "delay-ms").unwrap_or("0");
        let number = |name, usual, max| whole(name, parameter(query, name).unwrap_or(usual), max);
        Ok(Self {
            delay: (real("delay-ms", delay, MAX_MS)? * MILLISECOND) as Nanos,
            noise: number("noise", "0", MAX_NOISE)?,
            ping: number("ping", "0", 1)? == 1,
            pongs: number("pong", "1", 1)? == 1,
        })
    }

    /// Echoes until the client closes or breaks the rules; returns the code to close with.
    async fn converse(&self, connection: &mut Connection) -> io::Result<u16> {
        // A timer takes a file descriptor, which large numbers of idle clients cannot spare.
        let timer = (self.delay > 0).then(Timer::new).transpose()?;
        let mut socket = Socket::new(connection, self.pongs);
        let mut waiting = VecDeque::new();
        loop {
            let next = match waiting.pop_front() {
                Some(frame) => Ok(frame),
                None => socket.next().await?,
            };
            let frame = match next {
                Ok(frame) => frame,
                Err(code) => return Ok(code),
            };
            if frame.opcode == PONG {
                continue;
            }
            let received_at = timer.as_ref().map(Timer::now);
            if self.ping && !frame.continues() {
                socket.write(PING, b"?");
                if let Err(code) = pong(&mut socket, &mut waiting).await? {
                    return Ok(code);
                }
            }
            if let (Some(timer), Some(received_at)) = (&timer, received_at) {
                socket.flush().await?; // earlier responses do not wait for this one
                timer.set(Some(received_at + self.delay))?;
                timer.expired().await?;
            }
            let noise = if frame.continues() { 0 } else { self.noise };
            for number in 0..noise {
                let noise = format!("noise {number}");
                socket.write(TEXT, noise.as_bytes());
            }
            frame.write(&mut socket.connection.output);
        }
    }
}

/// Reads until the pong. What else comes before it is added to `waiting`. The inner error is the code to close with.
async fn pong(
    socket: &mut Socket<'_>,
    waiting: &mut VecDeque<Frame>,
) -> io::Result<Result<(), u16>> {
    loop {
        let frame = match socket.next().await? {
            Ok(frame) => frame,
            Err(code) => return Ok(Err(code)),
        };
        if frame.opcode == PONG {
            if frame.payload == b"?" {
                return Ok(Ok(()));
            }
            continue; // a client may send pongs that nobody asked for
        }
        waiting.push_back(frame);
        let bytes: usize = waiting.iter().map(|frame| frame.payload.len()).sum();
        if waiting.len() > MAX_WAITING || bytes as u64 > frame::MAX_BYTES {
            return Ok(Err(TOO_MUCH));
        }
    }
}

/// Pushes messages on schedule; returns the code to close with.
async fn push(schedule: &Schedule, connection: &mut Connection) -> io::Result<u16> {
    let timer = Timer::new()?;
    let began = monotonic();
    let mut socket = Socket::new(connection, true);
    for number in 0.. {
        let due = schedule.due(number);
        match schedule.after(number) {
            Next::Event => timer.set(Some(due))?,
            Next::Stall => timer.set(None)?,
            Next::Cut => return Err(io::ErrorKind::ConnectionAborted.into()),
            Next::End => break,
        }
        if let Some(code) = listen_until(&timer, &mut socket).await? {
            return Ok(code);
        }
        let data = schedule.data(number, began + due);
        socket.write(TEXT, data.as_bytes());
        socket.flush().await?;
    }
    if let Some(until) = &schedule.until {
        socket.write(TEXT, until.as_bytes());
    }
    Ok(NORMAL)
}

/// Reads and ignores what the client sends until the timer rings. Returns the code to close with if the client
/// closes or breaks the rules before that.
async fn listen_until(timer: &Timer, socket: &mut Socket<'_>) -> io::Result<Option<u16>> {
    socket.flush().await?;
    let rung = std::pin::pin!(timer.expired());
    let received = std::pin::pin!(async {
        loop {
            if let Err(code) = socket.next().await? {
                return io::Result::Ok(code);
            }
        }
    });
    tokio::select! {
        rung = rung => rung.map(|()| None),
        code = received => code.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard_is_accepted() {
        let mut output = Vec::new();
        switch("dGhlIHNhbXBsZSBub25jZQ==", &mut output);
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    }

    #[test]
    fn what_is_asked_for_is_understood_or_refused() {
        let echo = Echo::of("delay-ms=2.5&noise=3&ping=1").unwrap();
        assert_eq!((echo.delay, echo.noise, echo.ping), (2_500_000, 3, true));
        assert!(echo.pongs && !Echo::of("pong=0").unwrap().pongs);
        for wrong in ["delay-ms=-1", "noise=x", "ping=2", "pong=2"] {
            let refused = Echo::of(wrong).err().map(|response| response.status);
            assert_eq!(refused, Some(400), "{wrong}");
        }
    }

    /// A short frame as a server sends it.
    fn sent(first: u8, payload: &str) -> Vec<u8> {
        [&[first, payload.len() as u8], payload.as_bytes()].concat()
    }

    /// What `/echo` with this query sends to a client that has sent these frames, and the code that it closes with.
    fn echoed(query: &str, frames: &[(u8, &str)]) -> (Vec<u8>, u16) {
        let (inside, _outside) = tokio::io::duplex(1);
        let mut connection = Connection::in_process(inside, 0);
        for (first, payload) in frames {
            let head = [*first, 0x80 | payload.len() as u8, 0, 0, 0, 0];
            connection.input.extend_from_slice(&head);
            connection.input.extend_from_slice(payload.as_bytes());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let echo = Echo::of(query).unwrap();
        let code = runtime.unwrap().block_on(echo.converse(&mut connection));
        (connection.output, code.unwrap())
    }

    #[test]
    fn nothing_comes_between_the_frames_of_a_message_and_nothing_is_lost_before_a_pong() {
        let frames = [
            (0x01, "a"),
            (0x8A, "unasked"),
            (0x80, "b"),
            (0x8A, "?"),
            (0x88, ""),
        ];
        let (output, code) = echoed("ping=1&noise=1", &frames);
        let mut expected = Vec::new();
        for (first, payload) in [(0x89, "?"), (0x81, "noise 0"), (0x01, "a"), (0x80, "b")] {
            expected.extend(sent(first, payload));
        }
        assert_eq!((output, code), (expected, NORMAL));
    }

    #[test]
    fn a_message_has_a_beginning_and_ends_before_the_next_one() {
        for frames in [
            vec![(0x80, "a")],
            vec![(0x01, "a"), (0x81, "b")],
            vec![(0x01, "a"), (0x80, "b"), (0x00, "c")],
        ] {
            let (output, code) = echoed("", &frames);
            let mut expected = Vec::new();
            for (first, payload) in &frames[..frames.len() - 1] {
                expected.extend(sent(*first, payload));
            }
            assert_eq!((output, code), (expected, frame::PROTOCOL_ERROR));
        }
        let (output, code) = echoed("ping=1", &[(0x81, "a"), (0x80, "b")]);
        assert_eq!(
            (output, code),
            (b"\x89\x01?".to_vec(), frame::PROTOCOL_ERROR)
        );
    }

    #[test]
    fn what_waits_for_a_pong_is_limited() {
        let (output, code) = echoed("ping=1", &vec![(0x81, "a"); MAX_WAITING + 2]);
        assert_eq!((output, code), (b"\x89\x01?".to_vec(), TOO_MUCH));
    }
}
