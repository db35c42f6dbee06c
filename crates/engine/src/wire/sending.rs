//! A request on its way out.

use std::task::{Context, Poll};

use crate::wire::failure::{Failure, broken};
use crate::wire::transport::Transport;
use crate::wire::watch::Watch;

pub struct Sending<'a> {
    unsent: &'a [u8],
    /// Writing failed, and what that means if there is no answer to be read all the same.
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

    /// All of it has left.
    pub fn is_done(&self) -> bool {
        self.unsent.is_empty() && self.broken.is_none()
    }

    /// Why it could not be sent.
    pub fn failure(&mut self) -> Option<Failure> {
        self.broken.take()
    }
}
