//! The connections that the clients of one workload share on one worker, and the single connection of a client that
//! sends several requests at the same time.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::exchange::h2::connection::Connection;
use crate::exchange::link::Destination;
use crate::exchange::watch::Watch;
use crate::net::dial::interrupted;
use crate::net::target::Target;
use crate::outcome::Failure;
use crate::record::head_of_line::{Elsewhere, Wait};

/// The single connection over which a client sends requests that are under way at the same time.
#[derive(Debug)]
pub struct OneConnection {
    pool: Rc<Pool>,
    /// Its place in the pool, chosen when the first request needs it.
    place: Cell<Option<usize>>,
}

/// Connections by place. A client takes the place with the fewest members, and keeps it until it leaves. The place's
/// connection is opened by the first member that needs it, and again by the next one after it has ended.
#[derive(Default)]
pub struct Pool {
    places: RefCell<Vec<Place>>,
    /// How many connections have been opened.
    opened: Cell<u64>,
}

#[derive(Default)]
struct Place {
    members: u64,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Opening(Rc<Attempt>),
    Open(Rc<Connection>),
}

/// One client's membership of a place. The connection is closed when the last member has left.
pub struct Member {
    pool: Rc<Pool>,
    place: usize,
}

impl OneConnection {
    /// One of the connections of the workload's `pool`, or one of its own if its clients share none.
    pub fn of(pool: &Rc<Pool>, target: &Target) -> Self {
        let pool = if target.shares_connections() {
            pool.clone()
        } else {
            Pool::new(1)
        };
        let place = Cell::default();
        Self { pool, place }
    }

    pub fn take_place(&self) -> Member {
        let member = self.pool.take_place(self.place.get());
        self.place.set(Some(member.place));
        member
    }
}

impl Member {
    /// Returns the connection of its place, and opens it if nobody has done so.
    pub async fn connect(
        &self,
        to: &mut Destination<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Rc<Connection>, Failure> {
        match self.pool.look(self.place) {
            Found::Open(connection) => Ok(connection),
            Found::Opening(attempt) => attempt.wait(watch).await,
            Found::Nothing(attempt) => {
                let opened = Connection::open(to, watch, false).await;
                self.pool.put(self.place, &opened);
                attempt.end(&opened);
                opened
            }
        }
    }

    /// The number of its connection in the pool.
    pub fn place(&self) -> usize {
        self.place
    }

    /// How the same request fared on the other connections while a stream of this one waited.
    pub fn elsewhere(&self, wait: Wait) -> Elsewhere {
        let places = self.pool.places.borrow();
        let mut elsewhere = Elsewhere::default();
        let mut times = Vec::new();
        for (number, place) in places.iter().enumerate() {
            if let State::Open(connection) = &place.state
                && number != self.place
            {
                let before = times.len();
                times.extend(connection.history().answers_within(wait));
                elsewhere.connections += u32::from(times.len() > before);
            }
        }
        times.sort_unstable();
        elsewhere.answers = times.len() as u32;
        elsewhere.median_ns = times.get(times.len() / 2).copied().unwrap_or(0);
        elsewhere
    }
}

/// What a member finds at its place.
enum Found {
    /// There is no connection; this member has to open it.
    Nothing(Rc<Attempt>),
    /// Another member is opening the connection.
    Opening(Rc<Attempt>),
    Open(Rc<Connection>),
}

/// A connection that is being opened, and the members that wait for it.
#[derive(Default)]
struct Attempt {
    result: RefCell<Option<Result<Rc<Connection>, Failure>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.places.borrow().len())
    }
}

impl Pool {
    /// A pool of this many connections.
    pub fn new(connections: usize) -> Rc<Self> {
        let places = std::iter::repeat_with(Place::default).take(connections);
        Rc::new(Self {
            places: RefCell::new(places.collect()),
            opened: Cell::new(0),
        })
    }

    /// Takes a place for a client: the given one, or else the one with the fewest members.
    pub fn take_place(self: &Rc<Self>, place: Option<usize>) -> Member {
        let places = &mut *self.places.borrow_mut();
        let place = place.unwrap_or_else(|| {
            let numbered = places.iter().enumerate();
            let (place, _) = numbered
                .min_by_key(|(_, place)| place.members)
                .expect("a pool has connections");
            place
        });
        places[place].members += 1;
        Member {
            pool: self.clone(),
            place,
        }
    }

    fn look(&self, place: usize) -> Found {
        let state = &mut self.places.borrow_mut()[place].state;
        match state {
            State::Open(connection) if connection.takes_more() => Found::Open(connection.clone()),
            State::Opening(attempt) => Found::Opening(attempt.clone()),
            _ => {
                let attempt = Rc::<Attempt>::default();
                *state = State::Opening(attempt.clone());
                Found::Nothing(attempt)
            }
        }
    }

    fn put(&self, place: usize, opened: &Result<Rc<Connection>, Failure>) {
        self.places.borrow_mut()[place].state = match opened {
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
        let place = &mut self.pool.places.borrow_mut()[self.place];
        place.members -= 1;
        if place.members == 0 {
            place.state = State::Empty;
        }
    }
}

impl Attempt {
    fn end(&self, opened: &Result<Rc<Connection>, Failure>) {
        *self.result.borrow_mut() = Some(opened.clone());
        mem::take(&mut *self.waiting.borrow_mut())
            .into_iter()
            .for_each(Waker::wake);
    }

    /// Waits for the member that opens the connection, and returns what that one gets, even if it is a failure.
    async fn wait(&self, watch: &mut Watch<'_>) -> Result<Rc<Connection>, Failure> {
        watch.waits(watch.limits.timeouts.connect_ns);
        let seat = watch.seat;
        let mut place = None;
        let result = poll_fn(|cx| {
            if let Some(result) = &*self.result.borrow() {
                return Poll::Ready(result.clone());
            }
            let mut waiting = self.waiting.borrow_mut();
            let place = *place.get_or_insert_with(|| {
                waiting.push(Waker::noop().clone());
                waiting.len() - 1
            });
            waiting[place].clone_from(cx.waker());
            let why = "the connection that it shares was not ready in time";
            seat.poll_interrupt()
                .map(|cause| Err(interrupted(cause, why)))
        });
        let result = result.await;
        seat.clear_deadline();
        result
    }
}
