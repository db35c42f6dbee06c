//! A request on its way out.

use std::task::{Context, Poll};

use crate::wire::failure::{Failure, broken};
use crate::wire::transport::Transport;
use crate::wire::watch::Watch;

pub struct Sending<'a> {
    unsent: &'a [u8],
    /// Set if writing failed. It matters only if no answer can be read in spite of that.
    broken: Option<Failure>,
}

impl<'a> Sending<'a> {
    pub fn new(request: &'a [u8]) -> Self {
        Self {
            unsent: request,
            broken: None,
        }
    }

    /// Writes what the socket takes now.
    pub fn write(
        &mut self,
        transport: &mut Transport,
        watch: &mut Watch<'_>,
        cx: &mut Context<'_>,
    ) {
        while !self.unsent.is_empty() && self.broken.is_none() {
            match transport.poll_write(cx, self.unsent) {
                Poll::Ready(Ok(written)) => {
                    self.unsent = &self.unsent[written..];
                    watch.wrote(written);
                }
                Poll::Ready(Err(error)) => self.broken = Some(broken(&error)),
                Poll::Pending => return,
            }
        }
        if let Poll::Ready(Err(error)) = transport.poll_flush(cx) {
            self.broken = Some(broken(&error));
        }
    }

    /// Whether all of it has been written.
    pub fn is_done(&self) -> bool {
        self.unsent.is_empty() && self.broken.is_none()
    }

    /// Takes the reason why it could not be sent, if there is one.
    pub fn failure(&mut self) -> Option<Failure> {
        self.broken.take()
    }
}
