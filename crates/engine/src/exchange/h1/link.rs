//! One connection that carries one exchange after another.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;

use crate::exchange::h1::idle::{Before, TIMED_OUT, unasked};
use crate::exchange::link::Unasked;
use crate::exchange::request::Call;
use crate::exchange::sending::Sending;
use crate::exchange::watch::Watch;
use crate::machine::seat::Seat;
use crate::net::buffers::Common;
use crate::net::failure::broken;
use crate::net::linger::linger;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::response::{ResponseDecoder, Step};

pub struct Link {
    transport: Transport,
    common: Rc<Common>,
    decoder: ResponseDecoder,
    state: State,
    /// Whether it has carried an exchange before.
    reused: bool,
    /// The answer after which the connection is idle.
    before: Before,
}

/// What may follow on the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Another exchange.
    Open,
    /// The server's close, which it announced.
    Closing,
    /// Nothing.
    Spent,
}

impl Link {
    /// `locations`: whether redirects are followed, so that their `Location` is needed.
    pub fn new(
        transport: Transport,
        common: Rc<Common>,
        body_limit: Option<u64>,
        locations: bool,
    ) -> Self {
        Self {
            transport,
            common,
            decoder: ResponseDecoder::new(body_limit).with_locations(locations),
            state: State::Open,
            reused: false,
            before: Before::default(),
        }
    }

    pub fn room(&mut self, idle_ns: u64) -> Result<(), Unasked> {
        match self.listen(|transport, buffer| transport.try_read(idle_ns, buffer)) {
            Poll::Pending => Ok(()),
            Poll::Ready(unasked) => Err(unasked),
        }
    }

    pub fn poll_unasked(&mut self, cx: &mut Context<'_>) -> Poll<Unasked> {
        self.listen(|transport, buffer| transport.poll_read_some(cx, buffer))
    }

    fn listen(
        &mut self,
        mut read: impl FnMut(&mut Transport, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<Unasked> {
        let mut scratch = self.common.scratch.borrow_mut();
        loop {
            let bytes = match ready!(read(&mut self.transport, &mut scratch)) {
                Ok(0) | Err(_) => return Poll::Ready(Unasked::Closed),
                Ok(length) => &scratch[..length],
            };
            if !self.before.strip(bytes).is_empty() {
                return Poll::Ready(unasked(bytes, self.before));
            }
        }
    }

    pub fn is_spent(&self) -> bool {
        self.state != State::Open
    }

    pub async fn exchange(&mut self, mut call: Call<'_>, watch: &mut Watch<'_>) -> Outcome {
        let template = call.template;
        let common = self.common.clone();
        let mut filled = Vec::new();
        let mut fits = Ok(());
        let unsent = template.fixed().unwrap_or_else(|| {
            filled = common.take_spare();
            fits = call.request.fill(template, &mut call, &mut filled);
            &filled
        });
        if let Err(why) = fits {
            common.put_spare(filled);
            return watch.failed(Failure::new(Outcome::Unsendable, why));
        }
        let sent = unsent;
        watch.asking(unsent);
        self.state = State::Spent;
        self.decoder.begin(template.is_head());
        self.decoder.keep_head(watch.reads_head());
        self.decoder.report_codings(watch.decodes());
        let mut exchange = Exchange {
            link: self,
            watch,
            sending: Sending::new(unsent),
            keep_alive: false,
            closes: false,
            clean: false,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let state = exchange.state_after(call.last || template.closes());
        watch.sent(sent);
        self.state = state;
        self.reused = true;
        common.put_spare(filled);
        outcome
    }

    /// If the server announced that it will close, lets it close first, so that the port stays occupied on its side.
    pub fn part(self, seat: &Seat) {
        if self.state == State::Closing {
            linger(self.transport, seat, &self.common);
        }
    }
}

/// One request and its response on a connection.
struct Exchange<'a, 'w> {
    link: &'a mut Link,
    watch: &'a mut Watch<'w>,
    sending: Sending<'a>,
    /// What the head says: whether the connection may be used again, and whether the server is going to close it.
    keep_alive: bool,
    closes: bool,
    /// Whether the response is whole, nothing follows it, and the peer has not closed.
    clean: bool,
}

impl Exchange<'_, '_> {
    fn state_after(&self, last: bool) -> State {
        let reusable = self.keep_alive && !last && self.sending.is_done();
        match self.clean {
            true if self.closes => State::Closing,
            true if reusable => State::Open,
            _ => State::Spent,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.watch.sending() {
            return Poll::Ready(outcome);
        }
        let link = &mut *self.link;
        self.sending.write(&mut link.transport, self.watch, cx);
        let common = self.link.common.clone();
        let mut scratch = common.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match self.link.transport.poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    return Poll::Ready(self.eof());
                }
                Poll::Ready(Ok(())) => {
                    if let Some(outcome) = self.read(buffer.filled()) {
                        return Poll::Ready(outcome);
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(self.fail(broken(&error))),
                Poll::Pending => break,
            }
        }
        let interrupted = self.watch.seat.poll_interrupt();
        interrupted.map(|_| self.watch.timed_out_within(self.link.decoder.missing()))
    }

    /// Takes in what has come. Returns the outcome if that was the end.
    fn read(&mut self, input: &[u8]) -> Option<Outcome> {
        let mut input = std::mem::take(&mut self.link.before).strip(input);
        if input.is_empty() {
            return None;
        }
        match self.link.transport.arrived() {
            Some(unix_ns) if self.watch.request.stream.is_some() => {
                self.watch.arrived(input.len(), unix_ns);
            }
            _ => self.watch.received(input.len()),
        }
        loop {
            let (used, step) = match self.link.decoder.step(input) {
                Ok(result) => result,
                Err(error) => return Some(self.fail(Failure::new(error.outcome(), error))),
            };
            match step {
                Step::NeedMore => {
                    if self.watch.limits.timeouts.first_byte_ns.is_some()
                        && self.link.decoder.has_begun()
                    {
                        self.watch.answer_begins();
                    }
                    return None;
                }
                Step::Head {
                    status,
                    keep_alive,
                    closes,
                    values,
                } => {
                    if closes && self.is_idle_timeout(status) {
                        return Some(self.watch.failed(Failure::new(Outcome::Stale, TIMED_OUT)));
                    }
                    let bytes = self.link.decoder.take_head();
                    let values = values.map(|values| *values).unwrap_or_default();
                    self.watch.head(status, values, bytes);
                    (self.keep_alive, self.closes) = (keep_alive, closes);
                    self.link.before = Before {
                        head_request: self.link.decoder.head_request(),
                        status,
                    };
                }
                Step::Body(length) => {
                    if self.watch.body(&input[used - length..used]) {
                        return Some(self.watch.complete());
                    }
                }
                Step::End => {
                    let before = self.link.before;
                    self.clean = before.strip(&input[used..]).is_empty();
                    if !self.clean {
                        self.watch.excess(before.excess());
                    }
                    return Some(self.watch.complete());
                }
            }
            input = &input[used..];
        }
    }

    /// Whether an answer with which the server closes the connection is not to this request, but to the pause before it.
    fn is_idle_timeout(&self, status: u16) -> bool {
        status == 408
            && self.link.reused
            && self.sending.is_done()
            && !self.watch.request.statuses.contains(&408)
    }

    fn eof(&mut self) -> Outcome {
        self.watch.received(0);
        match self.link.decoder.eof() {
            Ok(_) => self.watch.complete(),
            Err(error) => {
                let failure = self.sending.failure();
                self.fail(failure.unwrap_or_else(|| Failure::new(error.outcome(), error)))
            }
        }
    }

    fn fail(&mut self, failure: Failure) -> Outcome {
        self.watch.failed_on(self.link.reused, failure)
    }
}
