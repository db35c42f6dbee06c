//! One connection that carries one exchange after another.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use crate::exchange::h1::idle::{PrecedingResponse, TIMED_OUT, idle_event};
use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::request::OutgoingRequest;
use crate::exchange::sending::Sending;
use crate::exchange::serial::{ReadResponse, SerialConnection, SerialExchange};
use crate::machine::tasks::Task;
use crate::net::buffers::WorkerBuffers;
use crate::net::linger::linger;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::response::{ResponseDecoder, ResponseStep};

pub struct H1Connection {
    transport: Transport,
    buffers: Rc<WorkerBuffers>,
    decoder: ResponseDecoder,
    state: State,
    /// Whether it has carried an exchange before.
    reused: bool,
    /// The response after which the connection is idle.
    before: PrecedingResponse,
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

impl H1Connection {
    /// `locations`: whether redirects are followed, so that their `Location` is needed.
    pub fn new(
        transport: Transport,
        buffers: Rc<WorkerBuffers>,
        body_limit: Option<u64>,
        locations: bool,
    ) -> Self {
        Self {
            transport,
            buffers,
            decoder: ResponseDecoder::new(body_limit).with_locations(locations),
            state: State::Open,
            reused: false,
            before: PrecedingResponse::default(),
        }
    }

    pub fn check_reusable(&mut self, idle_ns: u64) -> Result<(), IdleEvent> {
        match self.listen(|transport, buffer| transport.try_read(idle_ns, buffer)) {
            Poll::Pending => Ok(()),
            Poll::Ready(idle_event) => Err(idle_event),
        }
    }

    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<IdleEvent> {
        self.listen(|transport, buffer| transport.poll_read_some(cx, buffer))
    }

    fn listen(
        &mut self,
        mut read: impl FnMut(&mut Transport, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<IdleEvent> {
        let mut scratch = self.buffers.scratch.borrow_mut();
        loop {
            let bytes = match ready!(read(&mut self.transport, &mut scratch)) {
                Ok(0) | Err(_) => return Poll::Ready(IdleEvent::Closed),
                Ok(length) => &scratch[..length],
            };
            if !self.before.strip(bytes).is_empty() {
                return Poll::Ready(idle_event(bytes, self.before));
            }
        }
    }

    pub fn is_spent(&self) -> bool {
        self.state != State::Open
    }

    pub async fn exchange(
        &mut self,
        mut outgoing: OutgoingRequest<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        let template = outgoing.template;
        let buffers = self.buffers.clone();
        let mut filled = Vec::new();
        let request = match outgoing.bytes(&buffers, &mut filled) {
            Ok(request) => request,
            Err(why) => {
                buffers.put_spare(filled);
                return observer.failed(Failure::new(Outcome::Unsendable, why));
            }
        };
        observer.note_request(request);
        self.state = State::Spent;
        self.decoder.begin(template.is_head());
        self.decoder.keep_head(observer.reads_head());
        self.decoder.report_codings(observer.decodes());
        let mut exchange = H1Exchange {
            connection: self,
            observer,
            sending: Sending::new(request),
            response: Persistence::default(),
            clean: false,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let state = exchange.state_after(outgoing.last_on_connection || template.closes());
        observer.note_whole_request(request);
        self.state = state;
        self.reused = true;
        buffers.put_spare(filled);
        outcome
    }

    /// If the server announced that it will close, lets it close first, so that the port stays occupied on its side.
    pub fn close(self, task: &Task) {
        if self.state == State::Closing {
            linger(self.transport, task, &self.buffers);
        }
    }
}

impl SerialConnection for H1Connection {
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

/// What the head of the response says of its connection.
#[derive(Default)]
struct Persistence {
    /// Whether it may be used again.
    keep_alive: bool,
    /// Whether the server is going to close it.
    closes: bool,
}

type H1Exchange<'a, 'w> = SerialExchange<'a, 'w, H1Connection, Persistence>;

impl H1Exchange<'_, '_> {
    fn state_after(&self, last: bool) -> State {
        let reusable = self.response.keep_alive && !last && self.sending.is_done();
        match self.clean {
            true if self.response.closes => State::Closing,
            true if reusable => State::Open,
            _ => State::Spent,
        }
    }

    /// Whether a response with which the server closes the connection is not to this request, but to the pause before
    /// it.
    fn is_idle_timeout(&self, status: u16) -> bool {
        status == 408
            && self.connection.reused
            && self.sending.is_done()
            && !self.observer.request.statuses.contains(&408)
    }
}

impl ReadResponse for H1Exchange<'_, '_> {
    fn read(&mut self, input: &[u8]) -> Option<Outcome> {
        let mut input = std::mem::take(&mut self.connection.before).strip(input);
        if input.is_empty() {
            return None;
        }
        match self.connection.transport.arrived() {
            Some(unix_ns) if self.observer.request.stream.is_some() => {
                self.observer.note_stamped_bytes(input.len(), unix_ns);
            }
            _ => self.observer.note_bytes(input.len()),
        }
        loop {
            let (used, step) = match self.connection.decoder.step(input) {
                Ok(result) => result,
                Err(error) => return Some(self.fail(Failure::new(error.outcome(), error))),
            };
            match step {
                ResponseStep::NeedMore => {
                    if self.observer.limits.timeouts.first_byte_ns.is_some()
                        && self.connection.decoder.has_begun()
                    {
                        self.observer.begin_response();
                    }
                    return None;
                }
                ResponseStep::Head {
                    status,
                    keep_alive,
                    closes,
                    values,
                } => {
                    if closes && self.is_idle_timeout(status) {
                        return Some(
                            self.observer
                                .failed(Failure::new(Outcome::Stale, TIMED_OUT)),
                        );
                    }
                    let bytes = self.connection.decoder.take_head();
                    let values = values.map(|values| *values).unwrap_or_default();
                    self.observer.head(status, values, bytes);
                    self.response = Persistence { keep_alive, closes };
                    self.connection.before = PrecedingResponse {
                        head_request: self.connection.decoder.head_request(),
                        status,
                    };
                }
                ResponseStep::Body(length) => {
                    if self.observer.body(&input[used - length..used]) {
                        return Some(self.observer.complete());
                    }
                }
                ResponseStep::End => {
                    let before = self.connection.before;
                    self.clean = before.strip(&input[used..]).is_empty();
                    if !self.clean {
                        self.observer.excess(before.excess());
                    }
                    return Some(self.observer.complete());
                }
            }
            input = &input[used..];
        }
    }

    fn eof(&mut self) -> Outcome {
        match self.connection.decoder.eof() {
            Ok(_) => self.observer.complete(),
            Err(error) => {
                let failure = self.sending.failure();
                self.fail(failure.unwrap_or_else(|| Failure::new(error.outcome(), error)))
            }
        }
    }

    fn missing(&self) -> &'static str {
        self.connection.decoder.missing()
    }
}
