//! New connections: name, TCP or unix socket, TLS, within one deadline.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::record::interval::Outcome;
use crate::record::ports::PortTable;
use crate::record::recorder::ConnectTimes;
use crate::seat::{Interrupt, Seat};
use crate::wire::Common;
use crate::wire::target::{Address, Name, Target, resolve};
use crate::wire::tls::Tls;
use crate::wire::transport::{Plain, Transport};
use crate::wire::watch::Watch;

/// How long a client waits when the queue of a unix socket's listener is full; TCP's own stack does that itself.
const UNIX_RETRY_NS: u64 = 1_000_000;

/// Opens the connections of one workload on one worker. Addresses and source addresses take turns.
#[derive(Debug)]
pub struct Dialer {
    pub common: Rc<Common>,
    ports: Rc<PortTable>,
    /// Whose turn it is.
    address: Cell<usize>,
    source: Cell<usize>,
    /// Bit i: address i of the name did not accept when another one did.
    passed_over: Cell<u64>,
}

/// Only the first 64 addresses of a name can be passed over.
fn bit(index: usize) -> u64 {
    1_u64.checked_shl(index as u32).unwrap_or(0)
}

impl Dialer {
    /// Workers begin with different addresses.
    pub fn new(worker: usize, common: Rc<Common>, ports: Rc<PortTable>) -> Self {
        Self {
            common,
            ports,
            address: Cell::new(worker),
            source: Cell::new(worker),
            passed_over: Cell::new(0),
        }
    }

    /// Opens a connection; an error is how the request is counted.
    pub async fn connect(
        &self,
        target: &Target,
        watch: &mut Watch<'_>,
    ) -> Result<Transport, Outcome> {
        watch.connecting();
        let seat = watch.seat;
        let start = seat.now();
        let found = match &target.name {
            Some(name) if name.resolve_each => Some(Box::pin(look_up(seat, name)).await?),
            _ => None,
        };
        let dns = found.is_some().then(|| seat.now() - start);
        let addresses = found.as_ref().unwrap_or(&target.addresses);
        let plain = self.connect_any(seat, target, addresses).await?;
        let connected = seat.now();
        let tcp = connected - start - dns.unwrap_or(0);
        let (transport, tls) = match &target.tls {
            None => (Transport::Plain(plain), None),
            // Boxed, as all that is rare: every client has room for what is not.
            Some(tls) => {
                let stream = Box::pin(shake_hands(watch, tls, plain)).await?;
                (Transport::Tls(stream), Some(seat.now() - connected))
            }
        };
        watch.connected(ConnectTimes {
            total: seat.now() - start,
            dns,
            tcp,
            tls,
        });
        Ok(transport)
    }

    /// Addresses that were listed one by one stand each for itself. Of a name's addresses any will do: one that fails
    /// while another accepts is passed over from then on, as `localhost` is often two addresses of which a server has
    /// one.
    async fn connect_any(
        &self,
        seat: &Seat,
        target: &Target,
        addresses: &[Address],
    ) -> Result<Plain, Outcome> {
        let turn = self.address.replace(self.address.get() + 1);
        let count = addresses.len();
        let most = if target.name.is_some() { count } else { 1 };
        let (mut failed, mut outcome) = (0, Outcome::ConnectFailed);
        // First those that are not passed over, then those that are.
        for attempt in 0..2 * most {
            let index = (turn + attempt % most) % count;
            if self.is_passed_over(index) != (attempt >= most) {
                continue;
            }
            match self.connect_one(seat, target, &addresses[index]).await {
                Ok(plain) => {
                    self.passed_over
                        .set((self.passed_over.get() | failed) & !bit(index));
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

    fn is_passed_over(&self, index: usize) -> bool {
        self.passed_over.get() & bit(index) != 0
    }

    async fn connect_one(
        &self,
        seat: &Seat,
        target: &Target,
        address: &Address,
    ) -> Result<Plain, Outcome> {
        let plain = loop {
            match self.open(target, address) {
                Ok(plain) => break plain,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(refusal(&error));
                }
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
        if plain.is_connected_to_itself(address, target.lowest_ephemeral_port) {
            return Err(Outcome::ConnectRefused);
        }
        Ok(plain)
    }

    /// Begins to connect. `WouldBlock`: the listener's queue is full (unix).
    fn open(&self, target: &Target, address: &Address) -> io::Result<Plain> {
        match address {
            Address::Tcp(to) => {
                let socket =
                    Socket::new(Domain::for_address(*to), Type::STREAM.nonblocking(), None)?;
                socket.set_tcp_nodelay(target.nodelay)?;
                let from = self.next_source(target, to.is_ipv4());
                if let Some(source) = from {
                    choose_port_when_connecting(&socket);
                    socket.bind(&SocketAddr::new(source, 0).into())?;
                }
                begin_connecting(&socket, &SockAddr::from(*to))?;
                let port = self.ports.take(from, *to);
                TcpStream::from_std(socket.into()).map(|stream| Plain::Tcp(stream, port))
            }
            Address::Unix(path) => {
                let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
                begin_connecting(&socket, &SockAddr::unix(path)?)?;
                UnixStream::from_std(socket.into()).map(Plain::Unix)
            }
        }
    }

    /// The next local address of the family, if any are given. It changes after a round of all addresses, so that
    /// each of them is reached from every source, whatever divides their numbers.
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
        let turn = self.source.replace(self.source.get() + 1);
        of_family()
            .nth(turn / target.addresses.len().max(1) % count)
            .copied()
    }
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
    watch: &Watch<'_>,
    tls: &Tls,
    plain: Plain,
) -> Result<Box<TlsStream<Plain>>, Outcome> {
    let handshake = pin!(tls.connector.connect(tls.name.clone(), plain));
    let stream = watch
        .seat
        .or_interrupt(handshake)
        .await
        .map_err(interrupted)?;
    stream
        .map(Box::new)
        .map_err(|error| watch.tls_failed(&error))
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
