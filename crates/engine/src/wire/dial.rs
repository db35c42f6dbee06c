//! New connections: name, TCP or unix socket, TLS, within one deadline.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::load::Shared;
use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::record::ports::{Port, PortTable};
use crate::record::recorder::ConnectTimes;
use crate::seat::{Interrupt, Seat};
use crate::wire::resolve::{Address, Name, Target, resolve};
use crate::wire::tls::Tls;

/// How long a client waits when the queue of a unix socket's listener is full; TCP's own stack does that itself.
const UNIX_RETRY_NS: u64 = 1_000_000;

/// Whose turn it is: addresses and source addresses of one workload on one worker.
#[derive(Debug)]
pub struct Turns {
    address: Cell<usize>,
    source: Cell<usize>,
    /// Bit i: address i of the name did not accept when another one did.
    passed_over: Cell<u64>,
}

impl Turns {
    /// Workers begin at different places.
    pub fn new(worker: usize) -> Self {
        Self {
            address: Cell::new(worker),
            source: Cell::new(worker),
            passed_over: Cell::new(0),
        }
    }

    fn is_passed_over(&self, index: usize) -> bool {
        self.passed_over.get() & bit(index) != 0
    }

    /// The next local address of the family, if any are given. It changes after a round of all `addresses`, so that
    /// each of them is reached from every source, whatever divides their numbers.
    fn next_source(&self, sources: &[IpAddr], ipv4: bool, addresses: usize) -> Option<IpAddr> {
        let of_family = || sources.iter().filter(|source| source.is_ipv4() == ipv4);
        let count = of_family().count();
        if count == 0 {
            return None;
        }
        let turn = self.source.replace(self.source.get() + 1);
        of_family().nth(turn / addresses.max(1) % count).copied()
    }
}

/// Only the first 64 addresses of a name can be passed over.
fn bit(index: usize) -> u64 {
    1_u64.checked_shl(index as u32).unwrap_or(0)
}

/// A connection's two directions, whatever carries them.
#[derive(Debug)]
pub enum Transport {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

#[derive(Debug)]
pub enum Plain {
    Tcp(
        TcpStream,
        #[expect(dead_code, reason = "held, not looked at")] Port,
    ),
    Unix(UnixStream),
}

/// Opens a connection; an error is how the request is counted.
pub async fn connect(
    seat: &Seat,
    shared: &Shared,
    workload: &Workload,
) -> Result<(Transport, ConnectTimes), Outcome> {
    let clock = shared.clock;
    let start = clock.now();
    seat.set_deadline(start.saturating_add(workload.timeouts.connect_ns));
    let target = &workload.target;
    let found = match &target.name {
        Some(name) if name.resolve_each => Some(Box::pin(look_up(seat, name)).await?),
        _ => None,
    };
    let dns = found.is_some().then(|| clock.now() - start);
    let addresses = found.as_ref().unwrap_or(&target.addresses);
    let plain = connect_any(seat, shared, workload, addresses).await?;
    let connected = clock.now();
    let tcp = connected - start - dns.unwrap_or(0);
    let (transport, tls) = match &target.tls {
        None => (Transport::Plain(plain), None),
        // Boxed, as all that is rare: every client has room for what is not.
        Some(tls) => {
            let stream = Box::pin(shake_hands(seat, shared, tls, plain)).await?;
            (Transport::Tls(stream), Some(clock.now() - connected))
        }
    };
    seat.clear_deadline();
    Ok((
        transport,
        ConnectTimes {
            total: clock.now() - start,
            dns,
            tcp,
            tls,
        },
    ))
}

fn interrupted(interrupt: Interrupt) -> Outcome {
    match interrupt {
        Interrupt::Deadline => Outcome::ConnectTimeout,
        Interrupt::Stop => Outcome::NeverSent,
    }
}

/// The system's resolver blocks, so it is asked in a thread of its own.
async fn look_up(seat: &Seat, name: &Name) -> Result<Vec<Address>, Outcome> {
    let name = name.clone();
    let answer = pin!(tokio::task::spawn_blocking(move || resolve(&name)));
    match seat.or_interrupt(answer).await.map_err(interrupted)? {
        Ok(Ok(addresses)) => Ok(addresses),
        _ => Err(Outcome::DnsFailed),
    }
}

async fn shake_hands(
    seat: &Seat,
    shared: &Shared,
    tls: &Tls,
    plain: Plain,
) -> Result<Box<TlsStream<Plain>>, Outcome> {
    let handshake = pin!(tls.connector.connect(tls.name.clone(), plain));
    let stream = seat.or_interrupt(handshake).await.map_err(interrupted)?;
    stream.map(Box::new).map_err(|error| {
        shared.recorder.borrow_mut().tls_failed(&error);
        Outcome::TlsFailed
    })
}

/// Addresses take turns. Those that were listed one by one stand each for itself. Of a name's addresses any will do:
/// one that fails while another accepts is passed over from then on, as `localhost` is often two addresses of which
/// a server has one.
async fn connect_any(
    seat: &Seat,
    shared: &Shared,
    workload: &Workload,
    addresses: &[Address],
) -> Result<Plain, Outcome> {
    let turns = &shared.turns[workload.index];
    let turn = turns.address.replace(turns.address.get() + 1);
    let count = addresses.len();
    let most = if workload.target.name.is_some() {
        count
    } else {
        1
    };
    let (mut failed, mut outcome) = (0, Outcome::ConnectFailed);
    // First those that are not passed over, then those that are.
    for attempt in 0..2 * most {
        let index = (turn + attempt % most) % count;
        if turns.is_passed_over(index) != (attempt >= most) {
            continue;
        }
        match connect_one(seat, shared, workload, &addresses[index]).await {
            Ok(plain) => {
                turns
                    .passed_over
                    .set((turns.passed_over.get() | failed) & !bit(index));
                return Ok(plain);
            }
            Err(end @ (Outcome::ConnectTimeout | Outcome::NeverSent)) => return Err(end),
            Err(other) => {
                failed |= bit(index);
                outcome = other;
            }
        }
    }
    Err(outcome)
}

async fn connect_one(
    seat: &Seat,
    shared: &Shared,
    workload: &Workload,
    address: &Address,
) -> Result<Plain, Outcome> {
    let plain = loop {
        let turns = &shared.turns[workload.index];
        match open(&workload.target, turns, &shared.ports, address) {
            Ok(plain) => break plain,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(refusal(&error)),
            Err(_) => Box::pin(wait_for_room(seat)).await?,
        }
    };
    if !plain.is_established() {
        let answered = pin!(poll_fn(|cx| plain.poll_answered(cx)));
        seat.or_interrupt(answered)
            .await
            .map_err(interrupted)?
            .and_then(|()| plain.take_error())
            .map_err(|error| refusal(&error))?;
    }
    if plain.is_connected_to_itself(address, workload.target.lowest_ephemeral_port) {
        return Err(Outcome::ConnectRefused);
    }
    Ok(plain)
}

async fn wait_for_room(seat: &Seat) -> Result<(), Outcome> {
    let retry = seat.now() + UNIX_RETRY_NS;
    seat.sleep_until(retry, || seat.poll_interrupt().is_pending())
        .await;
    match seat.poll_interrupt() {
        Poll::Ready(interrupt) => Err(interrupted(interrupt)),
        Poll::Pending => Ok(()),
    }
}

fn refusal(error: &io::Error) -> Outcome {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Outcome::ConnectRefused,
        io::ErrorKind::TimedOut => Outcome::ConnectTimeout,
        // It was established, and taken back before anything could be sent.
        io::ErrorKind::ConnectionReset => Outcome::Reset,
        _ => Outcome::ConnectFailed,
    }
}

/// Begins to connect. `WouldBlock`: the listener's queue is full (unix).
fn open(
    target: &Target,
    turns: &Turns,
    ports: &Rc<PortTable>,
    address: &Address,
) -> io::Result<Plain> {
    match address {
        Address::Tcp(to) => {
            let socket = Socket::new(Domain::for_address(*to), Type::STREAM.nonblocking(), None)?;
            socket.set_tcp_nodelay(target.nodelay)?;
            let from = turns.next_source(&target.sources, to.is_ipv4(), target.addresses.len());
            if let Some(source) = from {
                choose_port_when_connecting(&socket);
                socket.bind(&SocketAddr::new(source, 0).into())?;
            }
            begin_connecting(&socket, &SockAddr::from(*to))?;
            let port = ports.take(from, *to);
            TcpStream::from_std(socket.into()).map(|stream| Plain::Tcp(stream, port))
        }
        Address::Unix(path) => {
            let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
            begin_connecting(&socket, &SockAddr::unix(path)?)?;
            UnixStream::from_std(socket.into()).map(Plain::Unix)
        }
    }
}

fn begin_connecting(socket: &Socket, to: &SockAddr) -> io::Result<()> {
    match socket.connect(to) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// A port chosen at `bind` must differ from all in use; chosen at `connect`, only its four-tuple must.
fn choose_port_when_connecting(socket: &Socket) {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open and the option is an int. Where it is not known, ports run out earlier.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        );
    }
}

impl Plain {
    /// On this machine a connection is there when it has been asked for; waiting for the runtime to say so would
    /// put everything else that is ready now into its connect time.
    fn is_established(&self) -> bool {
        match self {
            Self::Tcp(stream, _) => stream.peer_addr().is_ok(),
            Self::Unix(_) => true,
        }
    }

    fn poll_answered(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream, _) => stream.poll_write_ready(cx),
            Self::Unix(stream) => stream.poll_write_ready(cx),
        }
    }

    /// Why the connection did not come about.
    fn take_error(&self) -> io::Result<()> {
        let error = match self {
            Self::Tcp(stream, _) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        };
        error?.map_or(Ok(()), Err)
    }

    /// Where nobody listens, the kernel may give us that very port to come from: then we have reached ourselves.
    fn is_connected_to_itself(&self, to: &Address, lowest_ephemeral_port: u16) -> bool {
        match (self, to) {
            (Self::Tcp(stream, _), Address::Tcp(to)) if to.port() >= lowest_ephemeral_port => {
                stream.local_addr().is_ok_and(|from| from == *to)
            }
            _ => false,
        }
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream, _) => SockRef::from(stream),
            Self::Unix(stream) => SockRef::from(stream),
        }
        .send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }
}

impl Transport {
    /// Something has come, or the peer has closed, while nothing was asked: the connection cannot be used again.
    pub fn disturbed(&mut self, scratch: &mut [u8]) -> bool {
        match self {
            Self::Plain(Plain::Tcp(stream, _)) => !would_block(&stream.try_read(&mut scratch[..1])),
            Self::Plain(Plain::Unix(stream)) => !would_block(&stream.try_read(&mut scratch[..1])),
            Self::Tls(stream) => {
                // Reading also takes in session tickets, which are no disturbance.
                let mut cx = Context::from_waker(std::task::Waker::noop());
                Pin::new(stream)
                    .poll_read(&mut cx, &mut ReadBuf::new(&mut scratch[..1]))
                    .is_ready()
            }
        }
    }

    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(plain) => Pin::new(plain).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => Pin::new(plain).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    /// Only TLS holds back what was written.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(_) => Poll::Ready(Ok(())),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }
}

fn would_block(result: &io::Result<usize>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    /// Tries at once: that a new connection can be written to is known to the runtime only after its next round.
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = self.send(bytes);
        if !would_block(&sent) {
            return Poll::Ready(sent);
        }
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
