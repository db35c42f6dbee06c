//! One client's streams, one after another.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::exchange::destination::Destination;
use crate::exchange::grpc;
use crate::exchange::grpc::method::Method;
use crate::exchange::grpc::pace::Pace;
use crate::exchange::h2::failure::reset;
use crate::exchange::h2::history::Entry;
use crate::exchange::h2::multiplexed::{MultiplexedConnection, NoStream};
use crate::exchange::h2::pool::{Member, OneConnection, Pool};
use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::{ExchangeObserver, UNENDED};
use crate::exchange::request::OutgoingRequest;
use crate::net::buffers::WorkerBuffers;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::response::ONLY_INTERIM;
use crate::protocol::h2::hpack::Fields;
use crate::protocol::h2::message::{Form, encode};
use crate::protocol::h2::reason::Reason;
use crate::protocol::h2::response_head::{HeadNeeds, ResponseHead, is_too_early, malformed};
use crate::protocol::h2::stream::{Stream, StreamEvent};
use crate::record::head_of_line::HeadOfLine;

/// A client's use of a connection. The connection is closed when the last of them is dropped.
pub struct H2Connection {
    connection: Rc<MultiplexedConnection>,
    /// Its slot in the pool; `None` if the connection does not come from a pool.
    member: Option<Member>,
    /// Whether several clients share the connection.
    shared: bool,
    stream: Rc<Stream>,
    buffers: Rc<WorkerBuffers>,
    tls: bool,
    /// Whether it has carried the last request that was meant for it.
    spent: bool,
}

impl H2Connection {
    /// Opens a connection. `one` is the one for all requests of a client that sends several at the same time.
    pub async fn open(
        to: &mut Destination<'_>,
        pool: &Rc<Pool>,
        one: Option<&OneConnection>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Self, Failure> {
        let shared = to.target.shares_connections();
        let member = match one {
            Some(one) => Some(one.take_slot()),
            None => shared.then(|| pool.take_slot(None)),
        };
        Ok(Self {
            connection: connect(member.as_ref(), to, observer).await?,
            member,
            shared,
            stream: Rc::default(),
            buffers: to.dialer.buffers.clone(),
            tls: to.target.tls.is_some(),
            spent: false,
        })
    }

    pub fn check_reusable(&self) -> Result<(), IdleEvent> {
        if self.connection.takes_more() {
            return Ok(());
        }
        Err(IdleEvent::Closed)
    }

    pub fn is_spent(&self) -> bool {
        self.spent || self.connection.has_ended()
    }

    pub async fn exchange(
        &mut self,
        mut outgoing: OutgoingRequest<'_>,
        to: &mut Destination<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        let template = outgoing.template;
        let method = outgoing.request.grpc();
        let mut filled = Vec::new();
        let buffers = self.buffers.clone();
        let request = match outgoing.bytes(&buffers, &mut filled) {
            Ok(request) => request,
            Err(why) => {
                buffers.put_spare(filled);
                return observer.failed(Failure::new(Outcome::Unsendable, why));
            }
        };
        if observer.transcript.is_some() {
            let shown = method.map(|method| method.shown(request));
            observer.note_request(&as_shown(shown.as_deref().unwrap_or(request)));
        } else {
            observer.note_request(request);
        }
        let form = Form {
            tls: self.tls,
            call: method.is_some(),
        };
        let mut block = buffers.take_spare();
        let outcome = match encode(request, form, &mut block) {
            Ok(body) => {
                let encoded = EncodedRequest {
                    block: &block,
                    body,
                    is_head: template.is_head(),
                };
                let outcome = self.send_with_retry(&encoded, method, to, observer).await;
                observer.note_whole_request(request);
                self.spent = outgoing.last_on_connection;
                outcome
            }
            Err(why) => observer.failed(Failure::new(Outcome::Unsendable, why)),
        };
        buffers.put_spare(block);
        buffers.put_spare(filled);
        outcome
    }

    /// Makes the request, on another connection if this one has not processed it (RFC 9113 section 8.7).
    ///
    /// That is done once, and as often as a connection ends that has carried exchanges: then each of them is an
    /// ordinary one, as in front of a server that closes its connections after some requests. From the first refusal on
    /// it may take no longer than a response.
    async fn send_with_retry(
        &mut self,
        encoded: &EncodedRequest<'_>,
        method: Option<&Method>,
        to: &mut Destination<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        let mut first_refusal = None;
        loop {
            let entry = self.add_to_history(observer);
            let answered = self.attempt(entry, encoded, method, observer).await;
            if let (Some(entry), Some(member)) = (entry, &self.member) {
                remember(entry, &self.connection, member, observer);
            }
            let refused = match answered {
                Ok(outcome) => return outcome,
                Err(refused) => refused,
            };
            let over = !self.connection.takes_more();
            let ordinary = over && self.connection.has_carried();
            let now = observer.task.now();
            let goes_on = |first: u64| ordinary && now < first.saturating_add(observer.total_ns());
            if !first_refusal.is_none_or(goes_on) {
                return refused.fail(observer);
            }
            first_refusal.get_or_insert(now);
            if over {
                match connect(self.member.as_ref(), to, observer).await {
                    Ok(connection) => self.connection = connection,
                    Err(failure) => {
                        return Refused { failure, ..refused }.fail(observer);
                    }
                }
            }
        }
    }

    /// Makes the request on the connection; fails if the server has not processed it.
    async fn attempt(
        &self,
        entry: Option<Entry>,
        encoded: &EncodedRequest<'_>,
        method: Option<&Method>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Outcome, Refused> {
        let _permit = match self.connection.stream(entry, observer).await {
            Ok(place) => place,
            Err(NoStream::Over(outcome)) => return Ok(outcome),
            Err(NoStream::Refused(failure)) => {
                let unanswered = 0;
                return Err(Refused {
                    failure,
                    unanswered,
                });
            }
        };
        let call = method.map(|method| grpc::GrpcResponse::new(method, observer));
        let pace = method.and_then(|method| method.pace(observer.sample.intended));
        self.stream.sent.set(None);
        let mut exchange = H2Exchange {
            connection: &self.connection,
            stream: &self.stream,
            observer,
            entry,
            id: None,
            unsent: encoded.body,
            pace,
            encoded,
            begun: false,
            length: None,
            body_bytes: 0,
            call,
        };
        let answered = poll_fn(|cx| exchange.poll(cx)).await;
        let unanswered = exchange.unanswered();
        drop(exchange);
        // Discards what the exchange has not read.
        self.stream.take();
        match answered {
            Ok(outcome) => {
                observer.unanswered(unanswered);
                self.connection.carried();
                Ok(outcome)
            }
            Err(failure) => Err(Refused {
                failure,
                unanswered,
            }),
        }
    }

    /// Adds a stream to the history of a shared connection. Streams of events are left out: they stay open, so nobody
    /// waits for their end.
    fn add_to_history(&self, observer: &ExchangeObserver<'_>) -> Option<Entry> {
        let shared = self.shared && observer.request.stream.is_none();
        let request = observer.sample.request as u32;
        shared.then(|| self.connection.history().begin(request))
    }
}

/// Returns the connection of the member's place, or opens one for a single client.
async fn connect(
    member: Option<&Member>,
    to: &mut Destination<'_>,
    observer: &mut ExchangeObserver<'_>,
) -> Result<Rc<MultiplexedConnection>, Failure> {
    match member {
        Some(member) => member.connect(to, observer).await,
        None => MultiplexedConnection::open(to, observer, true).await,
    }
}

/// Records what a stream that has ended waited for, if it did.
fn remember(
    entry: Entry,
    connection: &MultiplexedConnection,
    member: &Member,
    observer: &ExchangeObserver<'_>,
) {
    let sample = &observer.sample;
    let end_ns = if sample.end > 0 {
        sample.end
    } else {
        observer.task.now()
    };
    let answered = sample.headers.is_some();
    let ended = connection
        .history()
        .end(entry, answered, end_ns, sample.bytes_in);
    let Some(wait) = ended.filter(|_| observer.task.running(end_ns)) else {
        return;
    };
    let (workload, place) = (sample.workload, member.slot() as u32);
    let number = connection.history().connection;
    let line = |wait| HeadOfLine {
        workload: workload as u32,
        connection: place,
        wait,
        streams: connection.history().around(&wait),
        elsewhere: member.elsewhere(wait),
    };
    let mut recorder = observer.recorder.borrow_mut();
    recorder.blocked(workload, number, wait, line);
}

/// The request as it is shown to people, with the protocol that is really spoken in its first line.
fn as_shown(request: &[u8]) -> Vec<u8> {
    let line = memchr::memchr(b'\r', request).unwrap_or(request.len());
    let (line, rest) = request.split_at(line);
    let line = line.strip_suffix(b"HTTP/1.1").unwrap_or(line);
    [line, b"HTTP/2", rest].concat()
}

/// A request that the server has not processed.
struct Refused {
    failure: Failure,
    /// How many of its messages were due.
    unanswered: u64,
}

impl Refused {
    /// Ends the request, which is not sent again.
    fn fail(self, observer: &mut ExchangeObserver<'_>) -> Outcome {
        observer.unanswered(self.unanswered);
        observer.failed(self.failure)
    }
}

/// A request as it is sent.
struct EncodedRequest<'a> {
    block: &'a [u8],
    body: &'a [u8],
    is_head: bool,
}

/// One request and its response on a stream.
struct H2Exchange<'a, 'w> {
    connection: &'a MultiplexedConnection,
    stream: &'a Rc<Stream>,
    observer: &'a mut ExchangeObserver<'w>,
    /// Its entry in the history of a shared connection.
    entry: Option<Entry>,
    /// The stream's number, once the request's head has been sent.
    id: Option<u32>,
    encoded: &'a EncodedRequest<'a>,
    /// What is left of the request's body.
    unsent: &'a [u8],
    /// When its messages are due, if it is not sent all at once.
    pace: Option<Pace>,
    /// Whether the head of the response has come.
    begun: bool,
    /// The length of the response's body, if the head states it.
    length: Option<u64>,
    body_bytes: u64,
    /// The response of a call of gRPC.
    call: Option<grpc::GrpcResponse<'a>>,
}

impl H2Exchange<'_, '_> {
    /// Fails if the server has not processed the request.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, Failure>> {
        if self.id.is_some() {
            self.note_sent();
            if self.observer.task.stopping() {
                return Poll::Ready(Ok(self.observer.sample.given_up()));
            }
        } else {
            match self.observer.wait_until_due() {
                Err(outcome) => return Poll::Ready(Ok(outcome)),
                Ok(now) if self.connection.is_own() => {
                    self.stream.sent.set(Some(now));
                    self.observer.note_sent(now);
                }
                Ok(_) => {}
            }
        }
        self.stream.set_waker(cx);
        self.send();
        let inbox = self.stream.take();
        let mut rest = &inbox.bytes[..];
        let mut outcome = None;
        for (at, wire, event) in &inbox.events {
            if let Some(failure) = self.refused(*event) {
                return Poll::Ready(Err(failure));
            }
            if is_too_early(*event, *at, self.stream.sent.get()) {
                let what = "it came before its request had left";
                outcome = Some(self.observer.failed(malformed(what)));
                break;
            }
            self.observer.note_bytes_at(*wire, *at);
            outcome = self.take_in(*event, &mut rest);
            if outcome.is_some() {
                break;
            }
        }
        self.stream.put_back(inbox);
        if let Some(outcome) = outcome {
            return Poll::Ready(Ok(outcome));
        }
        let answered = self.observer.sample.bytes_in > 0;
        if let Some(failure) = self.connection.failure(answered) {
            return Poll::Ready(if self.stream.sent.get().is_some() {
                Ok(self.observer.failed(failure))
            } else {
                Err(failure)
            });
        }
        let unended = if self.begun { UNENDED } else { ONLY_INTERIM };
        let interrupted = self.observer.task.poll_interrupt();
        interrupted.map(|_| Ok(self.observer.timed_out_within(unended)))
    }

    /// Notes when the request left, if it left since it was handed over.
    fn note_sent(&mut self) {
        if self.observer.sample.sent.is_none()
            && let Some(at) = self.stream.sent.get()
        {
            self.observer.note_sent_at(at);
        }
    }

    /// Why the server has not processed the request, if it says so, gracefully, before any other word of it.
    fn refused(&self, event: StreamEvent) -> Option<Failure> {
        match event {
            _ if self.observer.sample.bytes_in > 0 => None,
            StreamEvent::Refused => {
                Some(self.connection.refusal()).filter(|why| why.outcome == Outcome::Stale)
            }
            StreamEvent::Reset(Reason::REFUSED_STREAM) => {
                Some(reset(Reason::REFUSED_STREAM, 0, None))
            }
            _ => None,
        }
    }

    /// Sends what goes through now. If the body does not go through at all, that is no error: the response will tell
    /// why.
    fn send(&mut self) {
        let id = *self.id.get_or_insert_with(|| {
            let bodiless = self.unsent.is_empty();
            let (id, wire) = self.connection.send_head(
                self.stream,
                self.encoded.block,
                bodiless,
                self.entry,
                self.observer.sample,
            );
            self.observer.note_written(wire);
            id
        });
        let later = self.later();
        // What is written at once makes room for more.
        while self.unsent.len() > later {
            let due = &self.unsent[..self.unsent.len() - later];
            let (sent, wire) = self.connection.send(id, due, later == 0);
            self.unsent = &self.unsent[sent..];
            self.observer.note_written(wire);
            if sent == 0 {
                break;
            }
        }
    }

    /// How many bytes of the body are not due yet.
    fn later(&mut self) -> usize {
        let body = self.encoded.body;
        let Some(pace) = &mut self.pace else {
            return 0;
        };
        let later = body.len() - pace.advance(body, self.observer.task.now());
        if later > 0 {
            self.observer.task.wake_at(pace.next_due());
        }
        later
    }

    /// How many messages the server left without a response. They do not count if the run ended first, or if the client
    /// wanted no more, because the server might still have answered them.
    fn unanswered(&self) -> u64 {
        let whole = self.observer.sample.stream.as_ref();
        let left = whole.is_some_and(|seen| seen.whole.is_some());
        let counts = !left && !self.observer.task.stopping();
        let pace = self.pace.as_ref().filter(|_| counts);
        pace.map_or(0, Pace::unanswered)
    }

    /// Takes in an event; returns the outcome if the exchange ends with it.
    fn take_in(&mut self, event: StreamEvent, rest: &mut &[u8]) -> Option<Outcome> {
        let mut next = |length| {
            let (part, after) = rest.split_at(length);
            *rest = after;
            part
        };
        match event {
            StreamEvent::Head { length, whole, .. } if !whole => {
                next(length);
                Some(self.refuse(DecodeError::HeadTooLarge))
            }
            StreamEvent::Head { length, end, .. } => self.head(next(length), end),
            StreamEvent::Data { length, end } => self.body(next(length), end),
            StreamEvent::Reset(reason) => {
                let sent = self.observer.sample.sent.unwrap_or(0);
                let after = self.observer.at.saturating_sub(sent);
                let failure = reset(reason, after, self.observer.request.deadline_ns());
                Some(self.observer.failed(failure))
            }
            StreamEvent::Refused => Some(self.observer.failed(self.connection.refusal())),
        }
    }

    fn head(&mut self, fields: &[u8], end: bool) -> Option<Outcome> {
        if self.begun {
            if end {
                return Some(self.end(fields));
            }
            let what = "a second head came before its end";
            return Some(self.observer.failed(malformed(what)));
        }
        let needs = HeadNeeds {
            location: self.observer.limits.follow,
            coding: self.call.is_none() && self.observer.decodes(),
            text: self.observer.reads_head(),
        };
        let response = match ResponseHead::read(fields, needs) {
            Ok(response) => response,
            Err(failure) => return Some(self.observer.failed(failure)),
        };
        if response.is_interim() {
            let what = "it ends with an interim head";
            return end.then(|| self.observer.failed(malformed(what)));
        }
        let bodiless = self.encoded.is_head || matches!(response.status, 204 | 304);
        let length = response.length.filter(|_| !bodiless);
        (self.begun, self.length) = (true, length);
        self.observer
            .head(response.status, response.values, response.text);
        if let Some(entry) = self.entry {
            self.connection.history().note_head(entry, self.observer.at);
        }
        if let (Some(length), Some(limit)) = (length, self.observer.limits.body)
            && length > limit
        {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        let header = |name: &str| Fields(fields).value(name);
        if let Some(call) = &self.call
            && let Err(foreign) = grpc::check_head(response.status, header)
        {
            return Some(call.foreign(foreign, self.observer));
        }
        end.then(|| self.end(fields))
    }

    fn body(&mut self, bytes: &[u8], end: bool) -> Option<Outcome> {
        if !self.begun {
            return Some(
                self.observer
                    .failed(malformed("its body came before its head")),
            );
        }
        self.body_bytes += bytes.len() as u64;
        let limit = self.observer.limits.body;
        if limit.is_some_and(|limit| self.body_bytes > limit) {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        let enough = match &mut self.call {
            _ if bytes.is_empty() => false,
            None => self.observer.body(bytes),
            Some(call) => {
                let enough = call.data(bytes, self.observer);
                if let Some(pace) = &mut self.pace {
                    for due in pace.note_responses(call.messages()) {
                        match due {
                            Some(due) => self.observer.round_trip(due),
                            None => self.observer.excess("a message came that answers none"),
                        }
                    }
                }
                match enough {
                    Ok(enough) => enough,
                    Err(failure) => return Some(self.observer.failed(failure)),
                }
            }
        };
        if enough {
            return Some(self.observer.complete());
        }
        end.then(|| self.end(&[]))
    }

    /// The response is whole. `trailers` are its trailers, or the fields of its head if nothing came after that.
    fn end(&mut self, trailers: &[u8]) -> Outcome {
        if let (Some(pace), Some(seen)) = (&self.pace, &mut self.observer.sample.stream) {
            seen.unanswered = pace.unanswered();
        }
        if let Some(call) = self.call.take() {
            return call.end(|name| Fields(trailers).value(name), self.observer);
        }
        match self.length {
            Some(length) if length != self.body_bytes => {
                let what = "its body is not as long as its Content-Length says";
                self.observer.failed(malformed(what))
            }
            _ => self.observer.complete(),
        }
    }

    fn refuse(&mut self, error: DecodeError) -> Outcome {
        self.observer.failed(Failure::new(error.outcome(), error))
    }
}

impl Drop for H2Exchange<'_, '_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let left = self.stream.sent.get().is_some();
            self.connection.release(id, left);
        }
    }
}
