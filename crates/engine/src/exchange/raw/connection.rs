//! A connection that carries one exchange after another, in order.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::{ExchangeObserver, UNENDED};
use crate::exchange::raw::until::{Progress, Until};
use crate::exchange::request::{OutgoingRequest, Protocol};
use crate::exchange::sending::Sending;
use crate::exchange::serial::{ReadResponse, SerialConnection, SerialExchange};
use crate::net::buffers::WorkerBuffers;
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
        mut outgoing: OutgoingRequest<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        self.spent = true;
        let Protocol::Raw(until) = &outgoing.request.protocol else {
            unreachable!("a workload has requests of one protocol");
        };
        let buffers = self.buffers.clone();
        let mut filled = Vec::new();
        let request = outgoing.bytes(&buffers, &mut filled);
        let request = request.expect("only the values of steps may not fit");
        observer.note_request(request);
        let mut exchange = SerialExchange {
            connection: self,
            observer,
            sending: Sending::new(request),
            response: RawResponse {
                until,
                progress: until.begin(),
                size: 0,
            },
            clean: false,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let whole = exchange.clean && exchange.sending.is_done();
        self.spent = !whole || outgoing.last_on_connection;
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

impl SerialConnection for RawConnection {
    fn transport(&mut self) -> &mut Transport {
        &mut self.transport
    }

    fn buffers(&self) -> &Rc<WorkerBuffers> {
        &self.buffers
    }

    fn is_reused(&self) -> bool {
        self.reused
    }
}

/// What is known of a response.
struct RawResponse<'a> {
    until: &'a Until,
    progress: Progress,
    /// Bytes of the response so far.
    size: u64,
}

impl ReadResponse for SerialExchange<'_, '_, RawConnection, RawResponse<'_>> {
    fn read(&mut self, input: &[u8]) -> Option<Outcome> {
        self.observer.note_bytes(input.len());
        if self.response.size == 0 {
            self.observer.head(STATUS, HeadValues::default(), None);
        }
        let end = self.response.until.feed(&mut self.response.progress, input);
        let response = &input[..end.unwrap_or(input.len())];
        self.response.size += response.len() as u64;
        if let Some(limit) = self.observer.limits.body
            && self.response.size > limit
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
        let failure = self.sending.failure();
        if self.response.size > 0
            && matches!(self.response.until, Until::Close)
            && failure.is_none()
        {
            return self.observer.complete();
        }
        let why = match self.response.size {
            0 => "the server closed the connection without a response",
            _ => "the server closed the connection before the end of the response",
        };
        self.fail(failure.unwrap_or_else(|| Failure::new(Outcome::ClosedEarly, why)))
    }

    fn missing(&self) -> &'static str {
        UNENDED
    }
}
