//! The seam between load and protocol.

use std::task::{Context, Poll};

use crate::record::interval::Outcome;
use crate::seat::Seat;
use crate::wire::dial::Dialer;
use crate::wire::failure::Failure;
use crate::wire::h1;
use crate::wire::request::Call;
use crate::wire::target::Target;
use crate::wire::tls::Sessions;
use crate::wire::watch::Watch;

/// What the server did while nothing was asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    Closed,
    /// Sent bytes that belong to no answer; which.
    Spoke(&'static str),
}

/// One client's way to the server, whatever the protocol.
pub enum Link {
    H1(h1::Link),
}

impl Link {
    /// Opens a connection; an error is how the request is counted.
    pub async fn open(
        dialer: &Dialer,
        target: &Target,
        sessions: &mut Sessions,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Outcome> {
        match dialer.connect(target, sessions, watch).await {
            Ok((transport, times)) => match transport.alpn() {
                None | Some(b"http/1.1") => {
                    watch.connected(times);
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

    /// Whether it takes another exchange now; if not, why.
    pub fn room(&mut self) -> Result<(), Unasked> {
        match self {
            Self::H1(link) => link.room(),
        }
    }

    /// Listens between exchanges: ready when the link is of no use any more.
    pub fn poll_unasked(&mut self, cx: &mut Context<'_>) -> Poll<Unasked> {
        match self {
            Self::H1(link) => link.poll_unasked(cx),
        }
    }

    /// One request and its answer.
    pub async fn exchange(&mut self, call: Call<'_>, watch: &mut Watch<'_>) -> Outcome {
        match self {
            Self::H1(link) => link.exchange(call, watch).await,
        }
    }

    /// After an exchange: it takes no other one.
    pub fn is_spent(&self) -> bool {
        match self {
            Self::H1(link) => link.is_spent(),
        }
    }

    /// Closes in good order.
    pub fn part(self, seat: &Seat) {
        match self {
            Self::H1(link) => link.part(seat),
        }
    }
}

fn unspoken(protocol: &[u8]) -> Failure {
    let name = protocol.escape_ascii();
    let why = format!("the server chose {name} by ALPN; jostle speaks HTTP/1.1 only so far");
    Failure::new(Outcome::TlsFailed, why)
}
