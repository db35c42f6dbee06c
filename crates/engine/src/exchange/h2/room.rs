//! How many streams of a connection are open, and the queue of those who wait for one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::machine::seat::{Interrupt, Seat};

#[derive(Debug)]
pub struct Room {
    most: Cell<usize>,
    open: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Ticket>>>,
    /// Whether the connection takes no more streams; then nobody is called any more.
    closed: Cell<bool>,
}

/// A stream of the connection, free again when it is dropped.
pub struct Place(Rc<Room>);

/// A turn in the queue, which it leaves when its holder is called or no longer waits.
#[derive(Debug, Default)]
pub struct Ticket {
    /// Whether a stream is reserved for its holder.
    called: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Room {
    pub fn new(most: usize) -> Rc<Self> {
        Rc::new(Self {
            most: Cell::new(most),
            open: Cell::new(0),
            waiting: RefCell::default(),
            closed: Cell::new(false),
        })
    }

    /// Takes a place if there is room and nobody is waiting.
    pub fn take(self: &Rc<Self>) -> Option<Place> {
        let free = self.open.get() < self.most.get() && self.waiting.borrow().is_empty();
        free.then(|| {
            self.open.set(self.open.get() + 1);
            Place(self.clone())
        })
    }

    /// Joins the queue.
    pub fn wait(&self) -> Rc<Ticket> {
        let ticket = Rc::<Ticket>::default();
        self.waiting.borrow_mut().push_back(ticket.clone());
        ticket
    }

    /// Waits for the place of the ticket's holder. The error is what interrupted the wait, or `None` if the connection
    /// takes no more streams.
    pub fn poll(
        self: &Rc<Self>,
        ticket: &Rc<Ticket>,
        cx: &mut Context<'_>,
        seat: &Seat,
    ) -> Poll<Result<Place, Option<Interrupt>>> {
        if ticket.called.get() {
            return Poll::Ready(Ok(Place(self.clone())));
        }
        let given_up = if self.closed.get() && !seat.stopping() {
            Poll::Ready(None)
        } else {
            seat.poll_interrupt().map(Some)
        };
        if given_up.is_ready() {
            self.leave(ticket);
        } else {
            *ticket.waker.borrow_mut() = Some(cx.waker().clone());
        }
        given_up.map(Err)
    }

    /// Takes a ticket out of the queue. Those who gave up are mostly those who have waited longest.
    fn leave(&self, ticket: &Rc<Ticket>) {
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter().position(|other| Rc::ptr_eq(other, ticket));
        place.inspect(|place| drop(waiting.remove(*place)));
    }

    /// Sets how many streams the server accepts.
    pub fn allow(&self, most: usize) {
        if self.most.replace(most) < most {
            self.call();
        }
    }

    /// Calls those who wait, as far as there is room.
    fn call(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while self.open.get() < self.most.get()
            && let Some(ticket) = waiting.pop_front()
        {
            self.open.set(self.open.get() + 1);
            ticket.called.set(true);
            ticket.wake();
        }
    }

    /// The connection takes no more streams: wakes everybody who waits.
    pub fn close(&self) {
        self.closed.set(true);
        let waiting = self.waiting.take();
        for ticket in &waiting {
            ticket.wake();
        }
    }
}

impl Ticket {
    fn wake(&self) {
        self.waker.take().inspect(Waker::wake_by_ref);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let room = &self.0;
        room.open.set(room.open.get() - 1);
        room.call();
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::machine::attention::Attention;
    use crate::machine::clock::{Clock, monotonic_ns};
    use crate::machine::seat::Seats;

    #[tokio::test]
    async fn who_no_longer_waits_leaves_the_queue() {
        let attention = Attention::new(false, Rc::default());
        let seats = Seats::new(Clock::starting_at(monotonic_ns()), attention).unwrap();
        let seat = Seat::take(&seats);
        let room = Room::new(0);
        let (first, second) = (room.wait(), room.wait());
        for _ in 0..100 {
            let ticket = room.wait();
            seat.set_deadline(1);
            seats.wake_overdue(2);
            let over = poll_fn(|cx| room.poll(&ticket, cx, &seat)).await;
            assert!(matches!(over, Err(Some(Interrupt::Deadline))));
        }
        assert_eq!(room.waiting.borrow().len(), 2);
        room.allow(1);
        assert_eq!((first.called.get(), second.called.get()), (true, false));
    }
}
