//! The seam between load and protocol.

use crate::record::interval::Outcome;
use crate::seat::Seat;
use crate::wire::dial::Dialer;
use crate::wire::h1;
use crate::wire::request::Call;
use crate::wire::target::Target;
use crate::wire::watch::Watch;

/// One client's way to the server, whatever the protocol.
pub enum Link {
    H1(h1::Link),
}

impl Link {
    /// Opens a connection; an error is how the request is counted.
    pub async fn open(
        dialer: &Dialer,
        target: &Target,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Outcome> {
        let transport = dialer.connect(target, watch).await?;
        Ok(Self::H1(h1::Link::new(
            transport,
            dialer.common.clone(),
            watch.body_limit(),
        )))
    }

    /// Whether it takes another exchange now: it is open, and the peer has neither closed it nor spoken unasked.
    pub fn has_room(&mut self) -> bool {
        match self {
            Self::H1(link) => link.has_room(),
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
