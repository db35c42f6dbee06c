//! New connections: name, TCP or unix socket, TLS, within one deadline.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use rustls::HandshakeKind;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::machine::sockets::{choose_port_when_connecting, nonblocking};
use crate::machine::stamps;
use crate::machine::tasks::{Interrupt, Task};
use crate::net::buffers::WorkerBuffers;
use crate::net::datagrams::UdpRoute;
use crate::net::failure::describe;
use crate::net::rotation::Rotation;
use crate::net::stamped::Stamped;
use crate::net::target::{Address, Name, Target, resolve};
use crate::net::tls::{Sessions, Tls};
use crate::net::transport::{Plain, Transport};
use crate::outcome::{Failure, Outcome};
use crate::record::ports::PortTable;
use crate::record::recorder::Recorder;
use crate::record::sample::ConnectTimes;

/// How long a client waits when the queue of a unix socket's listener is full; TCP's own stack does that itself.
const UNIX_RETRY_NS: u64 = 1_000_000;

/// If a name has several addresses, each one but the last must answer within this time.
const ATTEMPT_NS: u64 = 1_000_000_000;

/// Opens the connections of one workload on one worker.
#[derive(Debug)]
pub struct Dialer {
    pub buffers: Rc<WorkerBuffers>,
    /// Where a connection that belongs to no single client reports its end.
    pub recorder: Rc<RefCell<Recorder>>,
    pub ports: Rc<PortTable>,
    pub rotation: Rc<Rotation>,
    workload: usize,
    /// Whether the kernel is to stamp arriving bytes.
    stamps: bool,
    /// Counts the turns among the local addresses.
    source_turn: Cell<usize>,
}

impl Dialer {
    /// Workers begin with different addresses. `stamps`: whether the kernel is to stamp arriving bytes.
    pub fn new(
        worker: usize,
        workload: usize,
        stamps: bool,
        buffers: Rc<WorkerBuffers>,
        recorder: Rc<RefCell<Recorder>>,
    ) -> Self {
        let ports = recorder.borrow().ports.clone();
        Self {
            buffers,
            recorder,
            ports,
            rotation: Rc::new(Rotation::new(worker)),
            workload,
            stamps,
            source_turn: Cell::new(worker),
        }
    }

    /// Opens a connection, which begins at `start`, by the `deadline` that `task` has.
    pub async fn connect(
        &self,
        target: &Target,
        sessions: &mut Sessions,
        task: &Task,
        start: u64,
        deadline: u64,
    ) -> Result<(Transport, ConnectTimes), Failure> {
        let resolved = resolve_per_connection(task, target).await?;
        let dns = resolved.is_some().then(|| task.now() - start);
        let addresses = resolved.as_ref().unwrap_or(&target.addresses);
        let plain = if target.name.is_some() && addresses.len() > 1 {
            Box::pin(self.connect_any(task, target, addresses, deadline)).await?
        } else {
            let address = &addresses[self.rotation.next() % addresses.len()];
            self.connect_one(task, target, address).await?
        };
        let connected_at = task.now();
        let mut times = ConnectTimes {
            total: connected_at - start,
            dns,
            tcp: Some(connected_at - start - dns.unwrap_or(0)),
            tls: None,
            resumed: false,
        };
        let Some(tls) = &target.tls else {
            return Ok((Transport::Plain(plain), times));
        };
        // Boxed because TLS is rare, and every client's task has room for whatever is not boxed.
        let stream = Box::pin(shake_hands(task, tls, sessions, plain)).await?;
        let secured_at = task.now();
        times.total = secured_at - start;
        times.tls = Some(secured_at - connected_at);
        times.resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
        Ok((Transport::Tls(stream), times))
    }

    /// Connects to any of a name's addresses. One that fails while another accepts is passed over for a while:
    /// `localhost`, for example, often has two addresses, of which a server uses only one. (Addresses that are listed
    /// one by one are not interchangeable.)
    async fn connect_any(
        &self,
        task: &Task,
        target: &Target,
        addresses: &[Address],
        deadline: u64,
    ) -> Result<Plain, Failure> {
        let order = self.rotation.order(addresses, task.now());
        let mut failures: Vec<(&Address, Failure)> = Vec::new();
        for (attempt, index) in order.iter().enumerate() {
            let (address, now) = (&addresses[*index], task.now());
            let others = (order.len() - 1 - attempt) as u64;
            let share_ns = deadline.saturating_sub(now) / (others + 1);
            task.set_deadline(match others {
                0 => deadline,
                _ => now + share_ns.min(ATTEMPT_NS),
            });
            match self.connect_one(task, target, address).await {
                Ok(plain) => {
                    task.set_deadline(deadline);
                    self.rotation.accepted(address);
                    for (address, failure) in &failures {
                        let unanswered = failure.outcome == Outcome::ConnectTimeout;
                        self.rotation.failed(address, task.now(), unanswered);
                        self.recorder
                            .borrow_mut()
                            .passed_over(self.workload, &format!("{address}: {}", failure.why));
                    }
                    return Ok(plain);
                }
                Err(stopped) if stopped.outcome == Outcome::NeverSent => return Err(stopped),
                Err(failure) => failures.push((address, failure)),
            }
        }
        let (_, last) = failures.pop().expect("there is at least one address");
        Err(last)
    }

    async fn connect_one(
        &self,
        task: &Task,
        target: &Target,
        address: &Address,
    ) -> Result<Plain, Failure> {
        let plain = loop {
            match self.open(target, address) {
                Ok(plain) => break plain,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(connect_failure(&error));
                }
                Err(_) => Box::pin(wait_for_room(task)).await?,
            }
        };
        if !plain.is_established() {
            let answered = pin!(poll_fn(|cx| plain.poll_answered(cx)));
            task.or_interrupt(answered)
                .await
                .map_err(|interrupt| {
                    interrupt_failure(interrupt, "no response to the connection request")
                })?
                .and_then(|()| plain.take_error())
                .map_err(|error| connect_failure(&error))?;
        }
        if plain.is_connected_to_itself(address, target.lowest_ephemeral_port) {
            return Err(connect_failure(&io::Error::from_raw_os_error(
                libc::ECONNREFUSED,
            )));
        }
        Ok(plain)
    }

    /// Begins to connect. Fails with `WouldBlock` if the queue of a unix socket's listener is full.
    fn open(&self, target: &Target, address: &Address) -> io::Result<Plain> {
        match address {
            Address::Tcp(to) => {
                let socket = nonblocking(Domain::for_address(*to), Type::STREAM)?;
                socket.set_tcp_nodelay(target.nodelay)?;
                let from = self.next_source(target, to.is_ipv4());
                if let Some(source) = from {
                    choose_port_when_connecting(&socket);
                    socket.bind(&SocketAddr::new(source, 0).into())?;
                }
                let stamped = self.stamps && stamps::enable(&socket).is_ok();
                begin_connecting(&socket, &SockAddr::from(*to))?;
                let port = self.ports.take(from, *to);
                let stream = TcpStream::from_std(socket.into())?;
                Ok(if stamped {
                    Plain::Stamped(Box::new(Stamped::new(stream, port)))
                } else {
                    Plain::Tcp(stream, port)
                })
            }
            Address::Unix(path) => {
                let socket = nonblocking(Domain::UNIX, Type::STREAM)?;
                begin_connecting(&socket, &SockAddr::unix(path)?)?;
                UnixStream::from_std(socket.into()).map(Plain::Unix)
            }
        }
    }

    /// Where datagrams may go, in the order of trying: to one of the listed addresses, or to any address of a name.
    pub fn routes(&self, target: &Target, addresses: &[Address], now: u64) -> VecDeque<UdpRoute> {
        let order = if target.name.is_some() {
            self.rotation.order(addresses, now)
        } else {
            vec![self.rotation.next() % addresses.len()]
        };
        let to = order.iter().filter_map(|index| match addresses[*index] {
            Address::Tcp(to) => Some(to),
            Address::Unix(_) => None,
        });
        to.map(|to| UdpRoute {
            from: self.next_source(target, to.is_ipv4()),
            to,
        })
        .collect()
    }

    /// The next local address of the family, if any are given. It changes only after a round through all addresses, so
    /// that each of them is reached from every source, even if their numbers have a common divisor.
    fn next_source(&self, target: &Target, ipv4: bool) -> Option<IpAddr> {
        let of_family = || {
            target
                .sources
                .iter()
                .filter(|source| source.is_ipv4() == ipv4)
        };
        let count = of_family().count();
        if count == 0 {
            return None;
        }
        let turn = self.source_turn.replace(self.source_turn.get() + 1);
        of_family()
            .nth(turn / target.addresses.len().max(1) % count)
            .copied()
    }
}

pub fn interrupt_failure(interrupt: Interrupt, why: &str) -> Failure {
    match interrupt {
        Interrupt::Deadline => Failure::new(Outcome::ConnectTimeout, why),
        Interrupt::Stop => Failure::new(Outcome::NeverSent, "the run has ended"),
    }
}

/// Looks up a name that is resolved for every connection; `None` for any other target.
pub async fn resolve_per_connection(
    task: &Task,
    target: &Target,
) -> Result<Option<Vec<Address>>, Failure> {
    match &target.name {
        Some(name) if name.resolve_each => Box::pin(resolve_in_thread(task, name)).await.map(Some),
        _ => Ok(None),
    }
}

/// The system's resolver blocks, so it runs in a thread of its own.
async fn resolve_in_thread(task: &Task, name: &Name) -> Result<Vec<Address>, Failure> {
    let name = name.clone();
    let response = pin!(tokio::task::spawn_blocking(move || resolve(&name)));
    let abandoned = response.abort_handle();
    let response = task.or_interrupt(response).await;
    if response.is_err() {
        abandoned.abort(); // if it still waits for a thread, nobody needs it any more
    }
    response
        .map_err(|interrupt| interrupt_failure(interrupt, "the name was not resolved in time"))?
        .map_err(|panic| Failure::new(Outcome::DnsFailed, panic))?
        .map_err(|error| Failure::new(Outcome::DnsFailed, describe(&error)))
}

async fn shake_hands(
    task: &Task,
    tls: &Tls,
    sessions: &mut Sessions,
    plain: Plain,
) -> Result<Box<TlsStream<Plain>>, Failure> {
    let handshake = pin!(tls.connector(sessions).connect(tls.name.clone(), plain));
    let stream = task.or_interrupt(handshake).await;
    stream
        .map_err(|interrupt| interrupt_failure(interrupt, "the TLS handshake did not end in time"))?
        .map(Box::new)
        .map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    "the server closed the connection during the TLS handshake".into()
                }
                _ => describe(&error),
            };
            Failure::new(Outcome::TlsFailed, why)
        })
}

async fn wait_for_room(task: &Task) -> Result<(), Failure> {
    let retry = task.now() + UNIX_RETRY_NS;
    let pending = || task.poll_interrupt().is_pending();
    task.sleep_until(retry, pending, |_| ()).await;
    match task.poll_interrupt() {
        Poll::Ready(interrupt) => Err(interrupt_failure(interrupt, "the listener's queue is full")),
        Poll::Pending => Ok(()),
    }
}

pub fn connect_failure(error: &io::Error) -> Failure {
    let outcome = match error.kind() {
        io::ErrorKind::ConnectionRefused => Outcome::ConnectRefused,
        io::ErrorKind::TimedOut => Outcome::ConnectTimeout,
        // The connection was established, but reset before anything could be sent.
        io::ErrorKind::ConnectionReset => Outcome::Reset,
        _ => Outcome::ConnectFailed,
    };
    Failure::new(outcome, describe(error))
}

fn begin_connecting(socket: &Socket, to: &SockAddr) -> io::Result<()> {
    match socket.connect(to) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}
