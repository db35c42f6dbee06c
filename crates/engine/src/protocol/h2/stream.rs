//! One stream as its client sees it: what has come for it and was not taken in yet.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

use crate::protocol::h2::reason::Reason;

/// An inbox whose buffer is larger than this is not kept for reuse.
const KEPT_BYTES: usize = 1024;

/// Something that came for a stream. Its bytes are in the stream's inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent {
    /// A head or trailers: `length` bytes of fields, which are `whole` unless some had to be left out.
    Head {
        length: usize,
        whole: bool,
        end: bool,
    },
    /// A part of the body.
    Data { length: usize, end: bool },
    /// The server reset the stream.
    Reset(Reason),
    /// The server announced the end of the connection (GOAWAY) and has not processed the request.
    Refused,
}

/// What came for a stream, in order.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Each event with the time at which it came and its bytes on the wire.
    pub events: Vec<(u64, usize, StreamEvent)>,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Stream {
    inbox: RefCell<Inbox>,
    waker: RefCell<Option<Waker>>,
    /// How many bytes of the request's body the server still accepts on this stream.
    pub window: Cell<i64>,
    /// When the first byte of the request's head was handed to the kernel.
    pub sent: Cell<Option<u64>>,
}

impl Stream {
    pub fn take(&self) -> Inbox {
        self.inbox.take()
    }

    /// Returns an inbox that was taken, so that its buffers are used again.
    pub fn put_back(&self, mut inbox: Inbox) {
        let mut now = self.inbox.borrow_mut();
        if now.events.is_empty() && inbox.bytes.capacity() <= KEPT_BYTES {
            inbox.events.clear();
            inbox.bytes.clear();
            *now = inbox;
        }
    }

    /// Sets the waker to call when an event arrives.
    pub fn set_waker(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        match &*waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            _ => *waker = Some(cx.waker().clone()),
        }
    }

    pub fn wake(&self) {
        self.waker
            .borrow()
            .as_ref()
            .inspect(|waker| waker.wake_by_ref());
    }

    /// Takes in a head or trailers. `decode` appends the fields to the bytes, and returns whether they are whole.
    pub(super) fn head<E>(
        &self,
        at: u64,
        wire: usize,
        end: bool,
        decode: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Inbox { events, bytes } = &mut *self.inbox.borrow_mut();
        let before = bytes.len();
        let whole = decode(bytes).inspect_err(|_| bytes.truncate(before))?;
        let length = bytes.len() - before;
        events.push((at, wire, StreamEvent::Head { length, whole, end }));
        self.wake();
        Ok(())
    }

    /// Takes in an event of the stream, and wakes who waits for it. `at`: when it came, in ns; `wire`: its bytes on the
    /// connection.
    pub(super) fn note_event(&self, at: u64, wire: usize, event: StreamEvent, bytes: &[u8]) {
        let Inbox {
            events,
            bytes: kept,
        } = &mut *self.inbox.borrow_mut();
        kept.extend_from_slice(bytes);
        match (events.last_mut(), event) {
            (
                Some((last, size, StreamEvent::Data { length, end: ended })),
                StreamEvent::Data { end, .. },
            ) if *last == at => {
                *length += bytes.len();
                *size += wire;
                *ended = end;
            }
            _ => events.push((at, wire, event)),
        }
        self.wake();
    }
}
