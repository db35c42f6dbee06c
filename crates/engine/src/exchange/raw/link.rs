//! A connection that carries one exchange after another, in order.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use crate::exchange::link::Unasked;
use crate::exchange::raw::until::{Progress, Until};
use crate::exchange::request::Call;
use crate::exchange::sending::Sending;
use crate::exchange::watch::Watch;
use crate::net::buffers::Common;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::head::HeadValues;

/// The status that is recorded for every exchange, as raw bytes have none.
pub const STATUS: u16 = 0;
const UNASKED: &str = "bytes came that nothing had asked for";
const EXCESS: &str = "a whole answer was followed by bytes that belong to none";

pub struct Link {
    transport: Transport,
    common: Rc<Common>,
    /// Whether it has carried an exchange before.
    reused: bool,
    spent: bool,
}

impl Link {
    pub fn new(transport: Transport, common: Rc<Common>) -> Self {
        Self {
            transport,
            common,
            reused: false,
            spent: false,
        }
    }

    pub fn room(&mut self, idle_ns: u64) -> Result<(), Unasked> {
        match self.transport.try_read(idle_ns, &mut [0]) {
            Poll::Pending => Ok(()),
            Poll::Ready(read) => Err(unasked(&read)),
        }
    }

    pub fn poll_unasked(&mut self, cx: &mut Context<'_>) -> Poll<Unasked> {
        let read = self.transport.poll_read_some(cx, &mut [0]);
        read.map(|read| unasked(&read))
    }

    pub fn is_spent(&self) -> bool {
        self.spent
    }

    pub async fn exchange(&mut self, mut call: Call<'_>, watch: &mut Watch<'_>) -> Outcome {
        self.spent = true;
        let until = call.request.raw.as_ref();
        let until = until.expect("a workload has requests of one kind");
        let common = self.common.clone();
        let template = call.template;
        let mut filled = Vec::new();
        let unsent = template.fixed().unwrap_or_else(|| {
            filled = common.take_spare();
            let fits = call.request.fill(template, &mut call, &mut filled);
            fits.expect("only the values of steps may not fit");
            &filled
        });
        watch.asking(unsent);
        let mut exchange = Exchange {
            link: self,
            watch,
            until,
            progress: until.begin(),
            size: 0,
            sending: Sending::new(unsent),
            clean: false,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let whole = exchange.clean && exchange.sending.is_done();
        self.spent = !whole || call.last;
        self.reused = true;
        common.put_spare(filled);
        outcome
    }
}

fn unasked(read: &io::Result<usize>) -> Unasked {
    match read {
        Ok(1..) => Unasked::Spoke(UNASKED),
        Ok(0) | Err(_) => Unasked::Closed,
    }
}

/// One request and its answer.
struct Exchange<'a, 'w> {
    link: &'a mut Link,
    watch: &'a mut Watch<'w>,
    until: &'a Until,
    progress: Progress,
    /// Bytes of the answer so far.
    size: u64,
    sending: Sending<'a>,
    /// Whether the answer is whole, nothing follows it, and the peer has not closed.
    clean: bool,
}

impl Exchange<'_, '_> {
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
    fn read(&mut self, input: &[u8]) -> Option<Outcome> {
        self.watch.received(input.len());
        if self.size == 0 {
            self.watch.head(STATUS, HeadValues::default(), None);
        }
        let end = self.until.feed(&mut self.progress, input);
        let answer = &input[..end.unwrap_or(input.len())];
        self.size += answer.len() as u64;
        if let Some(limit) = self.watch.limits.body
            && self.size > limit
        {
            let why = format!("the answer is longer than {limit} bytes");
            return Some(self.fail(Failure::new(Outcome::TooLarge, why)));
        }
        self.watch.body(answer);
        let end = end?;
        self.clean = end == input.len();
        if !self.clean {
            self.watch.excess(EXCESS);
        }
        Some(self.watch.complete())
    }

    fn eof(&mut self) -> Outcome {
        self.watch.received(0);
        let failure = self.sending.failure();
        if self.size > 0 && matches!(self.until, Until::Close) && failure.is_none() {
            return self.watch.complete();
        }
        let why = match self.size {
            0 => "the server closed the connection without an answer",
            _ => "the server closed the connection before the end of the answer",
        };
        self.fail(failure.unwrap_or_else(|| Failure::new(Outcome::ClosedEarly, why)))
    }

    fn fail(&mut self, failure: Failure) -> Outcome {
        self.watch.failed_on(self.link.reused, failure)
    }
}
