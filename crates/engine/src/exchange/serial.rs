//! What HTTP/1.1 and raw bytes share: a stream of bytes that carries one exchange after another.

use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use crate::exchange::observer::ExchangeObserver;
use crate::exchange::sending::Sending;
use crate::net::buffers::WorkerBuffers;
use crate::net::failure::broken;
use crate::net::transport::Transport;
use crate::outcome::{Failure, Outcome};

/// A connection with at most one exchange at a time.
///
/// Not a struct that both protocols have as a field: its padding would add 8 bytes to each client's task.
pub trait SerialConnection {
    fn transport(&mut self) -> &mut Transport;
    fn buffers(&self) -> &Rc<WorkerBuffers>;
    /// Whether it has carried an exchange before.
    fn is_reused(&self) -> bool;
}

/// One request and its response on such a connection; `R` is what is known of the response so far.
pub struct SerialExchange<'a, 'w, C, R> {
    pub connection: &'a mut C,
    pub observer: &'a mut ExchangeObserver<'w>,
    pub sending: Sending<'a>,
    pub response: R,
    /// Whether the response is whole, nothing follows it, and the peer has not closed.
    pub clean: bool,
}

/// How a protocol reads a response.
pub trait ReadResponse {
    /// Takes in bytes that have come. Returns the outcome if that was the end.
    fn read(&mut self, input: &[u8]) -> Option<Outcome>;

    /// Returns the outcome after the server has closed the connection.
    fn eof(&mut self) -> Outcome;

    /// Says what is missing of a response whose first bytes have come.
    fn missing(&self) -> &'static str;
}

impl<C: SerialConnection, R> SerialExchange<'_, '_, C, R>
where
    Self: ReadResponse,
{
    /// Sends what the socket takes, and reads what has come, until the exchange has ended.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.observer.begin_sending() {
            return Poll::Ready(outcome);
        }
        self.sending
            .write(self.connection.transport(), self.observer, cx);
        let buffers = self.connection.buffers().clone();
        let mut scratch = buffers.scratch.borrow_mut();
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match self.connection.transport().poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    self.observer.note_bytes(0);
                    return Poll::Ready(self.eof());
                }
                Poll::Ready(Ok(())) => {
                    if let Some(outcome) = self.read(buffer.filled()) {
                        return Poll::Ready(outcome);
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(self.fail(broken(&error))),
                Poll::Pending => break,
            }
        }
        let interrupted = self.observer.task.poll_interrupt();
        interrupted.map(|_| self.observer.timed_out_within(self.missing()))
    }

    pub fn fail(&mut self, failure: Failure) -> Outcome {
        let reused = self.connection.is_reused();
        self.observer.failed_on(reused, failure)
    }
}
