//! One client's streams, one after another.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::exchange::grpc;
use crate::exchange::grpc::method::Method;
use crate::exchange::grpc::pace::Pace;
use crate::exchange::h2::connection::{Connection, NoStream};
use crate::exchange::h2::failure::reset;
use crate::exchange::h2::history::Entry;
use crate::exchange::h2::pool::{Member, OneConnection};
use crate::exchange::link::{Destination, Unasked};
use crate::exchange::request::Call;
use crate::exchange::watch::{UNENDED, Watch};
use crate::net::buffers::Common;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::error::DecodeError;
use crate::protocol::h1::response::ONLY_INTERIM;
use crate::protocol::h2::answer::{Answer, Wanted, is_too_early, malformed};
use crate::protocol::h2::hpack::Fields;
use crate::protocol::h2::message::{Form, encode};
use crate::protocol::h2::reason::Reason;
use crate::protocol::h2::stream::{Event, Stream};
use crate::record::head_of_line::HeadOfLine;

/// A client's link to its connection. Dropping the last link to a connection closes it.
pub struct Link {
    connection: Rc<Connection>,
    /// Its place in the pool; `None` if the connection does not come from a pool.
    member: Option<Member>,
    /// Whether several clients share the connection.
    shared: bool,
    stream: Rc<Stream>,
    common: Rc<Common>,
    tls: bool,
    /// Whether the link has carried the last request that was meant for it.
    spent: bool,
}

impl Link {
    /// Opens a link. `one` is the connection for all requests of a client that sends several at the same time.
    pub async fn open(
        to: &mut Destination<'_>,
        one: Option<&OneConnection>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Failure> {
        let shared = to.target.shares_connections();
        let member = match one {
            Some(one) => Some(one.take_place()),
            None => shared.then(|| to.pool.take_place(None)),
        };
        Ok(Self {
            connection: connect(member.as_ref(), to, watch).await?,
            member,
            shared,
            stream: Rc::default(),
            common: to.dialer.common.clone(),
            tls: to.target.tls.is_some(),
            spent: false,
        })
    }

    pub fn room(&self) -> Result<(), Unasked> {
        if self.connection.takes_more() {
            return Ok(());
        }
        Err(Unasked::Closed)
    }

    pub fn is_spent(&self) -> bool {
        self.spent || self.connection.has_ended()
    }

    pub async fn exchange(
        &mut self,
        mut call: Call<'_>,
        to: &mut Destination<'_>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let template = call.template;
        let method = call.request.grpc.as_deref();
        let mut filled = Vec::new();
        let mut finished = Ok(());
        let request = template.fixed().unwrap_or_else(|| {
            filled = self.common.take_spare();
            finished = call.request.fill(template, &mut call, &mut filled);
            if let (Ok(()), Some(method)) = (&finished, method) {
                finished = method.finish(&mut filled);
            }
            &filled
        });
        if watch.transcript.is_some() {
            let shown = method.map(|method| method.shown(request));
            watch.asking(&as_shown(shown.as_deref().unwrap_or(request)));
        } else {
            watch.asking(request);
        }
        let form = Form {
            tls: self.tls,
            call: method.is_some(),
        };
        let mut block = self.common.take_spare();
        let encoded = finished.and_then(|()| encode(request, form, &mut block));
        let outcome = match encoded {
            Ok(body) => {
                let asked = Asked {
                    block: &block,
                    body,
                    is_head: template.is_head(),
                };
                let outcome = self.ask(&asked, method, to, watch).await;
                watch.sent(request);
                self.spent = call.last;
                outcome
            }
            Err(why) => watch.failed(Failure::new(Outcome::Unsendable, why)),
        };
        self.common.put_spare(block);
        self.common.put_spare(filled);
        outcome
    }

    /// Makes the request, on another connection if this one has not processed it (RFC 9113 section 8.7).
    ///
    /// That is done once, and as often as a connection ends that has carried exchanges: then each of them is an
    /// ordinary one, as in front of a server that closes its connections after some requests. From the first refusal on
    /// it may take no longer than an answer.
    async fn ask(
        &mut self,
        asked: &Asked<'_>,
        method: Option<&Method>,
        to: &mut Destination<'_>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let mut first_refusal = None;
        loop {
            let entry = self.begin(watch);
            let answered = self.ask_as(entry, asked, method, watch).await;
            if let (Some(entry), Some(member)) = (entry, &self.member) {
                remember(entry, &self.connection, member, watch);
            }
            let refused = match answered {
                Ok(outcome) => return outcome,
                Err(refused) => refused,
            };
            let over = !self.connection.takes_more();
            let ordinary = over && self.connection.has_carried();
            let now = watch.seat.now();
            let goes_on = |first: u64| ordinary && now < first.saturating_add(watch.total_ns());
            if !first_refusal.is_none_or(goes_on) {
                return refused.fail(watch);
            }
            first_refusal.get_or_insert(now);
            if over {
                match connect(self.member.as_ref(), to, watch).await {
                    Ok(connection) => self.connection = connection,
                    Err(failure) => {
                        return Refused { failure, ..refused }.fail(watch);
                    }
                }
            }
        }
    }

    /// Makes the request on the connection; fails if the server has not processed it.
    async fn ask_as(
        &self,
        entry: Option<Entry>,
        asked: &Asked<'_>,
        method: Option<&Method>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, Refused> {
        let _place = match self.connection.stream(entry, watch).await {
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
        let call = method.map(|method| grpc::Answer::new(method, watch));
        let pace = method.and_then(|method| method.pace(watch.sample.intended));
        self.stream.sent.set(None);
        let mut exchange = Exchange {
            connection: &self.connection,
            stream: &self.stream,
            watch,
            entry,
            id: None,
            unsent: asked.body,
            pace,
            asked,
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
                watch.unanswered(unanswered);
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
    fn begin(&self, watch: &Watch<'_>) -> Option<Entry> {
        let shared = self.shared && watch.request.stream.is_none();
        let request = watch.sample.request as u32;
        shared.then(|| self.connection.history().begin(request))
    }
}

/// Returns the connection of the member's place, or opens one for a single client.
async fn connect(
    member: Option<&Member>,
    to: &mut Destination<'_>,
    watch: &mut Watch<'_>,
) -> Result<Rc<Connection>, Failure> {
    match member {
        Some(member) => member.connect(to, watch).await,
        None => Connection::open(to, watch, true).await,
    }
}

/// Records what a stream that has ended waited for, if it did.
fn remember(entry: Entry, connection: &Connection, member: &Member, watch: &Watch<'_>) {
    let sample = &watch.sample;
    let end_ns = if sample.end > 0 {
        sample.end
    } else {
        watch.seat.now()
    };
    let answered = sample.headers.is_some();
    let ended = connection
        .history()
        .end(entry, answered, end_ns, sample.bytes_in);
    let Some(wait) = ended.filter(|_| watch.seat.running(end_ns)) else {
        return;
    };
    let (workload, place) = (sample.workload, member.place() as u32);
    let number = connection.history().connection;
    let line = |wait| HeadOfLine {
        workload: workload as u32,
        connection: place,
        wait,
        streams: connection.history().around(&wait),
        elsewhere: member.elsewhere(wait),
    };
    let mut recorder = watch.recorder.borrow_mut();
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
    fn fail(self, watch: &mut Watch<'_>) -> Outcome {
        watch.unanswered(self.unanswered);
        watch.failed(self.failure)
    }
}

/// A request as it is sent.
struct Asked<'a> {
    block: &'a [u8],
    body: &'a [u8],
    is_head: bool,
}

/// One request and its answer on a stream.
struct Exchange<'a, 'w> {
    connection: &'a Connection,
    stream: &'a Rc<Stream>,
    watch: &'a mut Watch<'w>,
    /// Its entry in the history of a shared connection.
    entry: Option<Entry>,
    /// The stream's number, once the request's head has been sent.
    id: Option<u32>,
    asked: &'a Asked<'a>,
    /// What is left of the request's body.
    unsent: &'a [u8],
    /// When its messages are due, if it is not sent all at once.
    pace: Option<Pace>,
    /// Whether the head of the answer has come.
    begun: bool,
    /// The length of the answer's body, if the head states it.
    length: Option<u64>,
    body_bytes: u64,
    /// The answer of a call of gRPC.
    call: Option<grpc::Answer<'a>>,
}

impl Exchange<'_, '_> {
    /// Fails if the server has not processed the request.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, Failure>> {
        if self.id.is_some() {
            self.note_sent();
            if self.watch.seat.stopping() {
                return Poll::Ready(Ok(self.watch.sample.given_up()));
            }
        } else {
            match self.watch.ready() {
                Err(outcome) => return Poll::Ready(Ok(outcome)),
                Ok(now) if self.connection.is_own() => {
                    self.stream.sent.set(Some(now));
                    self.watch.leaves(now);
                }
                Ok(_) => {}
            }
        }
        self.stream.wakes(cx);
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
                outcome = Some(self.watch.failed(malformed(what)));
                break;
            }
            self.watch.received_at(*wire, *at);
            outcome = self.take_in(*event, &mut rest);
            if outcome.is_some() {
                break;
            }
        }
        self.stream.put_back(inbox);
        if let Some(outcome) = outcome {
            return Poll::Ready(Ok(outcome));
        }
        let answered = self.watch.sample.bytes_in > 0;
        if let Some(failure) = self.connection.failure(answered) {
            return Poll::Ready(if self.stream.sent.get().is_some() {
                Ok(self.watch.failed(failure))
            } else {
                Err(failure)
            });
        }
        let unended = if self.begun { UNENDED } else { ONLY_INTERIM };
        let interrupted = self.watch.seat.poll_interrupt();
        interrupted.map(|_| Ok(self.watch.timed_out_within(unended)))
    }

    /// Notes when the request left, if it left since it was asked.
    fn note_sent(&mut self) {
        if self.watch.sample.sent.is_none()
            && let Some(at) = self.stream.sent.get()
        {
            self.watch.left(at);
        }
    }

    /// Why the server has not processed the request, if it says so, gracefully, before any other word of it.
    fn refused(&self, event: Event) -> Option<Failure> {
        match event {
            _ if self.watch.sample.bytes_in > 0 => None,
            Event::Refused => {
                Some(self.connection.refusal()).filter(|why| why.outcome == Outcome::Stale)
            }
            Event::Reset(Reason::REFUSED_STREAM) => Some(reset(Reason::REFUSED_STREAM, 0, None)),
            _ => None,
        }
    }

    /// Sends what goes through now. If the body does not go through at all, that is no error: the answer will tell why.
    fn send(&mut self) {
        let id = *self.id.get_or_insert_with(|| {
            let bodiless = self.unsent.is_empty();
            let (id, wire) = self.connection.ask(
                self.stream,
                self.asked.block,
                bodiless,
                self.entry,
                self.watch.sample,
            );
            self.watch.wrote(wire);
            id
        });
        let later = self.later();
        // What is written at once makes room for more.
        while self.unsent.len() > later {
            let due = &self.unsent[..self.unsent.len() - later];
            let (sent, wire) = self.connection.send(id, due, later == 0);
            self.unsent = &self.unsent[sent..];
            self.watch.wrote(wire);
            if sent == 0 {
                break;
            }
        }
    }

    /// How many bytes of the body are not due yet.
    fn later(&mut self) -> usize {
        let body = self.asked.body;
        let Some(pace) = &mut self.pace else {
            return 0;
        };
        let later = body.len() - pace.advance(body, self.watch.seat.now());
        if later > 0 {
            self.watch.seat.wake_at(pace.next());
        }
        later
    }

    /// How many messages the server left without an answer. They do not count if the run ended first, or if the client
    /// wanted no more, because the server might still have answered them.
    fn unanswered(&self) -> u64 {
        let whole = self.watch.sample.stream.as_ref();
        let left = whole.is_some_and(|seen| seen.whole.is_some());
        let counts = !left && !self.watch.seat.stopping();
        let pace = self.pace.as_ref().filter(|_| counts);
        pace.map_or(0, Pace::unanswered)
    }

    /// Takes in an event; returns the outcome if the exchange ends with it.
    fn take_in(&mut self, event: Event, rest: &mut &[u8]) -> Option<Outcome> {
        let mut next = |length| {
            let (part, after) = rest.split_at(length);
            *rest = after;
            part
        };
        match event {
            Event::Head { length, whole, .. } if !whole => {
                next(length);
                Some(self.refuse(DecodeError::HeadTooLarge))
            }
            Event::Head { length, end, .. } => self.head(next(length), end),
            Event::Data { length, end } => self.body(next(length), end),
            Event::Reset(reason) => {
                let sent = self.watch.sample.sent.unwrap_or(0);
                let after = self.watch.at.saturating_sub(sent);
                let failure = reset(reason, after, self.watch.request.deadline_ns());
                Some(self.watch.failed(failure))
            }
            Event::Refused => Some(self.watch.failed(self.connection.refusal())),
        }
    }

    fn head(&mut self, fields: &[u8], end: bool) -> Option<Outcome> {
        if self.begun {
            if end {
                return Some(self.end(fields));
            }
            let what = "a second head came before its end";
            return Some(self.watch.failed(malformed(what)));
        }
        let wanted = Wanted {
            location: self.watch.limits.follow,
            coding: self.call.is_none() && self.watch.decodes(),
            text: self.watch.reads_head(),
        };
        let answer = match Answer::read(fields, wanted) {
            Ok(answer) => answer,
            Err(failure) => return Some(self.watch.failed(failure)),
        };
        if answer.is_interim() {
            let what = "it ends with an interim head";
            return end.then(|| self.watch.failed(malformed(what)));
        }
        let bodiless = self.asked.is_head || matches!(answer.status, 204 | 304);
        let length = answer.length.filter(|_| !bodiless);
        (self.begun, self.length) = (true, length);
        self.watch.head(answer.status, answer.values, answer.text);
        if let Some(entry) = self.entry {
            self.connection.history().answered(entry, self.watch.at);
        }
        if let (Some(length), Some(most)) = (length, self.watch.limits.body)
            && length > most
        {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        let header = |name: &str| Fields(fields).value(name);
        if let Some(call) = &self.call
            && let Err(foreign) = grpc::check_head(answer.status, header)
        {
            return Some(call.foreign(foreign, self.watch));
        }
        end.then(|| self.end(fields))
    }

    fn body(&mut self, bytes: &[u8], end: bool) -> Option<Outcome> {
        if !self.begun {
            return Some(
                self.watch
                    .failed(malformed("its body came before its head")),
            );
        }
        self.body_bytes += bytes.len() as u64;
        let most = self.watch.limits.body;
        if most.is_some_and(|most| self.body_bytes > most) {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        let enough = match &mut self.call {
            _ if bytes.is_empty() => false,
            None => self.watch.body(bytes),
            Some(call) => {
                let enough = call.data(bytes, self.watch);
                if let Some(pace) = &mut self.pace {
                    for due in pace.answered(call.messages()) {
                        match due {
                            Some(due) => self.watch.round_trip(due),
                            None => self.watch.excess("a message came that answers none"),
                        }
                    }
                }
                match enough {
                    Ok(enough) => enough,
                    Err(failure) => return Some(self.watch.failed(failure)),
                }
            }
        };
        if enough {
            return Some(self.watch.complete());
        }
        end.then(|| self.end(&[]))
    }

    /// The answer is whole. `trailers` are its trailers, or the fields of its head if nothing came after that.
    fn end(&mut self, trailers: &[u8]) -> Outcome {
        if let (Some(pace), Some(seen)) = (&self.pace, &mut self.watch.sample.stream) {
            seen.unanswered = pace.unanswered();
        }
        if let Some(call) = self.call.take() {
            return call.end(|name| Fields(trailers).value(name), self.watch);
        }
        match self.length {
            Some(length) if length != self.body_bytes => {
                let what = "its body is not as long as its Content-Length says";
                self.watch.failed(malformed(what))
            }
            _ => self.watch.complete(),
        }
    }

    fn refuse(&mut self, error: DecodeError) -> Outcome {
        self.watch.failed(Failure::new(error.outcome(), error))
    }
}

impl Drop for Exchange<'_, '_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let left = self.stream.sent.get().is_some();
            self.connection.release(id, left);
        }
    }
}
