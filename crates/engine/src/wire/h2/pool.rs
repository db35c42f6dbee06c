//! The connections that the clients of one workload share on one worker.

use std::cell::RefCell;
use std::future::poll_fn;
use std::mem;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::record::head_of_line::{Elsewhere, Wait};
use crate::wire::dial::{Dialer, interrupted};
use crate::wire::failure::Failure;
use crate::wire::h2::connection::Connection;
use crate::wire::target::Target;
use crate::wire::tls::Sessions;
use crate::wire::watch::Watch;

/// A client takes the place that the fewest have, and keeps it until it leaves; its connection is opened by the first
/// who comes, and again when it has ended.
#[derive(Default)]
pub struct Pool(RefCell<Vec<Place>>);

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

/// One client's place. The connection is closed after the last one has left.
pub struct Member {
    pool: Rc<Pool>,
    place: usize,
}

impl Member {
    /// The number of its connection.
    pub fn place(&self) -> usize {
        self.place
    }

    /// The same request on the other connections, while a stream of this one waited.
    pub fn elsewhere(&self, wait: Wait) -> Elsewhere {
        let places = self.pool.0.borrow();
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

/// What a new member finds.
enum Found {
    /// Nothing: it opens the connection.
    Nothing(Rc<Attempt>),
    /// Another one opens it.
    Opening(Rc<Attempt>),
    Open(Rc<Connection>),
}

/// A connection that is being opened, for all who wait for it.
#[derive(Default)]
struct Attempt {
    result: RefCell<Option<Result<Rc<Connection>, Failure>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.0.borrow().len())
    }
}

impl Pool {
    /// Of so many connections.
    pub fn new(connections: usize) -> Rc<Self> {
        let places = std::iter::repeat_with(Place::default).take(connections);
        Rc::new(Self(RefCell::new(places.collect())))
    }

    pub async fn join(
        self: &Rc<Self>,
        dialer: &Dialer,
        target: &Target,
        sessions: &mut Sessions,
        watch: &mut Watch<'_>,
    ) -> Result<(Rc<Connection>, Member), Failure> {
        let member = self.take_place();
        let connection = match self.look(member.place) {
            Found::Open(connection) => connection,
            Found::Opening(attempt) => attempt.wait(watch).await?,
            Found::Nothing(attempt) => {
                let opened = Connection::open(dialer, target, sessions, watch, false).await;
                self.put(member.place, &opened);
                attempt.end(&opened);
                opened?
            }
        };
        Ok((connection, member))
    }

    fn take_place(self: &Rc<Self>) -> Member {
        let places = &mut *self.0.borrow_mut();
        let numbered = places.iter_mut().enumerate();
        let (place, chosen) = numbered
            .min_by_key(|(_, place)| place.members)
            .expect("a pool has connections");
        chosen.members += 1;
        Member {
            pool: self.clone(),
            place,
        }
    }

    fn look(&self, place: usize) -> Found {
        let state = &mut self.0.borrow_mut()[place].state;
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
        self.0.borrow_mut()[place].state = match opened {
            Ok(connection) => State::Open(connection.clone()),
            Err(_) => State::Empty,
        };
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let place = &mut self.pool.0.borrow_mut()[self.place];
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

    /// Who waits has what the one gets who opens it, also its failure.
    async fn wait(&self, watch: &mut Watch<'_>) -> Result<Rc<Connection>, Failure> {
        watch.waits(watch.limits.timeouts.connect_ns);
        let seat = watch.seat;
        let result = poll_fn(|cx| {
            if let Some(result) = &*self.result.borrow() {
                return Poll::Ready(result.clone());
            }
            self.waiting.borrow_mut().push(cx.waker().clone());
            let why = "the connection that it shares was not ready in time";
            seat.poll_interrupt()
                .map(|cause| Err(interrupted(cause, why)))
        });
        let result = result.await;
        seat.clear_deadline();
        result
    }
}
