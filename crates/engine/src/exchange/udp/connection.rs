//! A socket that carries one exchange after another. Datagrams that answer none of them are counted, and the socket
//! stays in use.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, Read};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{Interest, ReadBuf, Ready};

use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::request::OutgoingRequest;
use crate::exchange::udp::matching::Matching;
use crate::exchange::udp::memory::{Memory, Unmatched};
use crate::net::buffers::WorkerBuffers;
use crate::net::datagrams as socket;
use crate::net::datagrams::{OpenSocket, UdpRoute};
use crate::net::dial::{Dialer, connect_failure, resolve_per_connection};
use crate::net::rotation::Rotation;
use crate::net::target::{Address, Target};
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::head::HeadValues;
use crate::record::ports::PortTable;
use crate::record::recorder::Recorder;
use crate::record::sample::ConnectTimes;

/// The status that is recorded for every exchange, as datagrams have none.
pub const STATUS: u16 = 0;
const REFUSED: &str = "refused (ICMP): nothing listens there";
/// How many earlier datagrams are removed before a request is sent whose response is the next datagram.
const MAX_EARLY_DATAGRAMS: usize = 64;

pub struct UdpConnection {
    open: OpenSocket,
    /// The other addresses of the server's name, which have not refused yet.
    others: VecDeque<UdpRoute>,
    matching: Arc<Matching>,
    memory: Memory,
    spent: bool,
    buffers: Rc<WorkerBuffers>,
    ports: Rc<PortTable>,
    rotation: Rc<Rotation>,
    recorder: Rc<RefCell<Recorder>>,
    workload: usize,
}

impl UdpConnection {
    /// Opens a socket. A name may have to be resolved; nothing is sent to the server.
    pub async fn open(
        dialer: &Dialer,
        target: &Target,
        matching: Arc<Matching>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Self, Failure> {
        let start = observer.task.now();
        observer.begin_connecting(start);
        let resolved = resolve_per_connection(observer.task, target).await?;
        let resolved_at = observer.task.now();
        let addresses = resolved.as_ref().unwrap_or(&target.addresses);
        let mut others = dialer.routes(target, addresses, resolved_at);
        let first = others.pop_front().expect("there is at least one address");
        let open = socket::open(first, &dialer.ports).map_err(|error| connect_failure(&error))?;
        observer.connected(ConnectTimes {
            total: observer.task.now() - start,
            dns: resolved.is_some().then_some(resolved_at - start),
            tcp: None,
            tls: None,
            resumed: false,
        });
        Ok(Self {
            open,
            others,
            matching,
            memory: Memory::default(),
            spent: false,
            buffers: dialer.buffers.clone(),
            ports: dialer.ports.clone(),
            rotation: dialer.rotation.clone(),
            recorder: dialer.recorder.clone(),
            workload: observer.workload,
        })
    }

    /// Counts what comes between exchanges. It never makes the socket unusable.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<IdleEvent> {
        let buffers = self.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            // An error belongs to a request that has ended.
            if ready!(self.open.socket.poll_recv(cx, &mut buffer)).is_ok() {
                self.count(self.matching.key(buffer.filled()));
            }
        }
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
        let buffers = self.buffers.clone();
        let mut filled = Vec::new();
        let datagram = outgoing.bytes(&buffers, &mut filled);
        let datagram = datagram.expect("only the values of steps may not fit");
        observer.note_request(datagram);
        let in_order = matches!(*self.matching, Matching::Order);
        if in_order {
            self.discard_early();
        }
        self.memory.begin();
        let key = self.matching.key(datagram);
        let mut exchange = UdpExchange {
            connection: self,
            observer,
            datagram,
            key,
            sent: false,
            strays: false,
            answered: false,
        };
        let outcome = loop {
            let socket = exchange.connection.open.socket.clone();
            let mut alarm = pin!(socket.ready(Interest::ERROR));
            if let Some(outcome) = poll_fn(|cx| exchange.poll(cx, alarm.as_mut())).await {
                break outcome;
            }
        };
        let answered = exchange.answered;
        self.memory.end(key, answered);
        // With `Order`, a late response would be taken for that of the next request.
        self.spent = outgoing.last_on_connection
            || outcome == Outcome::ConnectRefused
            || (in_order && !answered);
        buffers.put_spare(filled);
        outcome
    }

    /// Removes the datagrams that have come and cannot answer a request any more.
    fn discard_early(&mut self) {
        let buffers = self.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        for _ in 0..MAX_EARLY_DATAGRAMS {
            let read = (&*SockRef::from(&*self.open.socket)).read(&mut scratch);
            if read.is_err() {
                return;
            }
            self.count(None);
        }
    }

    /// Counts a datagram that is not the response of the request in hand.
    fn count(&mut self, key: Option<u64>) -> Unmatched {
        // With `Order`, every earlier request on this socket has been answered.
        let unmatched = match *self.matching {
            Matching::Order => Unmatched::Duplicate,
            _ => self.memory.classify(key),
        };
        let mut recorder = self.recorder.borrow_mut();
        match unmatched {
            Unmatched::Duplicate => recorder.duplicate_response(self.workload),
            Unmatched::Late { overtaken } => recorder.late_response(self.workload, overtaken),
            Unmatched::Stray => recorder.stray_response(self.workload),
        }
        unmatched
    }
}

/// One request and its response.
struct UdpExchange<'a, 'w> {
    connection: &'a mut UdpConnection,
    observer: &'a mut ExchangeObserver<'w>,
    datagram: &'a [u8],
    key: Option<u64>,
    sent: bool,
    /// Whether datagrams have come that answer nothing.
    strays: bool,
    answered: bool,
}

impl UdpExchange<'_, '_> {
    /// `alarm` is ready when the network has returned an error in place of a response. `None`: a new `alarm` is needed.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        alarm: Pin<&mut impl Future<Output = io::Result<Ready>>>,
    ) -> Poll<Option<Outcome>> {
        if let Some(outcome) = self.observer.begin_sending() {
            return Poll::Ready(Some(outcome));
        }
        let problem = match self.poll_response(cx) {
            Poll::Ready(Ok(outcome)) => return Poll::Ready(Some(outcome)),
            Poll::Ready(Err(problem)) => Some(problem),
            Poll::Pending if alarm.poll(cx).is_ready() => self.connection.open.take_error(),
            Poll::Pending => {
                let interrupted = self.observer.task.poll_interrupt();
                return interrupted.map(|_| Some(self.timed_out()));
            }
        };
        let failed = problem.and_then(|problem| self.go_elsewhere(&problem).err());
        Poll::Ready(failed.map(|failure| self.observer.failed(failure)))
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Outcome>> {
        if !self.sent {
            ready!(self.poll_send(cx))?;
            self.sent = true;
            self.observer.note_written(self.datagram.len());
        }
        let buffers = self.connection.buffers.clone();
        let mut scratch = buffers.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            ready!(self.connection.open.socket.poll_recv(cx, &mut buffer))?;
            if let Some(outcome) = self.read(buffer.filled()) {
                return Poll::Ready(Ok(outcome));
            }
        }
    }

    /// Tries at once, as the runtime learns only in its next round that a new socket can be written to.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let socket = &self.connection.open.socket;
        match SockRef::from(&**socket).send(self.datagram) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                socket.poll_send(cx, self.datagram)
            }
            sent => Poll::Ready(sent),
        }
    }

    /// Takes in a datagram. Returns the outcome if it is the response.
    fn read(&mut self, datagram: &[u8]) -> Option<Outcome> {
        let key = self.connection.matching.key(datagram);
        let is_response = match *self.connection.matching {
            Matching::Order => true,
            _ => key.is_some() && key == self.key,
        };
        if !is_response {
            self.strays |= self.connection.count(key) == Unmatched::Stray;
            return None;
        }
        self.answered = true;
        self.connection.others.clear();
        self.connection
            .rotation
            .accepted(&Address::Tcp(self.connection.open.route.to));
        self.observer.note_bytes(datagram.len());
        self.observer.head(STATUS, HeadValues::default(), None);
        if let Some(limit) = self.observer.limits.body
            && datagram.len() as u64 > limit
        {
            let why = format!("the response is longer than {limit} bytes");
            return Some(self.observer.failed(Failure::new(Outcome::TooLarge, why)));
        }
        self.observer.body(datagram);
        Some(self.observer.complete())
    }

    /// Has the request sent to the next address of the name, as any will do until one has answered. The error says why
    /// the request has failed.
    fn go_elsewhere(&mut self, problem: &io::Error) -> Result<(), Failure> {
        let connection = &mut *self.connection;
        let mut failure = connect_failure(problem);
        if failure.outcome == Outcome::ConnectRefused {
            failure.why = REFUSED.into();
        }
        let Some(next) = connection.others.pop_front() else {
            return Err(failure);
        };
        let refused = Address::Tcp(connection.open.route.to);
        connection
            .rotation
            .failed(&refused, self.observer.task.now(), false);
        connection
            .recorder
            .borrow_mut()
            .passed_over(connection.workload, &format!("{refused}: {}", failure.why));
        connection.open =
            socket::open(next, &connection.ports).map_err(|error| connect_failure(&error))?;
        self.sent = false;
        Ok(())
    }

    fn timed_out(&mut self) -> Outcome {
        let outcome = self.observer.timed_out();
        let why = self.connection.matching.missed(self.key, self.strays);
        self.observer.failed(Failure::new(outcome, why))
    }
}
