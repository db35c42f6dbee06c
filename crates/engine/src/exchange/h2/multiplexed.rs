//! One connection, and the task that reads and writes for all of its streams.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::ReadBuf;
use tokio::task::spawn_local;

use crate::exchange::destination::Destination;
use crate::exchange::h2::failure;
use crate::exchange::h2::history::{Entry, History};
use crate::exchange::h2::stream_limit::{StreamLimit, StreamPermit};
use crate::exchange::observer::ExchangeObserver;
use crate::machine::tasks::{Interrupt, Task};
use crate::net::buffers::WorkerBuffers;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h2::endpoint::{Ending, Endpoint};
use crate::protocol::h2::stream::Stream;
use crate::record::recorder::Recorder;
use crate::record::sample::Sample;

/// Nothing is read while more bytes than this wait to be written. Otherwise a server that keeps asking for replies (to
/// PING or SETTINGS) without reading them could make the send buffer grow without bound.
const MAX_UNSENT_BYTES: usize = 256 * 1024;
/// How long closing may take: after this time the connection is dropped, even if the server has not read the GOAWAY.
const CLOSE_NS: u64 = 100_000_000;

/// A connection that closes gracefully when it is dropped.
pub struct MultiplexedConnection(Rc<Shared>);

/// Why a request has no stream of the connection.
pub enum NoStream {
    /// The request has ended with this outcome.
    Over(Outcome),
    /// The connection takes no more requests. It has not seen this one.
    Refused(Failure),
}

/// A request that the connection's task will hand to the kernel.
struct UnsentHead {
    /// Where its head begins among all bytes of the connection.
    begin: u64,
    id: u32,
    stream: Rc<Stream>,
    entry: Option<Entry>,
    /// The workload under which it is recorded.
    workload: usize,
    /// Whether it was sent before, on this connection or another.
    resent: bool,
}

/// What a connection's clients and its task share.
struct Shared {
    endpoint: RefCell<Endpoint>,
    /// The requests whose heads have not left yet, in order. Empty if the connection belongs to one client alone, which
    /// writes them itself.
    unsent_heads: RefCell<VecDeque<UnsentHead>>,
    transport: RefCell<Transport>,
    /// Why writing failed, if it did. What the server sent before can still be read.
    write_failure: RefCell<Option<Failure>>,
    task: RefCell<Waker>,
    limit: Rc<StreamLimit>,
    /// Whether it belongs to one client alone.
    exclusive: bool,
    /// The latest streams, if several clients share the connection.
    history: RefCell<History>,
    /// Whether its last client has left.
    left: Cell<bool>,
    /// Whether it has carried an exchange.
    used: Cell<bool>,
}

impl MultiplexedConnection {
    /// Opens a connection. `exclusive` means that no other client will share it.
    pub async fn open(
        to: &mut Destination<'_>,
        observer: &mut ExchangeObserver<'_>,
        exclusive: bool,
    ) -> Result<Rc<Self>, Failure> {
        let (transport, times) = to.connect(observer).await?;
        if matches!(transport, Transport::Tls(_)) {
            check_alpn(transport.alpn())?;
        }
        observer.connected(times);
        let endpoint = Endpoint::default();
        let shared = Rc::new(Shared {
            limit: StreamLimit::new(endpoint.max_concurrent_streams),
            endpoint: RefCell::new(endpoint),
            unsent_heads: RefCell::default(),
            transport: RefCell::new(transport),
            write_failure: RefCell::default(),
            task: RefCell::new(Waker::noop().clone()),
            exclusive,
            history: RefCell::default(),
            left: Cell::new(false),
            used: Cell::new(false),
        });
        let task = Driver {
            shared: shared.clone(),
            buffers: to.dialer.buffers.clone(),
            recorder: to.dialer.recorder.clone(),
            workload: observer.workload,
            closing: false,
        };
        spawn_local(task.run(observer.task.take_another()));
        Ok(Rc::new(Self(shared)))
    }

    pub fn takes_more(&self) -> bool {
        self.0.endpoint.borrow().takes_more()
    }

    pub fn has_ended(&self) -> bool {
        self.0.endpoint.borrow().ending.is_some()
    }

    /// Whether it belongs to one client alone, whose requests leave at once.
    pub fn is_own(&self) -> bool {
        self.0.exclusive
    }

    /// Notes that the connection has carried an exchange.
    pub fn carried(&self) {
        self.0.used.set(true);
    }

    /// Whether the server has processed requests of this connection.
    pub fn has_carried(&self) -> bool {
        self.0.used.get() || self.0.endpoint.borrow().has_processed()
    }

    pub fn history(&self) -> RefMut<'_, History> {
        self.0.history.borrow_mut()
    }

    /// Waits until the connection has room for another stream. Fails if it ends meanwhile, or takes no more requests.
    pub async fn stream(
        &self,
        entry: Option<Entry>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<StreamPermit, NoStream> {
        let limit = &self.0.limit;
        if let Some(permit) = limit.take() {
            return self.admit(permit, observer);
        }
        let start = observer.begin_waiting(observer.limits.timeouts.total_ns);
        if let Some(entry) = entry {
            self.history().note_wait(entry, start);
        }
        let ticket = limit.wait();
        let task = observer.task;
        let called = poll_fn(|cx| limit.poll(&ticket, cx, task)).await;
        task.clear_deadline();
        match called {
            Ok(permit) => {
                observer.waited_for_stream(start);
                self.admit(permit, observer)
            }
            Err(Some(Interrupt::Stop)) => Err(NoStream::Over(observer.sample.given_up())),
            Err(Some(Interrupt::Deadline)) => {
                let why = "no stream of the connection became free in time";
                let failure = Failure::new(Outcome::ResponseTimeout, why);
                Err(NoStream::Over(observer.failed(failure)))
            }
            Err(None) => Err(self.turn_away(observer)),
        }
    }

    /// Passes the permit on, unless no stream may be opened even though there is room, as after a GOAWAY (RFC 9113
    /// section 6.8).
    fn admit(
        &self,
        permit: StreamPermit,
        observer: &ExchangeObserver<'_>,
    ) -> Result<StreamPermit, NoStream> {
        if self.takes_more() {
            Ok(permit)
        } else {
            Err(self.turn_away(observer))
        }
    }

    fn turn_away(&self, observer: &ExchangeObserver<'_>) -> NoStream {
        if observer.task.stopping() {
            return NoStream::Over(observer.sample.given_up());
        }
        let refused = self
            .0
            .endpoint
            .borrow()
            .go_away
            .as_ref()
            .map(failure::refused);
        let spent = || Failure::new(Outcome::Stale, "the connection has no more streams");
        let failure = self.failure(false).or(refused);
        NoStream::Refused(failure.unwrap_or_else(spent))
    }

    /// Sends the head of a request on `stream`; `end` means that it has no body. If it has one, the caller has to send
    /// it right afterwards; the head leaves together with its beginning. When it has left, `stream` and the history
    /// have the time, unless the connection belongs to one client: then it leaves at once. Returns the stream's number
    /// and the number of bytes on the wire.
    pub fn send_head(
        &self,
        stream: &Rc<Stream>,
        block: &[u8],
        end: bool,
        entry: Option<Entry>,
        sample: &Sample,
    ) -> (u32, usize) {
        let (begin, id, wire) = {
            let endpoint = &mut *self.0.endpoint.borrow_mut();
            let begin = endpoint.queued();
            let (id, wire) = endpoint.ask(stream, block, end);
            (begin, id, wire)
        };
        if !self.0.exclusive {
            self.0.unsent_heads.borrow_mut().push_back(UnsentHead {
                begin,
                id,
                stream: stream.clone(),
                entry,
                workload: sample.workload,
                resent: sample.sent.is_some(),
            });
        }
        if end {
            self.0.flush();
        }
        (id, wire)
    }

    /// Sends as much of a body as goes through now; `end` means that the request ends with it. Returns how many of its
    /// bytes were sent, and how many bytes that is on the wire.
    pub fn send(&self, stream: u32, body: &[u8], end: bool) -> (usize, usize) {
        let sent = self.0.endpoint.borrow_mut().send(stream, body, end);
        self.0.flush();
        self.0.endpoint.borrow_mut().wake_held();
        sent
    }

    /// Called when the client has finished with a stream. `left`: the head of its request has left.
    pub fn release(&self, stream: u32, left: bool) {
        if !left {
            let unsent_heads = &mut *self.0.unsent_heads.borrow_mut();
            if let Ok(position) = unsent_heads.binary_search_by_key(&stream, |one| one.id) {
                unsent_heads.remove(position);
            }
        }
        let mut endpoint = self.0.endpoint.borrow_mut();
        endpoint.release(stream);
        let all_sent = endpoint.unsent().is_empty();
        drop(endpoint);
        if !all_sent {
            self.0.flush();
        }
    }

    /// Why the exchange on a stream has failed, if the connection has ended.
    pub fn failure(&self, answered: bool) -> Option<Failure> {
        let endpoint = self.0.endpoint.borrow();
        let ending = endpoint.ending.as_ref()?;
        let reused = self.0.used.get();
        Some(failure::ended(ending, &endpoint, reused, answered))
    }

    /// The failure of a request that the server refused with its GOAWAY.
    pub fn refusal(&self) -> Failure {
        let endpoint = self.0.endpoint.borrow();
        let go_away = endpoint.go_away.as_ref();
        failure::refused(go_away.expect("that is how it was refused"))
    }
}

impl Shared {
    /// Sends at once what a single client has to send. What several clients have to send leaves together, after each of
    /// them has had its turn.
    fn flush(&self) {
        let task = self.task.borrow();
        if self.exclusive {
            let _ = self.poll_write(&mut Context::from_waker(&task));
        } else {
            task.wake_by_ref();
        }
    }

    /// Writes what the socket accepts; pending if that was not everything.
    fn poll_write(&self, cx: &mut Context<'_>) -> Poll<()> {
        let endpoint = &mut *self.endpoint.borrow_mut();
        let transport = &mut *self.transport.borrow_mut();
        let mut lost = None;
        while !endpoint.unsent().is_empty() && lost.is_none() {
            match transport.poll_write(cx, endpoint.unsent()) {
                Poll::Ready(Ok(written)) => endpoint.wrote(written),
                Poll::Ready(Err(error)) => lost = Some(error),
                Poll::Pending => return Poll::Pending,
            }
        }
        match transport.poll_flush(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => lost = Some(error),
            Poll::Ready(Ok(())) => {}
        }
        if let Some(error) = lost {
            endpoint.wrote(endpoint.unsent().len());
            *self.write_failure.borrow_mut() = Some(broken(&error));
        }
        Poll::Ready(())
    }

    /// Notes that all requests whose heads have begun to be written have left at `now`.
    fn note_left(&self, now: u64, recorder: &RefCell<Recorder>) {
        let written = self.endpoint.borrow().written();
        let unsent_heads = &mut *self.unsent_heads.borrow_mut();
        let mut recorder = recorder.borrow_mut();
        while let Some(one) = unsent_heads.pop_front_if(|one| one.begin < written) {
            one.stream.sent.set(Some(now));
            if one.resent {
                recorder.sent_again(one.workload, now);
            } else {
                recorder.sent(one.workload, now);
            }
            if let Some(entry) = one.entry {
                self.history.borrow_mut().note_sent(entry, one.id, now);
            }
        }
    }

    fn end(&self, ending: Ending) {
        self.endpoint.borrow_mut().end(ending);
        self.limit.close();
    }
}

impl Drop for MultiplexedConnection {
    fn drop(&mut self) {
        self.0.left.set(true);
        self.0.task.borrow().wake_by_ref();
    }
}

/// Reads and writes for all streams of the connection.
struct Driver {
    shared: Rc<Shared>,
    buffers: Rc<WorkerBuffers>,
    recorder: Rc<RefCell<Recorder>>,
    workload: usize,
    /// Whether the connection is being closed, after a last GOAWAY.
    closing: bool,
}

impl Driver {
    async fn run(mut self, task: Task) {
        task.register().await;
        poll_fn(|cx| {
            self.shared.task.replace(cx.waker().clone());
            Poll::Ready(())
        })
        .await;
        poll_fn(|cx| self.poll(cx, &task)).await;
        self.shared.end(Ending::Closed);
        self.recorder.borrow_mut().connection_closed(self.workload);
    }

    fn poll(&mut self, cx: &mut Context<'_>, task: &Task) -> Poll<()> {
        let shared = self.shared.clone();
        if !self.closing {
            self.read(cx, task);
            let ended = shared.endpoint.borrow().ending.clone();
            match ended {
                Some(Ending::Broken(_)) => self.begin_closing(task),
                Some(_) => return Poll::Ready(()),
                None if shared.left.get() => {
                    shared.endpoint.borrow_mut().leave();
                    self.begin_closing(task);
                }
                None => {}
            }
        }
        let unsent = shared.endpoint.borrow().unsent().len();
        let any_unsent = !shared.unsent_heads.borrow().is_empty();
        let now = if any_unsent { task.now() } else { 0 };
        let written = shared.poll_write(cx);
        if any_unsent {
            shared.note_left(now, &self.recorder);
        }
        // TLS may have taken everything though the socket has not, so this does not depend on `written`.
        shared.endpoint.borrow_mut().wake_held();
        if self.closing {
            let over =
                written.is_ready() && shared.transport.borrow_mut().poll_shutdown(cx).is_ready();
            if over {
                return Poll::Ready(());
            }
        } else if unsent > MAX_UNSENT_BYTES && written.is_ready() {
            cx.waker().wake_by_ref(); // reading has paused, so nothing else would wake the task
        }
        task.poll_interrupt().map(|_| ())
    }

    fn begin_closing(&mut self, task: &Task) {
        self.closing = true;
        task.set_deadline(task.now() + CLOSE_NS);
    }

    /// Reads what has come, but only about one buffer at a time, so that other tasks get their turn; pauses
    /// while too much is unsent.
    fn read(&mut self, cx: &mut Context<'_>, task: &Task) {
        let shared = &self.shared;
        let scratch = &mut **self.buffers.scratch.borrow_mut();
        let mut total = 0;
        let ending = loop {
            if shared.endpoint.borrow().unsent().len() > MAX_UNSENT_BYTES {
                return;
            }
            let mut buffer = ReadBuf::new(scratch);
            let read = shared.transport.borrow_mut().poll_read(cx, &mut buffer);
            let bytes = buffer.filled();
            match read {
                Poll::Pending => return,
                Poll::Ready(Ok(())) if bytes.is_empty() => {
                    let write_failure = shared.write_failure.take();
                    break write_failure.map_or(Ending::Closed, Ending::Lost);
                }
                Poll::Ready(Err(error)) => break Ending::Lost(broken(&error)),
                Poll::Ready(Ok(())) => {}
            }
            let mut endpoint = shared.endpoint.borrow_mut();
            if let Err(violation) = endpoint.feed(bytes, task.now()) {
                break Ending::Broken(violation);
            }
            shared.limit.allow(endpoint.max_concurrent_streams);
            if endpoint.go_away.is_some() {
                shared.limit.close();
            }
            total += bytes.len();
            if total >= scratch.len() {
                cx.waker().wake_by_ref();
                return;
            }
        };
        shared.end(ending);
    }
}

/// Fails unless the server of a connection with TLS chose HTTP/2 by ALPN.
pub fn check_alpn(chosen: Option<&[u8]>) -> Result<(), Failure> {
    let why = match chosen {
        Some(b"h2") => return Ok(()),
        Some(other) => {
            let other = other.escape_ascii();
            format!("the server chose {other} by ALPN: it does not speak HTTP/2 here")
        }
        None => "the server chose no protocol by ALPN: it does not speak HTTP/2 here".into(),
    };
    Err(Failure::new(Outcome::TlsFailed, why))
}
