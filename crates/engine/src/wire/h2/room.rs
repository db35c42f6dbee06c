//! How many streams of a connection are open, and the queue of those who wait for one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::seat::{Interrupt, Seat};

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

#[derive(Debug, Default)]
pub struct Ticket {
    state: Cell<State>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    /// A stream is reserved for its holder.
    Called,
    /// Its holder no longer waits.
    Void,
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
        ticket: &Ticket,
        cx: &mut Context<'_>,
        seat: &Seat,
    ) -> Poll<Result<Place, Option<Interrupt>>> {
        if ticket.state.get() == State::Called {
            return Poll::Ready(Ok(Place(self.clone())));
        }
        let given_up = if self.closed.get() && !seat.stopping() {
            Poll::Ready(None)
        } else {
            seat.poll_interrupt().map(Some)
        };
        if given_up.is_ready() {
            ticket.state.set(State::Void);
        } else {
            *ticket.waker.borrow_mut() = Some(cx.waker().clone());
        }
        given_up.map(Err)
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
            if ticket.state.get() == State::Waiting {
                self.open.set(self.open.get() + 1);
                ticket.state.set(State::Called);
                ticket.wake();
            }
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
