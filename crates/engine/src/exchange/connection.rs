//! The boundary between load and protocol.

use std::rc::Rc;
use std::task::{Context, Poll};

use crate::exchange::destination::Destination;
use crate::exchange::h1::H1Connection;
use crate::exchange::h2::H2Connection;
use crate::exchange::h2::pool::{OneConnection, Pool};
use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::raw::RawConnection;
use crate::exchange::request::{OutgoingRequest, Protocol};
use crate::exchange::udp::UdpConnection;
use crate::exchange::ws::WebSocketConnection;
use crate::machine::tasks::Task;
use crate::net::dial::Dialer;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};
use crate::record::sample::ConnectTimes;

/// One client's connection to its server, whatever the protocol.
pub enum Connection {
    H1(H1Connection),
    H2(H2Connection),
    Raw(RawConnection),
    Udp(Box<UdpConnection>),
    Ws(Box<WebSocketConnection>),
}

impl Connection {
    /// Opens a connection for a request. The error is the outcome of the request. `pool`: the connections that the
    /// workload's clients share (HTTP/2); `one`: the connection of a client that has several requests under way at a time
    /// over HTTP/2.
    pub async fn open(
        to: &mut Destination<'_>,
        pool: &Rc<Pool>,
        one: Option<&OneConnection>,
        outgoing: &mut OutgoingRequest<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Self, Outcome> {
        let (dialer, target) = (to.dialer, to.target);
        if target.http2.is_some() {
            let connection = H2Connection::open(to, pool, one, observer).await;
            return connection
                .map(Self::H2)
                .map_err(|failure| observer.failed(failure));
        }
        if let Protocol::Datagram(matching) = &observer.request.protocol {
            let matching = matching.clone();
            let connection =
                Box::pin(UdpConnection::open(dialer, target, matching, observer)).await;
            return connection
                .map(|connection| Self::Udp(Box::new(connection)))
                .map_err(|failure| observer.failed(failure));
        }
        match to.connect(observer).await {
            Ok((transport, times)) => match transport.alpn() {
                None | Some(b"http/1.1") => {
                    if let Protocol::WebSocket(_) = outgoing.request.protocol {
                        return Self::upgraded(transport, times, outgoing, dialer, observer).await;
                    }
                    observer.connected(times);
                    let buffers = dialer.buffers.clone();
                    Ok(match observer.request.protocol {
                        Protocol::Raw(_) => Self::Raw(RawConnection::new(transport, buffers)),
                        _ => Self::H1(H1Connection::new(
                            transport,
                            buffers,
                            observer.limits.body,
                            observer.limits.follow,
                        )),
                    })
                }
                Some(other) => Err(observer.failed(unspoken(other))),
            },
            Err(failure) => Err(observer.failed(failure)),
        }
    }

    /// Opens a WebSocket. Its upgrade is part of connecting and has the same deadline.
    async fn upgraded(
        transport: Transport,
        mut times: ConnectTimes,
        outgoing: &mut OutgoingRequest<'_>,
        dialer: &Dialer,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Self, Outcome> {
        let begun = observer.task.now();
        match WebSocketConnection::open(transport, dialer, outgoing, observer).await {
            Ok(connection) => {
                times.total += observer.task.now() - begun;
                observer.connected(times);
                Ok(Self::Ws(Box::new(connection)))
            }
            Err(failure) => Err(observer.failed(failure)),
        }
    }

    /// Checks whether the connection, which was idle for `idle_ns`, takes another exchange now; the error says why not.
    pub fn check_reusable(&mut self, idle_ns: u64, task: &Task) -> Result<(), IdleEvent> {
        match self {
            Self::H1(connection) => connection.check_reusable(idle_ns),
            Self::H2(connection) => connection.check_reusable(),
            Self::Raw(connection) => connection.check_reusable(idle_ns),
            Self::Udp(_) => Ok(()),
            Self::Ws(connection) => connection.check_reusable(task),
        }
    }

    /// Listens between exchanges; ready when the connection cannot be used any more.
    pub fn poll_idle(&mut self, task: &Task, cx: &mut Context<'_>) -> Poll<IdleEvent> {
        match self {
            Self::H1(connection) => connection.poll_idle(cx),
            // Its connection has a task of its own, which listens.
            Self::H2(_) => Poll::Pending,
            Self::Raw(connection) => connection.poll_idle(cx),
            Self::Udp(connection) => connection.poll_idle(cx),
            Self::Ws(connection) => connection.poll_idle(task, cx),
        }
    }

    /// One request and its response. `to`: for a request that is sent again on another connection.
    pub async fn exchange(
        &mut self,
        outgoing: OutgoingRequest<'_>,
        to: &mut Destination<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Outcome {
        match self {
            Self::H1(connection) => connection.exchange(outgoing, observer).await,
            // Boxed, so that an exchange over HTTP/1.1 takes no more room than it needs.
            Self::H2(connection) => Box::pin(connection.exchange(outgoing, to, observer)).await,
            Self::Raw(connection) => Box::pin(connection.exchange(outgoing, observer)).await,
            Self::Udp(connection) => Box::pin(connection.exchange(outgoing, observer)).await,
            Self::Ws(connection) => Box::pin(connection.exchange(outgoing, observer)).await,
        }
    }

    /// After an exchange: whether the connection takes no further one.
    pub fn is_spent(&self) -> bool {
        match self {
            Self::H1(connection) => connection.is_spent(),
            Self::H2(connection) => connection.is_spent(),
            Self::Raw(connection) => connection.is_spent(),
            Self::Udp(connection) => connection.is_spent(),
            Self::Ws(connection) => connection.is_spent(),
        }
    }

    /// Closes the connection cleanly. Returns whether that ends a connection that is to be counted: the task of an HTTP/2
    /// connection, which clients can share, counts its end itself.
    pub fn close(self, task: &Task) -> bool {
        match self {
            Self::H1(connection) => connection.close(task),
            Self::H2(_) => return false,
            Self::Raw(connection) => drop(connection),
            Self::Udp(connection) => drop(connection),
            Self::Ws(connection) => connection.close(task),
        }
        true
    }
}

fn unspoken(protocol: &[u8]) -> Failure {
    let name = protocol.escape_ascii();
    let why = format!("the server chose {name} by ALPN, and this load speaks HTTP/1.1");
    Failure::new(Outcome::TlsFailed, why)
}
