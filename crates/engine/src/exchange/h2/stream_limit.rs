//! How many streams of a connection are open, and the queue of those who wait for one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::machine::tasks::{Interrupt, Task};

#[derive(Debug)]
pub struct StreamLimit {
    max_open: Cell<usize>,
    open: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Ticket>>>,
    /// Whether the connection takes no more streams; then nobody is called any more.
    closed: Cell<bool>,
}

/// A stream of the connection, free again when it is dropped.
pub struct StreamPermit(Rc<StreamLimit>);

/// A turn in the queue, which it leaves when its holder is called or no longer waits.
#[derive(Debug, Default)]
pub struct Ticket {
    /// Whether a stream is reserved for its holder.
    called: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl StreamLimit {
    pub fn new(max_open: usize) -> Rc<Self> {
        Rc::new(Self {
            max_open: Cell::new(max_open),
            open: Cell::new(0),
            waiting: RefCell::default(),
            closed: Cell::new(false),
        })
    }

    /// Takes a permit if a stream is free and nobody is waiting.
    pub fn take(self: &Rc<Self>) -> Option<StreamPermit> {
        let free = self.open.get() < self.max_open.get() && self.waiting.borrow().is_empty();
        free.then(|| {
            self.open.set(self.open.get() + 1);
            StreamPermit(self.clone())
        })
    }

    /// Joins the queue.
    pub fn wait(&self) -> Rc<Ticket> {
        let ticket = Rc::<Ticket>::default();
        self.waiting.borrow_mut().push_back(ticket.clone());
        ticket
    }

    /// Waits for the permit of the ticket's holder. The error is what interrupted the wait, or `None` if the connection
    /// takes no more streams.
    pub fn poll(
        self: &Rc<Self>,
        ticket: &Rc<Ticket>,
        cx: &mut Context<'_>,
        task: &Task,
    ) -> Poll<Result<StreamPermit, Option<Interrupt>>> {
        if ticket.called.get() {
            return Poll::Ready(Ok(StreamPermit(self.clone())));
        }
        let given_up = if self.closed.get() && !task.stopping() {
            Poll::Ready(None)
        } else {
            task.poll_interrupt().map(Some)
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
        let position = waiting.iter().position(|other| Rc::ptr_eq(other, ticket));
        position.inspect(|position| drop(waiting.remove(*position)));
    }

    /// Sets how many streams the server accepts.
    pub fn allow(&self, max_open: usize) {
        if self.max_open.replace(max_open) < max_open {
            self.call();
        }
    }

    /// Calls those who wait, as far as there is room.
    fn call(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while self.open.get() < self.max_open.get()
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

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let limit = &self.0;
        limit.open.set(limit.open.get() - 1);
        limit.call();
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::machine::busy_polling::BusyPolling;
    use crate::machine::clock::{Clock, monotonic_ns};
    use crate::machine::tasks::Tasks;

    #[tokio::test]
    async fn who_no_longer_waits_leaves_the_queue() {
        let busy_polling = BusyPolling::new(false, Rc::default());
        let tasks = Tasks::new(Clock::starting_at(monotonic_ns()), busy_polling).unwrap();
        let task = Task::take(&tasks);
        let limit = StreamLimit::new(0);
        let (first, second) = (limit.wait(), limit.wait());
        for _ in 0..100 {
            let ticket = limit.wait();
            task.set_deadline(1);
            tasks.wake_overdue(2);
            let over = poll_fn(|cx| limit.poll(&ticket, cx, &task)).await;
            assert!(matches!(over, Err(Some(Interrupt::Deadline))));
        }
        assert_eq!(limit.waiting.borrow().len(), 2);
        limit.allow(1);
        assert_eq!((first.called.get(), second.called.get()), (true, false));
    }
}
