//! A request on its way out.

use std::io;
use std::task::{Context, Poll};

use crate::exchange::observer::ExchangeObserver;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::Failure;

/// How much of one request is written at a time: while a fast reader empties the socket, a large one would otherwise keep
/// the worker from all its other connections.
const MAX_BYTES_AT_A_TIME: usize = 1024 * 1024;

pub struct Sending<'a> {
    unsent: &'a [u8],
    /// Set if writing failed. It matters only if no response can be read in spite of that.
    broken: Option<Failure>,
}

impl<'a> Sending<'a> {
    pub fn new(request: &'a [u8]) -> Self {
        Self {
            unsent: request,
            broken: None,
        }
    }

    /// Writes what the socket takes now, up to a limit; beyond that the task is woken to go on.
    pub fn write(
        &mut self,
        transport: &mut Transport,
        observer: &mut ExchangeObserver<'_>,
        cx: &mut Context<'_>,
    ) {
        let before = self.unsent.len();
        let paused = self.write_by(cx, |cx, bytes| transport.poll_write(cx, bytes));
        observer.note_written(before - self.unsent.len());
        if paused {
            return;
        }
        if let Poll::Ready(Err(error)) = transport.poll_flush(cx) {
            self.broken = Some(broken(&error));
        }
    }

    /// Returns whether there is more to write later.
    fn write_by(
        &mut self,
        cx: &mut Context<'_>,
        mut poll_write: impl FnMut(&mut Context<'_>, &[u8]) -> Poll<io::Result<usize>>,
    ) -> bool {
        let mut budget = MAX_BYTES_AT_A_TIME;
        while !self.unsent.is_empty() && self.broken.is_none() {
            if budget == 0 {
                cx.waker().wake_by_ref();
                return true;
            }
            let next = &self.unsent[..self.unsent.len().min(budget)];
            match poll_write(cx, next) {
                Poll::Ready(Ok(written)) => {
                    self.unsent = &self.unsent[written..];
                    budget -= written;
                }
                Poll::Ready(Err(error)) => self.broken = Some(broken(&error)),
                Poll::Pending => return true,
            }
        }
        false
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_large_request_to_a_fast_reader_lets_others_go_on_in_between() {
        let request = vec![b'x'; 5 * MAX_BYTES_AT_A_TIME / 2];
        let woken = Arc::new(Counting::default());
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        let mut sending = Sending::new(&request);
        let mut turns = Vec::new();
        loop {
            let mut written = 0;
            let more = sending.write_by(&mut cx, |_, bytes| {
                let taken = bytes.len().min(100_000);
                written += taken;
                Poll::Ready(Ok(taken))
            });
            turns.push(written);
            if !more {
                break;
            }
        }
        let max = MAX_BYTES_AT_A_TIME;
        assert_eq!(turns, [max, max, max / 2]);
        assert_eq!(woken.0.load(Ordering::Relaxed), 2, "it is woken to go on");
        assert!(sending.is_done());
    }

    #[test]
    fn what_the_socket_does_not_take_waits_for_the_socket() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut sending = Sending::new(b"request");
        assert!(sending.write_by(&mut cx, |_, _| Poll::Pending));
        let refused = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(!sending.write_by(&mut cx, |_, _| Poll::Ready(Err(refused()))));
        assert!(!sending.is_done() && sending.failure().is_some());
    }
}
