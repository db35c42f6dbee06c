//! The closed loop: a client sends, waits for the answer, thinks, and sends again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::task::{spawn_local, yield_now};

use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::schedule::partition::{deal, share};
use crate::schedule::random::Stream;
use crate::schedule::think::pause;
use crate::spec::{ClosedSpec, LoadSpec};
use crate::wire::h1::session::{Job, Session};
use crate::worker::{Seat, Worker};

/// A client that could not connect waits before its next request: so long after the first failure, twice as long
/// after each further one, up to the longest. That is added to its think time and counted (`backoffs`).
const SHORTEST_BACKOFF_NS: u64 = 10_000_000;
const LONGEST_BACKOFF_NS: u64 = 1_000_000_000;

/// The clients of one workload on one worker.
struct Crowd {
    worker: Rc<Worker>,
    workload: usize,
    /// Clients with a lower place are wanted.
    wanted: Cell<u64>,
    /// By place: the client's slot, or `GONE`.
    places: RefCell<Vec<u32>>,
    alive: Cell<u64>,
    /// Requests that may still be begun.
    budget: Cell<u64>,
    /// Of these, the first ones of clients that are just coming.
    promised: Cell<u64>,
    /// Number of the next new client on this worker.
    next_number: Cell<u64>,
    /// The number of clients will not grow any more.
    settled: Cell<bool>,
}

const GONE: u32 = u32::MAX;
/// So many clients come at a time.
const GROUP: u64 = 32;

/// Brings the clients of a workload to life on this worker.
pub fn start(worker: &Rc<Worker>, workload: usize, closed: &ClosedSpec) {
    let places = worker.plan.places();
    let shares: Vec<u64> = (0..places)
        .map(|place| share(closed.clients, place, places))
        .collect();
    let budget = closed
        .requests
        .map_or(u64::MAX, |requests| deal(requests, &shares)[worker.place]);
    let crowd = Rc::new(Crowd {
        worker: worker.clone(),
        workload,
        wanted: Cell::new(0),
        places: RefCell::default(),
        alive: Cell::new(0),
        budget: Cell::new(budget),
        promised: Cell::new(0),
        next_number: Cell::new(0),
        settled: Cell::new(false),
    });
    spawn_local(crowd.direct(Seat::take(worker)));
}

impl Crowd {
    fn plan(&self) -> &Workload {
        &self.worker.plan.workloads[self.workload]
    }

    fn closed(&self) -> &ClosedSpec {
        match &self.plan().load {
            LoadSpec::Closed(closed) => closed,
            LoadSpec::Open(_) => unreachable!("a crowd is started for closed loads only"),
        }
    }

    /// Lets the number of clients go with the plan.
    async fn direct(self: Rc<Self>, seat: Seat) {
        seat.sit().await;
        let mine = |count| share(count, self.worker.place, self.worker.plan.places());
        if let Some(phases) = &self.plan().phases {
            let mut now = 0;
            loop {
                self.want(mine(phases.clients_at(now))).await;
                let Some(change) = phases.next_change(now) else {
                    break;
                };
                let Some(then) = seat.sleep_until(change, || true).await else {
                    return;
                };
                now = then;
            }
        } else {
            self.want(mine(self.closed().clients)).await;
        }
        self.settled.set(true);
        self.check_done();
    }

    /// From now on there shall be `count` clients. The last to come are the first to go; each ends the request
    /// that it has in hand. Many that come at once do so in small groups with a look at the sockets in between:
    /// nobody's connection then waits until all have been begun.
    async fn want(self: &Rc<Self>, count: u64) {
        let before = self.wanted.replace(count);
        for place in count..before {
            self.worker.wake(self.places.borrow()[place as usize]);
        }
        if self.places.borrow().len() < count as usize {
            self.places.borrow_mut().resize(count as usize, GONE);
        }
        self.promised
            .set(self.promised.get() + count.saturating_sub(before));
        for place in before..count {
            if place % GROUP == GROUP - 1 {
                yield_now().await;
            }
            if self.worker.stopping() {
                return;
            }
            self.occupy(place);
        }
    }

    fn occupy(self: &Rc<Self>, place: u64) {
        let slot = &mut self.places.borrow_mut()[place as usize];
        if *slot != GONE {
            // Still busy with what was to be the last request; it just goes on.
            self.promised.set(self.promised.get() - 1);
            return;
        }
        let seat = Seat::take(&self.worker);
        *slot = seat.slot();
        self.alive.set(self.alive.get() + 1);
        self.worker
            .recorder
            .borrow_mut()
            .state(self.workload)
            .clients += 1;
        spawn_local(self.clone().client(place, seat));
    }

    fn wants(&self, place: u64) -> bool {
        place < self.wanted.get()
    }

    /// Takes one request from the budget, if the client at `place` may go on.
    fn take_request(&self, place: u64, now: u64) -> bool {
        let budget = self.budget.get();
        if budget <= self.promised.get() || !self.wants(place) || !self.worker.running(now) {
            return false;
        }
        self.budget.set(budget - 1);
        true
    }

    fn new_number(&self) -> u64 {
        let number = self.next_number.replace(self.next_number.get() + 1);
        number * self.worker.plan.places() as u64 + self.worker.place as u64
    }

    /// One place's life: a client and, where the plan says so, those who take its place after it.
    async fn client(self: Rc<Self>, place: u64, seat: Seat) {
        seat.sit().await;
        self.promised.set(self.promised.get() - 1);
        let closed = self.closed();
        let mut session = Session::new(seat, self.workload, 0);
        let mut backoff = 0;
        loop {
            session.client = self.new_number() as u32;
            let whole = self.life(&mut session, closed, place, &mut backoff).await;
            session.hang_up();
            if !(whole && closed.renew) {
                break;
            }
            let next = self.worker.clock.now() + backoff;
            if backoff > 0
                && session
                    .seat
                    .sleep_until(next, || self.wants(place))
                    .await
                    .is_none()
            {
                break;
            }
        }
        self.left(place);
    }

    /// From a client's first request to its last. True if it has had all of its requests.
    async fn life(
        &self,
        session: &mut Session,
        closed: &ClosedSpec,
        place: u64,
        backoff: &mut u64,
    ) -> bool {
        let mut random = Stream::new(
            self.worker.plan.seed,
            &[self.workload as u64, u64::from(session.client)],
        );
        let most = closed.requests_per_client.unwrap_or(u64::MAX);
        let mut intended = self.worker.clock.now();
        let mut ran = None;
        for turn in 1.. {
            if !self.take_request(place, ran.unwrap_or(intended)) {
                return false;
            }
            let request = self.plan().choose(turn - 1, &mut random);
            self.worker
                .recorder
                .borrow_mut()
                .due(self.workload, ran.unwrap_or(intended));
            let job = Job {
                request,
                intended,
                ran,
                last: turn == most,
            };
            let ended = session.perform(&job, &mut random).await;
            *backoff = next_backoff(*backoff, ended.outcome);
            if *backoff > 0 {
                session.count(|state| state.backoffs += 1);
            }
            if turn == most {
                break;
            }
            let pause = pause(&closed.think, turn, &mut random) + *backoff;
            (intended, ran) = (ended.at + pause, None);
            if pause > 0 {
                let Some(now) = session
                    .seat
                    .sleep_until(intended, || self.wants(place))
                    .await
                else {
                    return false;
                };
                ran = Some(now);
            }
        }
        true
    }

    fn left(&self, place: u64) {
        self.places.borrow_mut()[place as usize] = GONE;
        self.alive.set(self.alive.get() - 1);
        self.worker
            .recorder
            .borrow_mut()
            .state(self.workload)
            .clients -= 1;
        self.check_done();
    }

    fn check_done(&self) {
        if self.settled.get() && self.alive.get() == 0 {
            self.worker
                .workload_done(self.plan(), self.worker.clock.now());
        }
    }
}

fn next_backoff(before: u64, outcome: Outcome) -> u64 {
    match outcome {
        Outcome::ConnectRefused
        | Outcome::ConnectTimeout
        | Outcome::ConnectFailed
        | Outcome::DnsFailed
        | Outcome::TlsFailed => (before * 2).clamp(SHORTEST_BACKOFF_NS, LONGEST_BACKOFF_NS),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_a_second_and_ends_with_a_connection() {
        let mut backoff = 0;
        let waits: Vec<u64> = (0..9)
            .map(|_| {
                backoff = next_backoff(backoff, Outcome::ConnectRefused);
                backoff / 1_000_000
            })
            .collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        assert_eq!(next_backoff(backoff, Outcome::Reset), 0);
    }
}
