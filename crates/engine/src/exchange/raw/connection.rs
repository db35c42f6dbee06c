//! A connection that carries one exchange after another, in order.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::raw::until::{Progress, Until};
use crate::exchange::request::Call;
use crate::exchange::sending::Sending;
use crate::net::buffers::WorkerBuffers;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::head::HeadValues;

/// The status that is recorded for every exchange, as raw bytes have none.
pub const STATUS: u16 = 0;
const UNASKED: &str = "bytes came that nothing had asked for";
const EXCESS: &str = "a whole response was followed by bytes that belong to none";

pub struct RawConnection {
    transport: Transport,
    buffers: Rc<WorkerBuffers>,
    /// Whether it has carried an exchange before.
    reused: bool,
    spent: bool,
}

impl RawConnection {
    pub fn new(transport: Transport, buffers: Rc<WorkerBuffers>) -> Self {
        Self {
            transport,
            buffers,
            reused: false,
            spent: false,
        }
    }

    pub fn check_reusable(&mut self, idle_ns: u64) -> Result<(), IdleEvent> {
        match self.transport.try_read(idle_ns, &mut [0]) {
            Poll::Pending => Ok(()),
            Poll::Ready(read) => Err(unasked(&read)),
        }
    }

    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<IdleEvent> {
        let read = self.transport.poll_read_some(cx, &mut [0]);
        read.map(|read| unasked(&read))
    }

    pub fn is_spent(&self) -> bool {
        self.spent
    }

    pub async fn exchange(
        &mut self,
        mut call: Call<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        self.spent = true;
        let until = call.request.raw.as_ref();
        let until = until.expect("a workload has requests of one kind");
        let buffers = self.buffers.clone();
        let template = call.template;
        let mut filled = Vec::new();
        let unsent = template.fixed().unwrap_or_else(|| {
            filled = buffers.take_spare();
            let fits = call.request.fill(template, &mut call, &mut filled);
            fits.expect("only the values of steps may not fit");
            &filled
        });
        observer.note_request(unsent);
        let mut exchange = RawExchange {
            connection: self,
            observer,
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
        buffers.put_spare(filled);
        outcome
    }
}

fn unasked(read: &io::Result<usize>) -> IdleEvent {
    match read {
        Ok(1..) => IdleEvent::UnexpectedData(UNASKED),
        Ok(0) | Err(_) => IdleEvent::Closed,
    }
}

/// One request and its response.
struct RawExchange<'a, 'w> {
    connection: &'a mut RawConnection,
    observer: &'a mut ExchangeObserver<'w>,
    until: &'a Until,
    progress: Progress,
    /// Bytes of the response so far.
    size: u64,
    sending: Sending<'a>,
    /// Whether the response is whole, nothing follows it, and the peer has not closed.
    clean: bool,
}

impl RawExchange<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.observer.begin_sending() {
            return Poll::Ready(outcome);
        }
        let connection = &mut *self.connection;
        self.sending
            .write(&mut connection.transport, self.observer, cx);
        let buffers = self.connection.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match self.connection.transport.poll_read(cx, &mut buffer) {
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
        let interrupted = self.observer.task.poll_interrupt();
        interrupted.map(|_| self.observer.timed_out())
    }

    /// Takes in what has come. Returns the outcome if that was the end.
    fn read(&mut self, input: &[u8]) -> Option<Outcome> {
        self.observer.note_bytes(input.len());
        if self.size == 0 {
            self.observer.head(STATUS, HeadValues::default(), None);
        }
        let end = self.until.feed(&mut self.progress, input);
        let response = &input[..end.unwrap_or(input.len())];
        self.size += response.len() as u64;
        if let Some(limit) = self.observer.limits.body
            && self.size > limit
        {
            let why = format!("the response is longer than {limit} bytes");
            return Some(self.fail(Failure::new(Outcome::TooLarge, why)));
        }
        self.observer.body(response);
        let end = end?;
        self.clean = end == input.len();
        if !self.clean {
            self.observer.excess(EXCESS);
        }
        Some(self.observer.complete())
    }

    fn eof(&mut self) -> Outcome {
        self.observer.note_bytes(0);
        let failure = self.sending.failure();
        if self.size > 0 && matches!(self.until, Until::Close) && failure.is_none() {
            return self.observer.complete();
        }
        let why = match self.size {
            0 => "the server closed the connection without a response",
            _ => "the server closed the connection before the end of the response",
        };
        self.fail(failure.unwrap_or_else(|| Failure::new(Outcome::ClosedEarly, why)))
    }

    fn fail(&mut self, failure: Failure) -> Outcome {
        self.observer.failed_on(self.connection.reused, failure)
    }
}
