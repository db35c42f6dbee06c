//! The connections that the clients of one workload share on one worker, and the single connection of a client that
//! sends several requests at the same time.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::exchange::destination::Destination;
use crate::exchange::h2::multiplexed::MultiplexedConnection;
use crate::exchange::observer::ExchangeObserver;
use crate::net::dial::interrupt_failure;
use crate::net::target::Target;
use crate::outcome::Failure;
use crate::record::head_of_line::{Elsewhere, Wait};

/// The single connection over which a client sends requests that are under way at the same time.
#[derive(Debug)]
pub struct OneConnection {
    pool: Rc<Pool>,
    /// Its slot in the pool, chosen when the first request needs it.
    slot: Cell<Option<usize>>,
}

/// Connections by slot. A client takes the slot with the fewest members, and keeps it until it leaves. The slot's
/// connection is opened by the first member that needs it, and again by the next one after it has ended.
#[derive(Default)]
pub struct Pool {
    slots: RefCell<Vec<PoolSlot>>,
    /// How many connections have been opened.
    opened: Cell<u64>,
}

#[derive(Default)]
struct PoolSlot {
    members: u64,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Opening(Rc<Attempt>),
    Open(Rc<MultiplexedConnection>),
}

/// One client's membership of a slot. The connection is closed when the last member has left.
pub struct Member {
    pool: Rc<Pool>,
    slot: usize,
}

impl OneConnection {
    /// One of the connections of the workload's `pool`, or one of its own if its clients share none.
    pub fn of(pool: &Rc<Pool>, target: &Target) -> Self {
        let pool = if target.shares_connections() {
            pool.clone()
        } else {
            Pool::new(1)
        };
        let slot = Cell::default();
        Self { pool, slot }
    }

    pub fn take_slot(&self) -> Member {
        let member = self.pool.take_slot(self.slot.get());
        self.slot.set(Some(member.slot));
        member
    }
}

impl Member {
    /// Returns the connection of its slot, and opens it if nobody has done so.
    pub async fn connect(
        &self,
        to: &mut Destination<'_>,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Rc<MultiplexedConnection>, Failure> {
        match self.pool.look_up(self.slot) {
            Lookup::Open(connection) => Ok(connection),
            Lookup::Opening(attempt) => attempt.wait(observer).await,
            Lookup::Empty(attempt) => {
                let opened = MultiplexedConnection::open(to, observer, false).await;
                self.pool.put(self.slot, &opened);
                attempt.end(&opened);
                opened
            }
        }
    }

    /// The number of its connection in the pool.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// How the same request fared on the other connections while a stream of this one waited.
    pub fn elsewhere(&self, wait: Wait) -> Elsewhere {
        let slots = self.pool.slots.borrow();
        let mut elsewhere = Elsewhere::default();
        let mut times = Vec::new();
        for (number, slot) in slots.iter().enumerate() {
            if let State::Open(connection) = &slot.state
                && number != self.slot
            {
                let before = times.len();
                times.extend(connection.history().responses_within(wait));
                elsewhere.connections += u32::from(times.len() > before);
            }
        }
        times.sort_unstable();
        elsewhere.responses = times.len() as u32;
        elsewhere.median_ns = times.get(times.len() / 2).copied().unwrap_or(0);
        elsewhere
    }
}

/// What a member finds in its slot.
enum Lookup {
    /// There is no connection; this member has to open it.
    Empty(Rc<Attempt>),
    /// Another member is opening the connection.
    Opening(Rc<Attempt>),
    Open(Rc<MultiplexedConnection>),
}

/// A connection that is being opened, and the members that wait for it.
#[derive(Default)]
struct Attempt {
    result: RefCell<Option<Result<Rc<MultiplexedConnection>, Failure>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.slots.borrow().len())
    }
}

impl Pool {
    /// A pool of this many connections.
    pub fn new(connections: usize) -> Rc<Self> {
        let slots = std::iter::repeat_with(PoolSlot::default).take(connections);
        Rc::new(Self {
            slots: RefCell::new(slots.collect()),
            opened: Cell::new(0),
        })
    }

    /// Takes a slot for a client: the given one, or else the one with the fewest members.
    pub fn take_slot(self: &Rc<Self>, slot: Option<usize>) -> Member {
        let slots = &mut *self.slots.borrow_mut();
        let slot = slot.unwrap_or_else(|| {
            let numbered = slots.iter().enumerate();
            let (slot, _) = numbered
                .min_by_key(|(_, slot)| slot.members)
                .expect("a pool has connections");
            slot
        });
        slots[slot].members += 1;
        Member {
            pool: self.clone(),
            slot,
        }
    }

    fn look_up(&self, slot: usize) -> Lookup {
        let state = &mut self.slots.borrow_mut()[slot].state;
        match state {
            State::Open(connection) if connection.takes_more() => Lookup::Open(connection.clone()),
            State::Opening(attempt) => Lookup::Opening(attempt.clone()),
            _ => {
                let attempt = Rc::<Attempt>::default();
                *state = State::Opening(attempt.clone());
                Lookup::Empty(attempt)
            }
        }
    }

    fn put(&self, slot: usize, opened: &Result<Rc<MultiplexedConnection>, Failure>) {
        self.slots.borrow_mut()[slot].state = match opened {
            Ok(connection) => {
                self.opened.set(self.opened.get() + 1);
                connection.history().connection = self.opened.get();
                State::Open(connection.clone())
            }
            Err(_) => State::Empty,
        };
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let slot = &mut self.pool.slots.borrow_mut()[self.slot];
        slot.members -= 1;
        if slot.members == 0 {
            slot.state = State::Empty;
        }
    }
}

impl Attempt {
    fn end(&self, opened: &Result<Rc<MultiplexedConnection>, Failure>) {
        *self.result.borrow_mut() = Some(opened.clone());
        mem::take(&mut *self.waiting.borrow_mut())
            .into_iter()
            .for_each(Waker::wake);
    }

    /// Waits for the member that opens the connection, and returns what that one gets, even if it is a failure.
    async fn wait(
        &self,
        observer: &mut ExchangeObserver<'_>,
    ) -> Result<Rc<MultiplexedConnection>, Failure> {
        observer.begin_waiting(observer.limits.timeouts.connect_ns);
        let task = observer.task;
        let mut slot = None;
        let result = poll_fn(|cx| {
            if let Some(result) = &*self.result.borrow() {
                return Poll::Ready(result.clone());
            }
            let mut waiting = self.waiting.borrow_mut();
            let slot = *slot.get_or_insert_with(|| {
                waiting.push(Waker::noop().clone());
                waiting.len() - 1
            });
            waiting[slot].clone_from(cx.waker());
            let why = "the connection that it shares was not ready in time";
            task.poll_interrupt()
                .map(|cause| Err(interrupt_failure(cause, why)))
        });
        let result = result.await;
        task.clear_deadline();
        result
    }
}
