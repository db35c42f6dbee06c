//! The boundary between load and protocol.

use std::rc::Rc;
use std::task::{Context, Poll};

use crate::exchange::request::Call;
use crate::exchange::watch::Watch;
use crate::exchange::{h1, h2, raw, udp, ws};
use crate::machine::seat::Seat;
use crate::net::dial::Dialer;
use crate::net::target::Target;
use crate::net::tls::Sessions;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::record::sample::ConnectTimes;

/// What the server did on a link while no request was under way on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    Closed,
    /// Sent bytes that belong to no answer, as described.
    Spoke(&'static str),
    /// Sent an answer with this status, with which it closes the connection.
    Dismissed(u16),
    /// Did not answer a ping.
    Silent,
}

/// How the server of a link is reached.
pub struct Destination<'a> {
    pub dialer: &'a Dialer,
    /// The connections that the workload's clients share (HTTP/2).
    pub pool: &'a Rc<h2::Pool>,
    pub target: &'a Target,
    pub sessions: &'a mut Sessions,
}

impl Destination<'_> {
    /// Opens a connection within the time that the request allows.
    pub fn connect(
        &mut self,
        watch: &mut Watch<'_>,
    ) -> impl Future<Output = Result<(Transport, ConnectTimes), Failure>> {
        let seat = watch.seat;
        let start = seat.now();
        let deadline = watch.connecting(start);
        let (dialer, target) = (self.dialer, self.target);
        dialer.connect(target, self.sessions, seat, start, deadline)
    }
}

/// One client's way to the server, whatever the protocol.
pub enum Link {
    H1(h1::Link),
    H2(h2::Link),
    Raw(raw::Link),
    Udp(Box<udp::Link>),
    Ws(Box<ws::Link>),
}

impl Link {
    /// Opens a connection for a request. The error is the outcome of the request. `one`: the connection of a client
    /// that has several requests under way at a time over HTTP/2.
    pub async fn open(
        to: &mut Destination<'_>,
        one: Option<&h2::OneConnection>,
        call: &mut Call<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Outcome> {
        let (dialer, target) = (to.dialer, to.target);
        if target.http2.is_some() {
            let link = h2::Link::open(to, one, watch).await;
            return link.map(Self::H2).map_err(|failure| watch.failed(failure));
        }
        if let Some(matching) = watch.request.datagram.clone() {
            let link = Box::pin(udp::Link::open(dialer, target, matching, watch)).await;
            return link
                .map(|link| Self::Udp(Box::new(link)))
                .map_err(|failure| watch.failed(failure));
        }
        match to.connect(watch).await {
            Ok((transport, times)) => match transport.alpn() {
                None | Some(b"http/1.1") => {
                    if call.request.websocket.is_some() {
                        return Self::upgraded(transport, times, call, dialer, watch).await;
                    }
                    watch.connected(times);
                    if watch.request.raw.is_some() {
                        let link = raw::Link::new(transport, dialer.common.clone());
                        return Ok(Self::Raw(link));
                    }
                    Ok(Self::H1(h1::Link::new(
                        transport,
                        dialer.common.clone(),
                        watch.limits.body,
                        watch.limits.follow,
                    )))
                }
                Some(other) => Err(watch.failed(unspoken(other))),
            },
            Err(failure) => Err(watch.failed(failure)),
        }
    }

    /// Opens a WebSocket. Its upgrade is part of connecting and has the same deadline.
    async fn upgraded(
        transport: Transport,
        mut times: ConnectTimes,
        call: &mut Call<'_>,
        dialer: &Dialer,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Outcome> {
        let begun = watch.seat.now();
        match ws::Link::open(transport, dialer, call, watch).await {
            Ok(link) => {
                times.total += watch.seat.now() - begun;
                watch.connected(times);
                Ok(Self::Ws(Box::new(link)))
            }
            Err(failure) => Err(watch.failed(failure)),
        }
    }

    /// Checks whether the link, which was idle for `idle_ns`, takes another exchange now; the error says why not.
    pub fn room(&mut self, idle_ns: u64, seat: &Seat) -> Result<(), Unasked> {
        match self {
            Self::H1(link) => link.room(idle_ns),
            Self::H2(link) => link.room(),
            Self::Raw(link) => link.room(idle_ns),
            Self::Udp(_) => Ok(()),
            Self::Ws(link) => link.room(seat),
        }
    }

    /// Listens between exchanges; ready when the link cannot be used any more.
    pub fn poll_unasked(&mut self, seat: &Seat, cx: &mut Context<'_>) -> Poll<Unasked> {
        match self {
            Self::H1(link) => link.poll_unasked(cx),
            // Its connection has a task of its own, which listens.
            Self::H2(_) => Poll::Pending,
            Self::Raw(link) => link.poll_unasked(cx),
            Self::Udp(link) => link.poll_unasked(cx),
            Self::Ws(link) => link.poll_unasked(seat, cx),
        }
    }

    /// One request and its answer. `to`: for a request that is sent again on another connection.
    pub async fn exchange(
        &mut self,
        call: Call<'_>,
        to: &mut Destination<'_>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        match self {
            Self::H1(link) => link.exchange(call, watch).await,
            // Boxed, so that an exchange over HTTP/1.1 takes no more room than it needs.
            Self::H2(link) => Box::pin(link.exchange(call, to, watch)).await,
            Self::Raw(link) => Box::pin(link.exchange(call, watch)).await,
            Self::Udp(link) => Box::pin(link.exchange(call, watch)).await,
            Self::Ws(link) => Box::pin(link.exchange(call, watch)).await,
        }
    }

    /// After an exchange: whether the link takes no further one.
    pub fn is_spent(&self) -> bool {
        match self {
            Self::H1(link) => link.is_spent(),
            Self::H2(link) => link.is_spent(),
            Self::Raw(link) => link.is_spent(),
            Self::Udp(link) => link.is_spent(),
            Self::Ws(link) => link.is_spent(),
        }
    }

    /// Closes the link cleanly. Returns whether that ends a connection that is to be counted: the task of an HTTP/2
    /// connection, which clients can share, counts its end itself.
    pub fn part(self, seat: &Seat) -> bool {
        match self {
            Self::H1(link) => link.part(seat),
            Self::H2(_) => return false,
            Self::Raw(link) => drop(link),
            Self::Udp(link) => drop(link),
            Self::Ws(link) => link.part(seat),
        }
        true
    }
}

fn unspoken(protocol: &[u8]) -> Failure {
    let name = protocol.escape_ascii();
    let why = format!("the server chose {name} by ALPN, and this load speaks HTTP/1.1");
    Failure::new(Outcome::TlsFailed, why)
}
