//! One connection, its task, and the streams that it has room for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use tokio::task::spawn_local;

use crate::record::interval::Outcome;
use crate::record::recorder::Recorder;
use crate::seat::{Interrupt, Seat};
use crate::wire::dial::{Dialer, interrupted};
use crate::wire::failure::Failure;
use crate::wire::h1::codec::MAX_HEAD_BYTES;
use crate::wire::h2::failure::{Progress, failure};
use crate::wire::h2::io::{Greeting, Io};
use crate::wire::target::Target;
use crate::wire::tls::Sessions;
use crate::wire::transport::Transport;
use crate::wire::watch::Watch;

/// As h2load: no answer waits for the client to open a window.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// Of a request's body so much waits in memory for the server's window.
const UPLOAD_BYTES: usize = 64 * 1024;
/// Small frames that have come and were not taken in yet may cost so much; the default of the `h2` crate ends the
/// connection of some hundred clients whose short answers come together.
const SMALL_FRAMES_BYTES: usize = 16 * 1024 * 1024;
/// Until the server has said how many streams it takes: what RFC 9113 section 6.5.2 recommends to servers.
const STREAMS_BEFORE_SETTINGS: usize = 100;
/// Streams that were given up, and for whose late frames nobody is to blame.
const RESET_STREAMS: usize = 1024;
/// After this time a connection that nobody uses any more is closed, whether or not the server takes its goodbye.
const CLOSE_NS: u64 = 100_000_000;

/// Closes in good order when it is dropped.
pub struct Connection {
    send: SendRequest<Bytes>,
    state: Rc<State>,
}

/// What a connection's clients and its task share.
struct State {
    greeting: Rc<Cell<Greeting>>,
    /// Nobody uses it any more.
    left: Cell<bool>,
    /// It has ended.
    ended: Cell<bool>,
    /// It has carried an exchange.
    used: Cell<bool>,
    streams: Streams,
}

/// How many streams are open, and who waits for one, in order.
struct Streams {
    most: Cell<usize>,
    open: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Ticket>>>,
}

#[derive(Default)]
struct Ticket {
    state: Cell<TicketState>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TicketState {
    #[default]
    Waiting,
    /// The stream is its holder's.
    Called,
    /// Its holder has left.
    Void,
}

/// A stream of the connection, free again when it is dropped.
pub struct Place(Rc<State>);

impl Connection {
    pub async fn open(
        dialer: &Dialer,
        target: &Target,
        sessions: &mut Sessions,
        watch: &mut Watch<'_>,
    ) -> Result<Rc<Self>, Failure> {
        let (transport, times) = dialer.connect(target, sessions, watch).await?;
        check_alpn(&transport)?;
        let greeting = Rc::<Cell<Greeting>>::default();
        let io = Io::new(transport, greeting.clone());
        let settings = settings();
        let handshake = pin!(settings.handshake::<_, Bytes>(io));
        let handshake = watch.seat.or_interrupt(handshake).await;
        let nothing = Progress {
            greeting: Greeting::None,
            answered: false,
            reused: false,
        };
        let (send, connection) = handshake
            .map_err(|cause| interrupted(cause, "HTTP/2 could not be begun in time"))?
            .map_err(|error| failure(&error, nothing))?;
        let state = Rc::new(State {
            greeting,
            left: Cell::new(false),
            ended: Cell::new(false),
            used: Cell::new(false),
            streams: Streams::new(),
        });
        watch.connected(times);
        let task = Task {
            connection,
            state: state.clone(),
            recorder: dialer.recorder.clone(),
            workload: watch.workload,
        };
        spawn_local(task.run(watch.seat.take_another()));
        Ok(Rc::new(Self { send, state }))
    }

    /// For one more client.
    pub fn sender(&self) -> SendRequest<Bytes> {
        self.send.clone()
    }

    pub fn takes_more(&self) -> bool {
        takes_more(&mut self.sender()) && !self.has_ended()
    }

    pub fn has_ended(&self) -> bool {
        self.state.ended.get()
    }

    /// It carries an exchange to its end.
    pub fn carried(&self) {
        self.state.used.set(true);
    }

    pub fn progress(&self, answered: bool) -> Progress {
        Progress {
            greeting: self.state.greeting.get(),
            answered,
            reused: self.state.used.get(),
        }
    }

    /// Waits until the connection has room for another stream.
    pub async fn stream(&self, watch: &mut Watch<'_>) -> Result<Place, Outcome> {
        let streams = &self.state.streams;
        if streams.take() {
            return Ok(Place(self.state.clone()));
        }
        let start = watch.waits(watch.limits.timeouts.total_ns);
        let ticket = Rc::<Ticket>::default();
        streams.waiting.borrow_mut().push_back(ticket.clone());
        let seat = watch.seat;
        let called = poll_fn(|cx| ticket.poll(cx, &self.state, seat)).await;
        seat.clear_deadline();
        match called {
            Ok(place) => {
                watch.waited_for_stream(start);
                Ok(place)
            }
            Err(cause) => Err(given_up(cause, watch)),
        }
    }
}

/// False: its next request would be refused.
pub fn takes_more(send: &mut SendRequest<Bytes>) -> bool {
    let ready = send.poll_ready(&mut Context::from_waker(Waker::noop()));
    !matches!(ready, Poll::Ready(Err(_)))
}

fn check_alpn(transport: &Transport) -> Result<(), Failure> {
    let why = match (transport, transport.alpn()) {
        (Transport::Plain(_), _) | (_, Some(b"h2")) => return Ok(()),
        (_, Some(other)) => {
            let other = other.escape_ascii();
            format!("the server chose {other} by ALPN: it does not speak HTTP/2 here")
        }
        (_, None) => "the server chose no protocol by ALPN: it does not speak HTTP/2 here".into(),
    };
    Err(Failure::new(Outcome::TlsFailed, why))
}

fn settings() -> Builder {
    let mut settings = Builder::new();
    settings
        .enable_push(false)
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .initial_max_send_streams(STREAMS_BEFORE_SETTINGS)
        .max_header_list_size(MAX_HEAD_BYTES as u32)
        .max_send_buffer_size(UPLOAD_BYTES)
        .max_concurrent_reset_streams(RESET_STREAMS)
        .data_frame_budget(SMALL_FRAMES_BYTES);
    settings
}

/// Why a request was not sent that waited for a stream; `None`: the connection has ended meanwhile.
fn given_up(cause: Option<Interrupt>, watch: &mut Watch<'_>) -> Outcome {
    let (outcome, why) = match cause {
        Some(Interrupt::Stop) => return watch.sample.given_up(),
        Some(Interrupt::Deadline) => (
            Outcome::ResponseTimeout,
            "no stream of the connection became free in time",
        ),
        None => (
            Outcome::Stale,
            "the connection ended while the request waited for a free stream",
        ),
    };
    watch.failed(Failure::new(outcome, why))
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Its task is woken by what it drops next: the last way to send.
        self.state.left.set(true);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let streams = &self.0.streams;
        streams.open.set(streams.open.get() - 1);
        streams.call();
    }
}

impl Streams {
    fn new() -> Self {
        Self {
            most: Cell::new(STREAMS_BEFORE_SETTINGS),
            open: Cell::new(0),
            waiting: RefCell::default(),
        }
    }

    /// Nobody who came before waits, and there is room.
    fn take(&self) -> bool {
        let free = self.open.get() < self.most.get() && self.waiting.borrow().is_empty();
        if free {
            self.open.set(self.open.get() + 1);
        }
        free
    }

    /// The server takes so many.
    fn allow(&self, most: usize) {
        if self.most.replace(most) < most {
            self.call();
        }
    }

    /// Calls those who wait, as far as there is room.
    fn call(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while self.open.get() < self.most.get()
            && let Some(ticket) = waiting.pop_front()
        {
            if ticket.state.get() == TicketState::Waiting {
                self.open.set(self.open.get() + 1);
                ticket.state.set(TicketState::Called);
                ticket.wake();
            }
        }
    }

    /// The connection has ended: all who wait find out.
    fn disperse(&self) {
        self.waiting.take().iter().for_each(|ticket| ticket.wake());
    }
}

impl Ticket {
    fn poll(
        &self,
        cx: &mut Context<'_>,
        state: &Rc<State>,
        seat: &Seat,
    ) -> Poll<Result<Place, Option<Interrupt>>> {
        if self.state.get() == TicketState::Called {
            return Poll::Ready(Ok(Place(state.clone())));
        }
        let given_up = if state.ended.get() && !seat.stopping() {
            Poll::Ready(None)
        } else {
            seat.poll_interrupt().map(Some)
        };
        if given_up.is_ready() {
            self.state.set(TicketState::Void);
        } else {
            *self.waker.borrow_mut() = Some(cx.waker().clone());
        }
        given_up.map(Err)
    }

    fn wake(&self) {
        self.waker.take().inspect(Waker::wake_by_ref);
    }
}

/// Reads and writes for all streams of the connection.
struct Task {
    connection: h2::client::Connection<Io, Bytes>,
    state: Rc<State>,
    recorder: Rc<RefCell<Recorder>>,
    workload: usize,
}

impl Task {
    async fn run(mut self, seat: Seat) {
        seat.sit().await;
        poll_fn(|cx| self.poll(cx, &seat)).await;
        self.state.ended.set(true);
        self.state.streams.disperse();
        self.recorder.borrow_mut().parted(self.workload);
    }

    fn poll(&mut self, cx: &mut Context<'_>, seat: &Seat) -> Poll<()> {
        // How it ended is told to each of its streams.
        let ended = Pin::new(&mut self.connection).poll(cx).map(|_| ());
        let most = self.connection.max_concurrent_send_streams();
        self.state.streams.allow(most);
        if self.state.left.take() {
            seat.set_deadline(seat.now() + CLOSE_NS);
        }
        match ended {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => seat.poll_interrupt().map(|_| ()),
        }
    }
}
