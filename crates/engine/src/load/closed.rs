//! The closed loop: a client sends, waits for the response, thinks, and sends again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::task::{spawn_local, yield_now};

use crate::journey::state::JourneyState;
use crate::load::Shared;
use crate::load::client::{Client, Job};
use crate::load::journey::{JourneyStart, run_journey};
use crate::load::parallel::{JourneyClient, ParallelClients};
use crate::load::plan::Workload;
use crate::load::step::journeys_of;
use crate::machine::prefetch::Prefetched;
use crate::machine::tasks::Task;
use crate::outcome::Outcome;
use crate::schedule::course::Course;
use crate::schedule::partition::{deal, share};
use crate::schedule::random::Rng;
use crate::schedule::think::pause;
use crate::spec::{ClosedSpec, Continuation, LoadSpec};

/// The wait of a client that could not connect, or whose script failed before its first request.
///
/// It begins with the shortest and doubles with each further failure in a row, up to the longest. It is added to the
/// think time, and counted (`backoffs`).
const MIN_BACKOFF_NS: u64 = 10_000_000;
const MAX_BACKOFF_NS: u64 = 1_000_000_000;

/// How many clients are started at a time.
const START_GROUP: u64 = 32;

/// The clients of one workload on one worker.
pub struct ClientPool {
    shared: Rc<Shared>,
    /// Index of the workload in the plan.
    index: usize,
    /// The number of clients that are wanted: those at lower positions.
    wanted: Cell<u64>,
    /// The slot of the client at each position; `None` if there is none.
    clients: RefCell<Vec<Option<u32>>>,
    alive: Cell<u64>,
    /// How many requests, or journeys, may still be begun.
    budget: Cell<u64>,
    /// How many of these are reserved for the first requests of clients that are being started.
    reserved: Cell<u64>,
    /// The number of the next new client on this worker.
    next_number: Cell<u64>,
    /// Whether the number of clients will not change any more, unless somebody changes it.
    settled: Cell<bool>,
    /// How often somebody has changed it.
    steered: Cell<u64>,
    /// The slot of the task that makes their number follow.
    follower: u32,
}

/// Starts the clients of a workload on this worker.
pub fn start(shared: &Rc<Shared>, workload: usize, closed: &ClosedSpec) -> Rc<ClientPool> {
    let workers = shared.plan.workers();
    let parts: Vec<u64> = (0..workers)
        .map(|worker| share(closed.clients, worker, workers))
        .collect();
    let budget = closed
        .requests
        .map_or(u64::MAX, |requests| deal(requests, &parts)[shared.worker]);
    let follower = Task::take(&shared.tasks);
    let pool = Rc::new(ClientPool {
        shared: shared.clone(),
        index: workload,
        wanted: Cell::new(0),
        clients: RefCell::default(),
        alive: Cell::new(0),
        budget: Cell::new(budget),
        reserved: Cell::new(0),
        next_number: Cell::new(0),
        settled: Cell::new(false),
        steered: Cell::new(0),
        follower: follower.slot(),
    });
    spawn_local(pool.clone().follow_course(follower));
    pool
}

impl ClientPool {
    fn workload(&self) -> &Workload {
        &self.shared.plan.workloads[self.index]
    }

    fn closed(&self) -> &ClosedSpec {
        match &self.workload().load {
            LoadSpec::Closed(closed) => closed,
            LoadSpec::Open(_) => unreachable!("a pool of clients belongs to a closed load"),
        }
    }

    /// Goes on as it was changed.
    pub fn steer(&self, at: u64, continuation: Continuation) {
        let mut course = self.shared.courses[self.index].borrow_mut();
        course.go_on(at, continuation);
        if let (Some(scripts), Continuation::Clients(clients)) =
            (&self.shared.scripts, continuation)
        {
            let plan = &self.shared.plan;
            let own = share(clients, self.shared.worker, plan.workers());
            scripts.make_room(plan.clients_per_worker() + own);
        }
        self.steered.set(self.steered.get() + 1);
        self.shared.tasks.wake(self.follower);
    }

    /// The number of clients of this worker at `now`, and when it may change.
    fn course_at(&self, now: u64) -> (u64, Option<u64>) {
        let course = self.shared.courses[self.index].borrow();
        let Course::Clients(phases) = &*course else {
            unreachable!("the course of a closed load is one of clients")
        };
        let clients = phases.clients_at(now);
        let own = share(clients, self.shared.worker, self.shared.plan.workers());
        (own, phases.next_change(now))
    }

    /// Makes the number of clients follow the plan, and what was changed since.
    async fn follow_course(self: Rc<Self>, task: Task) {
        task.register().await;
        let phased = !self.closed().phases.is_empty();
        let mut change = 0;
        loop {
            let steered = self.steered.get();
            let (own, next) = self.course_at(change);
            let planned = (phased || change > 0).then_some(change);
            self.set_wanted(own, planned).await;
            if next.is_none() && !self.settled.replace(true) {
                self.check_done();
            }
            let as_before = || self.steered.get() == steered;
            let due = match next {
                Some(next) => task
                    .sleep_until(next, as_before, |_| ())
                    .await
                    .map(|_| next),
                None => {
                    task.wait_for(|| (!as_before()).then_some(change), |_| ())
                        .await
                }
            };
            change = due.unwrap_or(change);
            // At the end of the run all clients leave at once.
            if !self.shared.tasks.running(self.shared.clock.now()) {
                return;
            }
        }
    }

    /// Sets the number of clients to `count`. `planned` is when those that are started should have been started.
    ///
    /// The last to come are the first to go; each finishes the request that it has in hand. Clients are started in
    /// small groups, with a look at the sockets in between, so that no connection has to wait until all have started.
    async fn set_wanted(self: &Rc<Self>, count: u64, planned: Option<u64>) {
        let before = self.wanted.replace(count);
        for position in count..before {
            if let Some(slot) = self.clients.borrow()[position as usize] {
                self.shared.tasks.wake(slot);
            }
        }
        if self.clients.borrow().len() < count as usize {
            self.clients.borrow_mut().resize(count as usize, None);
        }
        self.reserved
            .set(self.reserved.get() + count.saturating_sub(before));
        for position in before..count {
            if position % START_GROUP == START_GROUP - 1 {
                yield_now().await;
            }
            if self.shared.tasks.stopping() {
                return;
            }
            self.start_client(position, planned);
        }
    }

    fn start_client(self: &Rc<Self>, position: u64, planned: Option<u64>) {
        let slot = &mut self.clients.borrow_mut()[position as usize];
        if slot.is_some() {
            // Its client is still busy with what was to be its last request, and simply continues.
            self.reserved.set(self.reserved.get() - 1);
            return;
        }
        let task = Task::take(&self.shared.tasks);
        *slot = Some(task.slot());
        self.alive.set(self.alive.get() + 1);
        self.shared.recorder.borrow_mut().client_came(self.index);
        if self.workload().journeys.is_none() {
            spawn_local(self.clone().client::<RequestLoop>(position, task, planned));
        } else {
            spawn_local(self.clone().client::<JourneyLoop>(position, task, planned));
        }
    }

    fn wants(&self, position: u64) -> bool {
        position < self.wanted.get()
    }

    /// Takes one request from the budget if the client at `position` may continue; returns whether it may.
    fn take_request(&self, position: u64, now: u64) -> bool {
        let budget = self.budget.get();
        if budget <= self.reserved.get() || !self.wants(position) || !self.shared.tasks.running(now)
        {
            return false;
        }
        self.budget.set(budget - 1);
        true
    }

    fn new_number(&self) -> u64 {
        let number = self.next_number.replace(self.next_number.get() + 1);
        number * self.shared.plan.workers() as u64 + self.shared.worker as u64
    }

    /// What happens at one position: a client makes its requests and, if the plan says so, others follow it.
    ///
    /// Not an async fn, which would hold its arguments twice in every client.
    fn client<L: ClientLoop>(
        self: Rc<Self>,
        position: u64,
        task: Task,
        mut planned: Option<u64>,
    ) -> impl Future<Output = ()> {
        let mut client = Client::new(self.shared.clone(), task, self.index, 0);
        Prefetched::new(async move {
            client.task.register().await;
            self.reserved.set(self.reserved.get() - 1);
            let mut backoff = 0;
            loop {
                client.reset(self.new_number() as u32);
                let finished =
                    L::run(&self, &mut client, position, planned.take(), &mut backoff).await;
                client.close();
                if !(finished && self.closed().renew) {
                    break;
                }
                let next = self.shared.clock.now() + backoff;
                if backoff > 0
                    && client
                        .sleep_until(next, || self.wants(position))
                        .await
                        .is_none()
                {
                    break;
                }
            }
            self.client_left(position);
        })
    }

    fn client_left(&self, position: u64) {
        self.clients.borrow_mut()[position as usize] = None;
        self.alive.set(self.alive.get() - 1);
        self.shared.recorder.borrow_mut().client_left(self.index);
        self.check_done();
    }

    fn check_done(&self) {
        if self.settled.get() && self.alive.get() == 0 {
            self.shared
                .workload_done(self.workload(), self.shared.clock.now());
        }
    }
}

/// What a client does from its first request to its last.
///
/// A type rather than a branch, so that a task needs memory for one kind of loop only.
trait ClientLoop {
    /// Runs until the client has made all its requests, or has to go. Returns true in the first case.
    ///
    /// `planned` is the intended start of the first request, if the plan sets it.
    fn run(
        pool: &ClientPool,
        client: &mut Client,
        position: u64,
        planned: Option<u64>,
        backoff: &mut u64,
    ) -> impl Future<Output = bool>;
}

/// Sends one request after another.
struct RequestLoop;

/// Goes on one journey after another; ends early if a feed has no row left for it.
struct JourneyLoop;

impl ClientLoop for RequestLoop {
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn holds its arguments twice, and every client has room for it"
    )]
    fn run(
        pool: &ClientPool,
        client: &mut Client,
        position: u64,
        planned: Option<u64>,
        backoff: &mut u64,
    ) -> impl Future<Output = bool> {
        async move {
            let closed = pool.closed();
            let mut random = Rng::new(
                pool.shared.plan.seed,
                &[pool.index as u64, u64::from(client.number())],
            );
            let mut player = pool.workload().mix.player(0);
            let most = closed.requests_per_client.unwrap_or(u64::MAX);
            let now = pool.shared.clock.now();
            let (mut intended, mut ran) = (planned.unwrap_or(now), planned.and(Some(now)));
            for turn in 1.. {
                let now = ran.unwrap_or(intended);
                if !pool.shared.tasks.running(now) {
                    client.task.until_stop().await;
                    return false;
                }
                if !pool.take_request(position, now) {
                    return false;
                }
                let request = player.next(&mut random);
                pool.shared.recorder.borrow_mut().due(pool.index, now);
                let job = Job {
                    request,
                    intended,
                    ran,
                    // A redirect that is followed leads to one more. Clients that are renewed leave the closing,
                    // and with it the port, to the server all the same.
                    last: turn == most && (closed.renew || !pool.workload().limits.follow),
                };
                let ended = client.perform(job, &mut random, None).await;
                *backoff = next_backoff(*backoff, ended.outcome);
                if *backoff > 0 {
                    pool.shared.recorder.borrow_mut().backed_off(pool.index);
                }
                if turn == most {
                    break;
                }
                let pause = pause(&closed.think, turn, &mut random) + *backoff;
                (intended, ran) = (ended.free + pause, None);
                if pause > 0 {
                    let Some(now) = client.sleep_until(intended, || pool.wants(position)).await
                    else {
                        return false;
                    };
                    ran = Some(now);
                }
            }
            true
        }
    }
}

impl ClientLoop for JourneyLoop {
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn holds its arguments twice, and every client has room for it"
    )]
    fn run(
        pool: &ClientPool,
        client: &mut Client,
        position: u64,
        planned: Option<u64>,
        backoff: &mut u64,
    ) -> impl Future<Output = bool> {
        async move {
            let now = pool.shared.clock.now();
            let (mut intended, mut ran) = (planned.unwrap_or(now), planned.and(Some(now)));
            let number = u64::from(client.number());
            let mut random = Rng::new(pool.shared.plan.seed, &[pool.index as u64, number]);
            // Boxed because storing it inline would push every task into the next allocation size class.
            let mut journey_client = Box::new(JourneyClient::new(
                JourneyState::new(journeys_of(pool.workload()), number + 1),
                ParallelClients::new(&pool.shared, pool.workload()),
            ));
            let state = journey_client.state.get_mut();
            if !state.arrive(journeys_of(pool.workload()), &mut random) {
                return false;
            }
            loop {
                let now = ran.unwrap_or(intended);
                if !pool.shared.tasks.running(now) {
                    client.task.until_stop().await;
                    return false;
                }
                if !pool.take_request(position, now) {
                    return false;
                }
                let journey = {
                    let journeys = journeys_of(pool.workload());
                    let journey = journeys.mix.player(0).next(&mut random);
                    let state = journey_client.state.get_mut();
                    if !state.begin(&journeys.programs[journey], &mut random) {
                        return false;
                    }
                    journey
                };
                // Awaited in place because a variable for the future would take up its size twice.
                let Some(end) = run_journey(
                    client,
                    &mut journey_client,
                    journey,
                    JourneyStart {
                        intended,
                        ran,
                        counted: false,
                    },
                    &mut random,
                    || pool.wants(position),
                )
                .await
                else {
                    return false;
                };
                *backoff = next_backoff(*backoff, end.outcome);
                if *backoff > 0 {
                    pool.shared.recorder.borrow_mut().backed_off(pool.index);
                }
                let turn = journey_client.state.get_mut().journeys();
                if pool.closed().requests_per_client == Some(turn) {
                    break;
                }
                let pause = pause(&pool.closed().think, turn, &mut random) + *backoff;
                (intended, ran) = (end.free + pause, None);
                if intended > end.ended {
                    let Some(now) = client.sleep_until(intended, || pool.wants(position)).await
                    else {
                        return false;
                    };
                    ran = Some(now);
                }
            }
            true
        }
    }
}

fn next_backoff(before: u64, outcome: Outcome) -> u64 {
    match outcome {
        Outcome::ConnectRefused
        | Outcome::ConnectTimeout
        | Outcome::ConnectFailed
        | Outcome::DnsFailed
        | Outcome::TlsFailed
        | Outcome::UpgradeRefused
        | Outcome::ScriptFailed => (before * 2).clamp(MIN_BACKOFF_NS, MAX_BACKOFF_NS),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size of what `make` returns.
    fn size<A, B, C, D, F>(_make: impl FnOnce(A, B, C, D) -> F) -> usize {
        size_of::<F>()
    }

    /// With what the runtime adds, a task takes 640 bytes; the next allocation size class is 128 bytes larger.
    #[test]
    fn a_client_s_task_is_small() {
        let plain = size(ClientPool::client::<RequestLoop>);
        assert!(plain <= 528, "{plain}");
        let on_journeys = size(ClientPool::client::<JourneyLoop>);
        assert!(on_journeys <= 528, "{on_journeys}");
    }

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
