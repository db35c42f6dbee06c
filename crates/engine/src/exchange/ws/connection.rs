//! A WebSocket that carries one message after another, each with its response.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::ReadBuf;

use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::request::{OutgoingRequest, Protocol};
use crate::exchange::ws::matcher::ResponseMatcher;
use crate::exchange::ws::pings::Pings;
use crate::exchange::ws::upgrade::{Upgrade, random};
use crate::machine::tasks::Task;
use crate::net::buffers::WorkerBuffers;
use crate::net::dial::Dialer;
use crate::net::failure::broken;
use crate::net::linger::linger;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::head::HeadValues;
use crate::protocol::ws::frame::{FrameDecoder, FrameStep, close_reason, encode, opcode};
use crate::schedule::random::Rng;
use crate::spec::{Match, MessageKind};
use crate::template::values::path_of;

/// The status that is recorded for every exchange: that of the upgrade.
pub const STATUS: u16 = 101;
/// "Normal closure", section 7.4.1.
const NORMAL: [u8; 2] = 1000_u16.to_be_bytes();
const GOING_AWAY: u16 = 1001;
/// Pings are not answered while this many bytes are in the send buffer. A server that pings faster than it reads need
/// not get a pong for each ping (section 5.5.3).
const MAX_UNSENT_BYTES: usize = 64 * 1024;
const CLOSED: &str = "the server closed the connection without closing the WebSocket";

pub struct WebSocketConnection {
    transport: Transport,
    buffers: Rc<WorkerBuffers>,
    decoder: FrameDecoder,
    /// Draws the masking keys. Not seeded from the run's seed, because the keys do not affect the load.
    keys: Rng,
    /// Bytes of a stream that came with the response to the handshake.
    early: Vec<u8>,
    /// The path of the upgrade, if it was for a step: a URL in a message may be relative to it.
    path: Box<[u8]>,
    /// Frames to be written. The buffer is borrowed from the worker while there are any.
    out: Vec<u8>,
    /// How many bytes of `out` have been written.
    written: usize,
    /// Whether a message that could be mistaken for a response came between exchanges.
    unasked: bool,
    /// How the connection ended between exchanges, if it did.
    ended: Option<Failure>,
    spent: bool,
    /// Boxed because most sockets have none.
    pings: Option<Box<Pings>>,
}

impl WebSocketConnection {
    /// Turns a connection into a WebSocket.
    pub async fn open(
        mut transport: Transport,
        dialer: &Dialer,
        outgoing: &mut OutgoingRequest<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Self, Failure> {
        let buffers = dialer.buffers.clone();
        let upgrade = upgrade_of(outgoing);
        let mut head = Vec::new();
        match upgrade.head.fixed() {
            Some(fixed) => head.extend_from_slice(fixed),
            None => outgoing
                .request
                .fill(&upgrade.head, outgoing, &mut head)
                .map_err(|why| Failure::new(Outcome::Unsendable, why))?,
        }
        observer.note_request(&head);
        let step = outgoing.source.is_some();
        let path: Option<Box<[u8]>> = step.then(|| path_of(&head).into());
        let early = upgrade
            .shake_hands(&head, &mut transport, &buffers, observer.task)
            .await?;
        let pings = upgrade.ping_ns.map(|every| {
            let (workload, request) = (observer.workload, observer.sample.request);
            let recorder = dialer.recorder.clone();
            Box::new(Pings::new(
                recorder,
                every,
                observer.task.now(),
                workload,
                request,
            ))
        });
        let mut connection = Self {
            transport,
            buffers,
            decoder: FrameDecoder::new(observer.limits.body),
            keys: Rng::new(u64::from_ne_bytes(random()), &[]),
            early: Vec::new(),
            path: path.unwrap_or_default(),
            out: Vec::new(),
            written: 0,
            unasked: false,
            ended: None,
            spent: false,
            pings,
        };
        if observer.request.stream.is_some() {
            connection.early = early;
        } else {
            connection.pass_over(&early, observer.task);
        }
        Ok(connection)
    }

    pub fn check_reusable(&mut self, task: &Task) -> Result<(), IdleEvent> {
        match self.poll_idle(task, &mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok(()),
            Poll::Ready(unasked) => Err(unasked),
        }
    }

    /// Answers pings, sends its own, and ignores messages. The next exchange reports a violation of the protocol.
    pub fn poll_idle(&mut self, task: &Task, cx: &mut Context<'_>) -> Poll<IdleEvent> {
        let buffers = self.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        while self.ended.is_none() {
            let mut buffer = ReadBuf::new(&mut scratch);
            match self.transport.poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.pass_over(buffer.filled(), task);
                }
                Poll::Ready(_) => {
                    self.ended = Some(Failure::new(Outcome::ClosedEarly, CLOSED));
                }
                Poll::Pending => break,
            }
        }
        if self.ended.is_none() {
            self.ended = self.ping(task).err();
        }
        // A failure to write is ignored: reading will show it.
        let _ = self.write(cx);
        match self.ended.as_ref().map(|ended| ended.outcome) {
            Some(Outcome::ClosedEarly) => Poll::Ready(IdleEvent::Closed),
            Some(Outcome::ResponseTimeout) => Poll::Ready(IdleEvent::PingTimeout),
            _ => Poll::Pending,
        }
    }

    /// Takes in what comes between exchanges, and ignores its messages.
    fn pass_over(&mut self, mut input: &[u8], task: &Task) {
        loop {
            match self.step(input, task) {
                Ok((_, FrameStep::NeedMore)) => return,
                Ok((used, step)) => {
                    if let FrameStep::Close(code) = step {
                        self.ended = Some(self.closed(code));
                        return;
                    }
                    self.unasked |= matches!(step, FrameStep::End(_));
                    input = &input[used..];
                }
                Err(failure) => {
                    self.ended = Some(failure);
                    return;
                }
            }
        }
    }

    pub fn is_spent(&self) -> bool {
        self.spent
    }

    pub async fn exchange(
        &mut self,
        mut outgoing: OutgoingRequest<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        self.spent = true;
        if let Some(failure) = self.ended.take() {
            return observer.failed(failure);
        }
        let upgrade = upgrade_of(&outgoing);
        let streams = outgoing.request.stream.is_some();
        let unasked = std::mem::take(&mut self.unasked);
        if unasked && upgrade.matched == Match::Order && !streams {
            observer.excess("a message came that answers none");
        }
        let buffers = self.buffers.clone();
        let mut filled = Vec::new();
        let payload = outgoing.bytes(&buffers, &mut filled);
        let prepared = payload.and_then(|payload| {
            let matcher = ResponseMatcher::new(&upgrade.matched, payload)?;
            Ok((payload, matcher))
        });
        let (payload, matcher) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                self.spent = outgoing.last_on_connection;
                return observer.failed(Failure::new(Outcome::Unsendable, why));
            }
        };
        observer.note_message(payload, &self.path);
        match upgrade.message {
            Some(MessageKind::Text) => self.queue(opcode::TEXT, payload),
            Some(MessageKind::Binary) => self.queue(opcode::BINARY, payload),
            None => {}
        }
        let begun = !streams && self.decoder.is_within_message();
        let mut exchange = WebSocketExchange {
            connection: self,
            observer,
            matcher,
            others: 0,
            begun_before: begun,
            sent: false,
            answered: false,
            broken: None,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let whole = exchange.sent && exchange.answered && exchange.broken.is_none();
        self.spent = !whole || outgoing.last_on_connection || self.ended.is_some();
        buffers.put_spare(filled);
        outcome
    }

    /// Sends a close frame, and lets the server close the connection.
    pub fn close(mut self, task: &Task) {
        let silent = self.pings.as_ref().is_some_and(|pings| pings.given_up);
        if silent || !self.out.is_empty() {
            return; // nobody listens, or frames are left that are partly written or no longer to be sent
        }
        self.queue(opcode::CLOSE, &NORMAL);
        let written = self.write(&mut Context::from_waker(Waker::noop()));
        if written.is_ok() {
            linger(self.transport, task, &self.buffers);
        }
    }

    /// Continues reading, and answers pings.
    fn step(&mut self, input: &[u8], task: &Task) -> Result<(usize, FrameStep), Failure> {
        let read = self.decoder.step(input);
        let (used, step) = read.map_err(|error| Failure::new(error.outcome(), error))?;
        if step == FrameStep::Ping && self.out.len() < MAX_UNSENT_BYTES {
            let key = self.begin_frame();
            encode(opcode::PONG, self.decoder.payload(), key, &mut self.out);
        }
        if let (FrameStep::Pong, Some(pings)) = (step, &mut self.pings) {
            pings.pong(self.decoder.payload(), task);
        }
        Ok((used, step))
    }

    /// Queues a ping if one is due. Fails if the one before got no response in time.
    fn ping(&mut self, task: &Task) -> Result<(), Failure> {
        let due = self.pings.as_mut().map(|pings| pings.poll(task));
        if let Some(payload) = due.transpose()?.flatten() {
            self.queue(opcode::PING, &payload);
        }
        Ok(())
    }

    /// The failure that the server has closed the WebSocket.
    fn closed(&self, code: Option<u16>) -> Failure {
        let why = match (code, close_reason(self.decoder.payload())) {
            (None, _) => "the server closed the WebSocket without a code".to_owned(),
            (Some(code), "") => format!("the server closed the WebSocket with code {code}"),
            (Some(code), reason) => {
                let reason = reason.escape_debug();
                format!("the server closed the WebSocket with code {code} ({reason})")
            }
        };
        Failure::new(Outcome::ClosedEarly, why)
    }

    fn queue(&mut self, opcode: u8, payload: &[u8]) {
        let key = self.begin_frame();
        encode(opcode, payload, key, &mut self.out);
    }

    /// Makes sure that there is a buffer; returns the frame's masking key.
    fn begin_frame(&mut self) -> [u8; 4] {
        if self.out.capacity() == 0 {
            self.out = self.buffers.take_spare();
        }
        (self.keys.below(1 << 32) as u32).to_ne_bytes()
    }

    /// Writes what can be written now; returns how many bytes that was.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<usize, Failure> {
        let before = self.written;
        while self.written < self.out.len() {
            match self.transport.poll_write(cx, &self.out[self.written..]) {
                Poll::Ready(Ok(written)) => self.written += written,
                Poll::Ready(Err(error)) => return Err(broken(&error)),
                Poll::Pending => return Ok(self.written - before),
            }
        }
        let written = self.written - before;
        if self.written > 0 {
            self.written = 0;
            self.buffers.put_spare(std::mem::take(&mut self.out));
        }
        match self.transport.poll_flush(cx) {
            Poll::Ready(Err(error)) => Err(broken(&error)),
            _ => Ok(written),
        }
    }
}

fn upgrade_of<'a>(outgoing: &OutgoingRequest<'a>) -> &'a Upgrade {
    match &outgoing.request.protocol {
        Protocol::WebSocket(upgrade) => upgrade,
        _ => unreachable!("only messages go over a WebSocket"),
    }
}

/// One message and its response.
struct WebSocketExchange<'a, 'w> {
    connection: &'a mut WebSocketConnection,
    observer: &'a mut ExchangeObserver<'w>,
    matcher: ResponseMatcher<'a>,
    /// How many messages were passed over.
    others: u64,
    /// Whether the message that is coming began before this exchange, so that it is not the response.
    begun_before: bool,
    /// Whether the message has been written.
    sent: bool,
    /// Whether its response is complete.
    answered: bool,
    /// Why writing failed, if it did. It is the failure of the exchange unless a response can be read all the same.
    broken: Option<Failure>,
}

impl WebSocketExchange<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.observer.begin_sending() {
            return Poll::Ready(outcome);
        }
        self.write(cx);
        let outcome = self.poll_response(cx);
        if outcome.is_ready() {
            self.write(cx);
            return outcome;
        }
        if let Err(silent) = self.connection.ping(self.observer.task) {
            return Poll::Ready(self.fail(silent));
        }
        // Writes the pings and pongs that were queued.
        self.write(cx);
        let interrupted = self.observer.task.poll_interrupt();
        interrupted.map(|_| self.timed_out())
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        let early = std::mem::take(&mut self.connection.early);
        if !early.is_empty()
            && let Some(outcome) = self.read(&early)
        {
            return Poll::Ready(outcome);
        }
        let buffers = self.connection.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(self.connection.transport.poll_read(cx, &mut buffer)) {
                Ok(()) if buffer.filled().is_empty() => {
                    self.observer.note_bytes(0);
                    return Poll::Ready(self.fail(Failure::new(Outcome::ClosedEarly, CLOSED)));
                }
                Ok(()) => {
                    if let Some(outcome) = self.read(buffer.filled()) {
                        return Poll::Ready(outcome);
                    }
                }
                Err(error) => return Poll::Ready(self.fail(broken(&error))),
            }
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        if self.broken.is_none() {
            match self.connection.write(cx) {
                Ok(written) => self.observer.note_written(written),
                Err(failure) => self.broken = Some(failure),
            }
        }
        self.sent |= self.connection.out.is_empty();
    }

    /// Takes in what has come; returns the outcome if the exchange ends with it.
    fn read(&mut self, mut input: &[u8]) -> Option<Outcome> {
        self.observer.note_bytes(input.len());
        loop {
            let (used, step) = match self.connection.step(input, self.observer.task) {
                Ok(result) => result,
                Err(failure) => return Some(self.fail(failure)),
            };
            match step {
                FrameStep::NeedMore => return None,
                FrameStep::Data(length) if !self.begun_before => {
                    self.take(&input[used - length..used]);
                }
                FrameStep::End(_) if self.begun_before => self.begun_before = false,
                FrameStep::End(_) => {
                    if self.end_message() {
                        self.answered = true;
                        self.connection
                            .pass_over(&input[used..], self.observer.task);
                        return Some(self.observer.complete());
                    }
                }
                FrameStep::Close(code) => return Some(self.closed(code)),
                FrameStep::Data(_) | FrameStep::Ping | FrameStep::Pong => {}
            }
            input = &input[used..];
        }
    }

    /// Takes in a piece of a message.
    fn take(&mut self, data: &[u8]) {
        if let ResponseMatcher::Next = self.matcher {
            self.begin();
            self.observer.body(data);
        } else {
            self.matcher.feed(data);
        }
    }

    /// A message is complete. Returns true if that completes the response.
    fn end_message(&mut self) -> bool {
        if let ResponseMatcher::Next = self.matcher {
            self.begin();
            return self.observer.message();
        }
        let response = self.matcher.end();
        if let Some(message) = &response {
            self.begin();
            self.observer.body(message);
        } else {
            self.others += 1;
        }
        response.is_some()
    }

    /// Notes that the response has begun, unless that was done already.
    fn begin(&mut self) {
        if self.observer.sample.headers.is_none() {
            self.observer.head(STATUS, HeadValues::default(), None);
        }
    }

    /// The server has closed the WebSocket, which may be the regular end of a stream.
    fn closed(&mut self, code: Option<u16>) -> Outcome {
        let in_order = code.is_none_or(|code| code <= GOING_AWAY);
        if in_order && self.observer.request.stream.is_some() {
            self.begin();
            return self.observer.complete();
        }
        let failure = self.connection.closed(code);
        self.observer.failed(failure)
    }

    fn fail(&mut self, failure: Failure) -> Outcome {
        let failure = self.broken.take().unwrap_or(failure);
        self.observer.failed(failure)
    }

    fn timed_out(&mut self) -> Outcome {
        let outcome = self.observer.timed_out();
        let silent = outcome == Outcome::ResponseTimeout && self.observer.sample.headers.is_none();
        let nothing = silent.then(|| "no byte of the response came in time".to_owned());
        match self.matcher.missed(self.others).or(nothing) {
            Some(why) => self.observer.failed(Failure::new(outcome, why)),
            None => outcome,
        }
    }
}
