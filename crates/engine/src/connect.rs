//! New connections: name, TCP or unix socket, TLS, within one deadline.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::interval::Outcome;
use crate::plan::Workload;
use crate::recorder::ConnectTimes;
use crate::resolve::{Address, Name, Target, resolve};
use crate::worker::{Interrupt, Seat};

/// How long a client waits when the queue of a unix socket's listener is full; TCP's own stack does that itself.
const UNIX_RETRY_NS: u64 = 1_000_000;

/// Whose turn it is: addresses and source addresses of one workload on one worker.
#[derive(Debug)]
pub struct Turns {
    address: Cell<usize>,
    source: Cell<usize>,
    /// Uses of each request's parameters that are dealt in turn.
    param: Cell<u64>,
    /// Bit i: address i of the name did not accept when another one did.
    passed_over: Cell<u64>,
}

impl Turns {
    /// Workers begin at different places.
    pub fn new(worker: usize) -> Self {
        Self {
            address: Cell::new(worker),
            source: Cell::new(worker),
            param: Cell::new(0),
            passed_over: Cell::new(0),
        }
    }

    pub fn next_param(&self) -> u64 {
        self.param.replace(self.param.get() + 1)
    }
}

/// A connection's two directions, whatever carries them.
#[derive(Debug)]
pub enum Transport {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

#[derive(Debug)]
pub enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Opens a connection; an error is how the request is counted.
pub async fn connect(
    seat: &Seat,
    workload: &Workload,
) -> Result<(Transport, ConnectTimes), Outcome> {
    let clock = seat.worker.clock;
    let start = clock.now();
    seat.set_deadline(start.saturating_add(workload.timeouts.connect_ns));
    let target = &workload.target;
    let turns = &seat.worker.turns[workload.index];
    let (plain, dns) = match &target.name {
        Some(name) if name.resolve_each => {
            let addresses = look_up(seat, name).await?;
            let dns = clock.now() - start;
            (
                connect_any(seat, target, turns, &addresses).await?,
                Some(dns),
            )
        }
        Some(_) => (
            connect_any(seat, target, turns, &target.addresses).await?,
            None,
        ),
        None => {
            let turn = turns.address.replace(turns.address.get() + 1);
            let address = &target.addresses[turn % target.addresses.len()];
            (connect_one(seat, target, turns, address).await?, None)
        }
    };
    let connected = clock.now();
    let mut times = ConnectTimes {
        total: 0,
        dns,
        tcp: connected - start - dns.unwrap_or(0),
        tls: None,
    };
    let transport = match &target.tls {
        None => Transport::Plain(plain),
        Some(tls) => {
            let handshake = tls.connector.connect(tls.name.clone(), plain);
            let stream = seat.or_interrupt(handshake).await.map_err(timed_out)?;
            times.tls = Some(clock.now() - connected);
            Transport::Tls(Box::new(stream.map_err(|_| Outcome::TlsFailed)?))
        }
    };
    seat.clear_deadline();
    times.total = clock.now() - start;
    Ok((transport, times))
}

fn timed_out(interrupt: Interrupt) -> Outcome {
    match interrupt {
        Interrupt::Deadline => Outcome::ConnectTimeout,
        Interrupt::Stop => Outcome::NeverSent,
    }
}

/// The system's resolver blocks, so it is asked in a thread of its own.
async fn look_up(seat: &Seat, name: &Name) -> Result<Vec<Address>, Outcome> {
    let name = name.clone();
    let answer = tokio::task::spawn_blocking(move || resolve(&name));
    match seat.or_interrupt(answer).await.map_err(timed_out)? {
        Ok(Ok(addresses)) => Ok(addresses),
        _ => Err(Outcome::DnsFailed),
    }
}

/// Any address of a name will do. They take turns; one that fails while another accepts is passed over from then
/// on, as `localhost` is often two addresses of which a server has one.
async fn connect_any(
    seat: &Seat,
    target: &Target,
    turns: &Turns,
    addresses: &[Address],
) -> Result<Plain, Outcome> {
    let turn = turns.address.replace(turns.address.get() + 1);
    let bit = |index: usize| 1_u64.checked_shl(index as u32).unwrap_or(0);
    let passed_over = turns.passed_over.get();
    let in_turn = || (0..addresses.len()).map(|offset| (turn + offset) % addresses.len());
    let (good, bad): (Vec<_>, Vec<_>) = in_turn().partition(|index| passed_over & bit(*index) == 0);
    let (mut failed, mut outcome) = (0, Outcome::ConnectFailed);
    for index in good.into_iter().chain(bad) {
        match connect_one(seat, target, turns, &addresses[index]).await {
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
    target: &Target,
    turns: &Turns,
    address: &Address,
) -> Result<Plain, Outcome> {
    let result = match address {
        Address::Tcp(address) => connect_tcp(seat, target, turns, *address)
            .await?
            .map(Plain::Tcp),
        Address::Unix(path) => loop {
            let result = seat
                .or_interrupt(UnixStream::connect(path))
                .await
                .map_err(timed_out)?;
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
                break result.map(Plain::Unix);
            }
            let retry = seat.worker.clock.now() + UNIX_RETRY_NS;
            seat.sleep_until(retry, || seat.poll_interrupt().is_pending())
                .await;
            if let Poll::Ready(interrupt) = seat.poll_interrupt() {
                return Err(timed_out(interrupt));
            }
        },
    };
    result.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => Outcome::ConnectRefused,
        io::ErrorKind::TimedOut => Outcome::ConnectTimeout,
        _ => Outcome::ConnectFailed,
    })
}

async fn connect_tcp(
    seat: &Seat,
    target: &Target,
    turns: &Turns,
    address: SocketAddr,
) -> Result<io::Result<TcpStream>, Outcome> {
    let socket = match open_socket(target, turns, address) {
        Ok(socket) => socket,
        Err(error) => return Ok(Err(error)),
    };
    let stream = match seat
        .or_interrupt(socket.connect(address))
        .await
        .map_err(timed_out)?
    {
        Ok(stream) => stream,
        Err(error) => return Ok(Err(error)),
    };
    if address.ip().is_loopback() && stream.local_addr().is_ok_and(|own| own == address) {
        // Nobody listens there, and the kernel gave us that very port to come from: we reached ourselves.
        return Ok(Err(io::ErrorKind::ConnectionRefused.into()));
    }
    Ok(Ok(stream))
}

fn open_socket(target: &Target, turns: &Turns, address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    socket.set_nodelay(target.nodelay)?;
    let of_family = |source: &&IpAddr| source.is_ipv4() == address.is_ipv4();
    let count = target.sources.iter().filter(of_family).count();
    if count > 0 {
        let turn = turns.source.replace(turns.source.get() + 1);
        let source = target.sources.iter().filter(of_family).nth(turn % count);
        choose_port_when_connecting(&socket);
        socket.bind(SocketAddr::new(
            *source.expect("turn % count is in range"),
            0,
        ))?;
    }
    Ok(socket)
}

/// A port chosen at `bind` must differ from all others in use; chosen at `connect`, only its four-tuple must.
fn choose_port_when_connecting(socket: &TcpSocket) {
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

impl Transport {
    /// Something has come, or the peer has closed, while nothing was asked: the connection cannot be used again.
    pub fn disturbed(&mut self, scratch: &mut [u8]) -> bool {
        match self {
            Self::Plain(Plain::Tcp(stream)) => !would_block(&stream.try_read(&mut scratch[..1])),
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
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
