//! The open loop: requests are due at times of their own, and go out on the next free connection.
//!
//! Requests wait in the order in which they are due.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::task::spawn_local;

use crate::journey::state::JourneyState;
use crate::load::Shared;
use crate::load::client::{Client, Job};
use crate::load::journey::{JourneyStart, run_journey};
use crate::load::parallel::{JourneyClient, ParallelClients};
use crate::load::plan::Workload;
use crate::load::step::journeys_of;
use crate::machine::tasks::Task;
use crate::record::sample::Sample;
use crate::schedule::arrivals::{Schedule, seed_of};
use crate::schedule::course::Course;
use crate::schedule::partition::Partition;
use crate::schedule::queue::{Arrival, Queue};
use crate::schedule::random::Rng;
use crate::spec::{Continuation, OpenSpec};

/// The arrivals of one workload on one worker, and its pool of connections.
pub struct Dispatch {
    shared: Rc<Shared>,
    /// Index of the workload in the plan.
    index: usize,
    /// This worker's part of the workload's arrivals and connections.
    part: Partition,
    queue: Rc<RefCell<Queue>>,
    /// Connections without work; the most recently used one is taken first.
    idle: RefCell<Vec<Rc<ConnectionMailbox>>>,
    connections: Cell<u64>,
    busy: Cell<u64>,
    /// Whether no connection is free, so that requests that are due have to wait.
    starved: Cell<bool>,
    /// When the last such shortage of connections ended.
    starved_until: Cell<u64>,
    done: Cell<bool>,
}

/// A connection's mailbox.
struct ConnectionMailbox {
    slot: u32,
    job: Cell<Option<HandedOut>>,
}

#[derive(Debug, Clone, Copy)]
struct HandedOut {
    arrival: Arrival,
    /// When it was handed out; `None` if it had to wait for a connection, which does not count as pacing lag.
    ran: Option<u64>,
}

/// How many never-sent requests of a workload are recorded one by one at the end of a run, at most.
///
/// If there are more, each recorded one stands for an equal number of them.
const MAX_NEVER_SENT: u64 = 1_000_000;

/// Prepares a workload's arrivals on this worker for dispatching.
pub fn start(shared: &Rc<Shared>, workload: usize, open: &OpenSpec) -> Rc<Dispatch> {
    let part = Partition::new(open.max_connections, shared.worker, shared.plan.workers());
    let seed = seed_of(shared.plan.seed, workload);
    let queue = Queue::new(Schedule::new(open, seed, part));
    let queue = Rc::new(RefCell::new(queue));
    let watched = queue.clone();
    shared.recorder.borrow_mut().watch_queue(workload, watched);
    Rc::new(Dispatch {
        shared: shared.clone(),
        index: workload,
        part,
        queue,
        idle: RefCell::default(),
        connections: Cell::new(0),
        busy: Cell::new(0),
        starved: Cell::new(false),
        starved_until: Cell::new(0),
        done: Cell::new(false),
    })
}

impl Dispatch {
    /// Goes on as it was changed. Due times that were given out already stay, should the change come late.
    pub fn steer(&self, at: u64, continuation: Continuation) {
        let mut queue = self.queue.borrow_mut();
        let mut course = self.shared.courses[self.index].borrow_mut();
        course.go_on(at.max(queue.given_until()), continuation);
        if let Course::Rate(curve) = &*course {
            queue.follow(curve);
        }
    }

    fn workload(&self) -> &Workload {
        &self.shared.plan.workloads[self.index]
    }

    /// Hands out the requests that are due, or due so soon that they are prepared now, as far as connections are free.
    ///
    /// Returns when there will be more to do; `None` if that is not known.
    pub fn turn(self: &Rc<Self>, now: u64) -> Option<u64> {
        loop {
            let Some(due) = self.queue.borrow().next_due() else {
                self.check_done();
                return None;
            };
            if due > now && !self.may_begin(due, now) {
                return Some(due);
            }
            if !self.has_capacity() {
                self.starved.set(true);
                return None;
            }
            self.hand_out(now.max(due));
        }
    }

    /// Whether a request that is due soon may be prepared now: only if that does not delay the handling of a response.
    fn may_begin(&self, due: u64, now: u64) -> bool {
        let Shared {
            tasks, recorder, ..
        } = &*self.shared;
        due - now <= tasks.lead_ns()
            && tasks.running(due)
            && !self.idle.borrow().is_empty()
            && !recorder.borrow().any_in_flight()
    }

    fn has_capacity(&self) -> bool {
        !self.idle.borrow().is_empty() || self.connections.get() < self.part.share()
    }

    /// Gives the next due request to an idle connection, or to a new one.
    fn hand_out(self: &Rc<Self>, now: u64) {
        let Some(arrival) = self.take_due(now) else {
            return;
        };
        self.busy.set(self.busy.get() + 1);
        if let Some(mailbox) = self.idle.borrow_mut().pop() {
            mailbox.job.set(Some(arrival));
            self.shared.tasks.wake(mailbox.slot);
        } else {
            let number = self.connections.replace(self.connections.get() + 1);
            spawn_local(
                self.clone()
                    .connection(Task::take(&self.shared.tasks), number, arrival),
            );
        }
    }

    fn take_due(&self, now: u64) -> Option<HandedOut> {
        if !self.shared.tasks.running(now) {
            return None;
        }
        let arrival = self.queue.borrow_mut().take(now)?;
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.handed_out(self.index, &arrival);
        let unhindered = self.has_capacity() && arrival.due >= self.starved_until.get();
        Some(HandedOut {
            arrival,
            ran: unhindered.then_some(now),
        })
    }

    /// One connection: its first request, and then each next one that is waiting or is handed out to it.
    async fn connection(self: Rc<Self>, task: Task, number: u64, first: HandedOut) {
        task.register().await;
        let mailbox = Rc::new(ConnectionMailbox {
            slot: task.slot(),
            job: Cell::new(None),
        });
        let client = number * self.shared.plan.workers() as u64 + self.shared.worker as u64;
        let mut client = Client::new(self.shared.clone(), task, self.index, client as u32);
        self.shared.recorder.borrow_mut().client_came(self.index);
        let mut parallel = ParallelClients::new(&self.shared, self.workload());
        let mut next = first;
        loop {
            let ended = match self.workload().journeys {
                None => self.request(&mut client, next).await,
                Some(_) => Box::pin(self.journey(&mut client, &mut parallel, next)).await,
            };
            next = match self.take_due(ended) {
                Some(waiting) => waiting,
                None => match self.next_job(&mut client, &mailbox, ended).await {
                    Some(next) => next,
                    None => break,
                },
            };
        }
        self.shared.recorder.borrow_mut().client_left(self.index);
    }

    /// Makes one request; returns when the connection is free again.
    async fn request(&self, client: &mut Client, next: HandedOut) -> u64 {
        let HandedOut { arrival, ran } = next;
        let mut random = self.stream(arrival.number);
        let request = self.choose(arrival.number, &mut random);
        let job = Job {
            request,
            intended: arrival.due,
            ran,
            last: false,
        };
        client.perform(job, &mut random, None).await.free
    }

    /// Goes on one journey, as a new client that knows nothing yet; returns when it ended.
    async fn journey(
        &self,
        client: &mut Client,
        parallel: &mut ParallelClients,
        next: HandedOut,
    ) -> u64 {
        let HandedOut { arrival, ran } = next;
        let journeys = journeys_of(self.workload());
        let mut random = self.stream(arrival.number);
        let journey = journeys.mix.player(0).next(&mut random);
        let number = self.sequence_number(arrival.number);
        let mut state = JourneyState::new(journeys, number + 1);
        let rows = state.arrive(journeys, &mut random)
            && state.begin(&journeys.programs[journey], &mut random);
        assert!(
            rows,
            "an open load has no more arrivals than a feed has rows"
        );
        let start = JourneyStart {
            intended: arrival.due,
            ran,
            counted: true,
        };
        let mut journey_client = JourneyClient::new(state, std::mem::take(parallel));
        let end = run_journey(
            client,
            &mut journey_client,
            journey,
            start,
            &mut random,
            || true,
        );
        let end = end.await;
        *parallel = journey_client.parallel;
        let ended = end.map_or_else(|| self.shared.clock.now(), |end| end.ended);
        // The client leaves with its WebSocket; at the end of the run all stay open until they have been counted.
        if self.shared.tasks.running(ended) {
            client.close_web_socket();
        }
        ended
    }

    /// Waits, from `now` on, for the next request that is handed out to this connection.
    async fn next_job(
        &self,
        client: &mut Client,
        mailbox: &Rc<ConnectionMailbox>,
        now: u64,
    ) -> Option<HandedOut> {
        self.busy.set(self.busy.get() - 1);
        self.idle.borrow_mut().push(mailbox.clone());
        if self.starved.take() {
            self.starved_until.set(now);
            self.shared.tasks.wake_main();
        }
        self.check_done();
        client.wait_for(|| mailbox.job.take()).await
    }

    /// Returns the number in the whole sequence of this worker's arrival `number`.
    fn sequence_number(&self, number: u64) -> u64 {
        let whole = self.part.nth(number);
        whole.expect("an arrival belongs to a worker with connections")
    }

    fn stream(&self, number: u64) -> Rng {
        let labels = [self.index as u64, self.sequence_number(number), 1];
        Rng::new(self.shared.plan.seed, &labels)
    }

    fn choose(&self, number: u64, random: &mut Rng) -> usize {
        let workload = self.workload();
        if let Some(journeys) = &workload.journeys {
            let journey = journeys.mix.player(0).next(random);
            return journeys.programs[journey].first_request();
        }
        let mut player = workload.mix.player(self.sequence_number(number));
        player.next(random)
    }

    fn check_done(&self) {
        if self.busy.get() == 0
            && self.queue.borrow().next_due().is_none()
            && !self.done.replace(true)
        {
            self.shared
                .workload_done(self.workload(), self.shared.clock.now());
        }
    }

    /// Records the requests that were due before `end` and have not been handed out.
    pub fn record_never_sent(&self, end: u64) {
        self.shared.recorder.borrow_mut().count_waiting(end);
        let last_moment = self.shared.last_moment();
        let mut left = self.queue.borrow().len();
        let each = left.div_ceil(MAX_NEVER_SENT / self.shared.plan.threads as u64);
        while left > 0 {
            let count = each.min(left);
            left -= count;
            let Some(arrival) = self.queue.borrow_mut().drop_waiting(count) else {
                return;
            };
            let request = self.choose(arrival.number, &mut self.stream(arrival.number));
            let phase = self.shared.phase_at(self.index, arrival.due);
            let mut first = Sample::due(self.index, request, phase, 0, arrival.due, None);
            first.end = last_moment;
            let mut recorder = self.shared.recorder.borrow_mut();
            recorder.never_sent(&first, count);
        }
    }
}
