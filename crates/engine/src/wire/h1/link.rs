//! One connection that carries one exchange after another.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use crate::record::interval::Outcome;
use crate::seat::Seat;
use crate::wire::Common;
use crate::wire::failure::{Failure, broken};
use crate::wire::h1::codec::{ResponseDecoder, Step};
use crate::wire::linger::linger;
use crate::wire::link::Unasked;
use crate::wire::request::Call;
use crate::wire::sending::Sending;
use crate::wire::transport::Transport;
use crate::wire::watch::Watch;

pub struct Link {
    transport: Transport,
    common: Rc<Common>,
    decoder: ResponseDecoder,
    state: State,
    /// Whether it has carried an exchange before.
    reused: bool,
    /// Whether the last exchange was a HEAD request.
    head_request: bool,
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
            head_request: false,
        }
    }

    pub fn room(&mut self, idle_ns: u64) -> Result<(), Unasked> {
        match self.transport.try_read_byte(idle_ns) {
            Poll::Pending => Ok(()),
            Poll::Ready(read) => Err(self.unasked(&read)),
        }
    }

    pub fn poll_unasked(&mut self, cx: &mut Context<'_>) -> Poll<Unasked> {
        self.transport
            .poll_read_byte(cx)
            .map(|read| self.unasked(&read))
    }

    fn unasked(&self, read: &io::Result<usize>) -> Unasked {
        match read {
            Ok(1..) => Unasked::Spoke(self.excess()),
            Ok(0) | Err(_) => Unasked::Closed,
        }
    }

    fn excess(&self) -> &'static str {
        if self.head_request {
            "an answer to HEAD was followed by bytes, as if it had a body"
        } else {
            "a whole answer was followed by bytes that belong to none"
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
        self.head_request = template.is_head();
        self.decoder.begin(self.head_request);
        self.decoder.keep_head(watch.reads_head());
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
        interrupted.map(|_| self.watch.timed_out())
    }

    /// Takes in what has come. Returns the outcome if that was the end.
    fn read(&mut self, mut input: &[u8]) -> Option<Outcome> {
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
                Step::NeedMore => return None,
                Step::Head {
                    status,
                    keep_alive,
                    closes,
                    location,
                } => {
                    let bytes = self.link.decoder.take_head();
                    self.watch.head(status, location, bytes);
                    (self.keep_alive, self.closes) = (keep_alive, closes);
                }
                Step::Body(length) => {
                    if self.watch.body(&input[used - length..used]) {
                        return Some(self.watch.complete());
                    }
                }
                Step::End => {
                    self.clean = used == input.len();
                    if !self.clean {
                        self.watch.excess(self.link.excess());
                    }
                    return Some(self.watch.complete());
                }
            }
            input = &input[used..];
        }
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
