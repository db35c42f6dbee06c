//! One stream, as its client sees it: what has come for it and was not taken in yet.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

use super::reason::Reason;

/// Room that a stream keeps for what comes next.
const KEPT_BYTES: usize = 1024;

/// What came for a stream. The bytes stand in its inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Fields of so many bytes. `whole`: none of them had to be left out.
    Head {
        length: usize,
        whole: bool,
        end: bool,
    },
    /// A part of the body.
    Data { length: usize, end: bool },
    /// The server broke it off.
    Reset(Reason),
    /// The server said goodbye to the connection before it began with the request.
    Refused,
}

/// In the order in which it came.
#[derive(Debug, Default)]
pub struct Inbox {
    /// When it came, how many bytes it took on the wire, and what it is.
    pub events: Vec<(u64, usize, Event)>,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Stream {
    inbox: RefCell<Inbox>,
    waker: RefCell<Option<Waker>>,
    /// What the server still takes of the request's body on this stream.
    pub window: Cell<i64>,
}

impl Stream {
    pub fn take(&self) -> Inbox {
        self.inbox.take()
    }

    /// Gives the room back that was taken.
    pub fn put_back(&self, mut inbox: Inbox) {
        let mut now = self.inbox.borrow_mut();
        if now.events.is_empty() && inbox.bytes.capacity() <= KEPT_BYTES {
            inbox.events.clear();
            inbox.bytes.clear();
            *now = inbox;
        }
    }

    /// The client is woken when something comes.
    pub fn wakes(&self, cx: &Context<'_>) {
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

    /// A head has come, which `decode` appends to the bytes; gives whether it is whole.
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
        events.push((at, wire, Event::Head { length, whole, end }));
        self.wake();
        Ok(())
    }

    pub(super) fn came(&self, at: u64, wire: usize, event: Event, bytes: &[u8]) {
        let Inbox {
            events,
            bytes: kept,
        } = &mut *self.inbox.borrow_mut();
        kept.extend_from_slice(bytes);
        match (events.last_mut(), event) {
            (Some((last, size, Event::Data { length, end: ended })), Event::Data { end, .. })
                if *last == at =>
            {
                *length += bytes.len();
                *size += wire;
                *ended = end;
            }
            _ => events.push((at, wire, event)),
        }
        self.wake();
    }
}
