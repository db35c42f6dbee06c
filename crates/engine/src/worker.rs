//! A worker: one thread, one runtime, many clients. It owns all that they touch, so nothing is locked.
//!
//! Every client is a task with a [`Seat`]. A seat has a deadline and the task's waker; the worker's own loop comes
//! round every few milliseconds, wakes those whose deadline has passed, and cuts intervals when nothing else does.
//! At the end it wakes everybody, and each client records how far its request had come.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::{spawn_local, yield_now};

use crate::load::{closed, open};
use crate::plan::{Plan, Workload};
use crate::record::ports::PortTable;
use crate::record::recorder::Recorder;
use crate::schedule::clock::Clock;
use crate::schedule::timer::{TimerFd, TimerQueue};
use crate::spec::{LoadSpec, Role};
use crate::wire::dial::Turns;

const SCRATCH_BYTES: usize = 64 * 1024;
/// Longest and shortest time between two rounds of the worker's loop; it also bounds how late a stop is seen.
const LONGEST_ROUND_NS: u64 = 20_000_000;
const SHORTEST_ROUND_NS: u64 = 1_000_000;
/// A timeout is noticed late by at most this part of itself, or by the shortest round.
const ROUNDS_PER_TIMEOUT: u64 = 32;

/// When the run ends: known from the plan, or set while it runs. Shared by all workers and the handle.
#[derive(Debug)]
pub struct Finish {
    end_ns: AtomicU64,
    /// Measured workloads that are not done yet, counted once per worker.
    remaining: AtomicUsize,
}

impl Finish {
    pub fn new(plan: &Plan) -> Self {
        let measured = plan
            .workloads
            .iter()
            .filter(|workload| workload.role == Role::Measured)
            .count();
        Self {
            end_ns: AtomicU64::new(plan.end_ns),
            remaining: AtomicUsize::new(measured * plan.threads),
        }
    }

    pub fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// Ends the run at `now`, if it does not end before.
    pub fn end_at(&self, now: u64) {
        self.end_ns.fetch_min(now, Ordering::Relaxed);
    }

    /// A measured workload has had all of its requests on one worker.
    fn one_done(&self, now: u64) {
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_at(now);
        }
    }
}

pub struct Worker {
    /// Among the workers of all generators.
    pub place: usize,
    pub plan: Arc<Plan>,
    pub clock: Clock,
    pub recorder: RefCell<Recorder>,
    /// All clients read into this; what is to be kept is copied by whoever keeps it.
    pub scratch: RefCell<Box<[u8]>>,
    /// Buffers for requests with parameters, used again and again.
    pub spare: RefCell<Vec<Vec<u8>>>,
    pub ports: Rc<PortTable>,
    /// By workload.
    pub turns: Vec<Turns>,
    finish: Arc<Finish>,
    timers: RefCell<TimerQueue>,
    alarm: AsyncFd<TimerFd>,
    seats: RefCell<Seats>,
    stopping: Cell<bool>,
    /// The waker of the worker's own loop.
    own: RefCell<Option<Waker>>,
}

#[derive(Default)]
struct Seats {
    /// `NEVER`: none; `PASSED`: it has passed, and the task was woken.
    deadlines: Vec<u64>,
    wakers: Vec<Option<Waker>>,
    free: Vec<u32>,
}

const NEVER: u64 = u64::MAX;
const PASSED: u64 = 0;
/// The worker's own entry in the timer queue.
const OWN: u32 = u32::MAX;

impl Worker {
    /// Must be called within the runtime.
    pub fn new(
        place: usize,
        plan: Arc<Plan>,
        clock: Clock,
        finish: Arc<Finish>,
        recorder: Recorder,
    ) -> io::Result<Rc<Self>> {
        // SAFETY: a `TimerFd` owns its descriptor, always gives the same one, and lives as long as the `AsyncFd`.
        let alarm = unsafe { AsyncFd::register_with_interest(TimerFd::new()?, Interest::READABLE) };
        Ok(Rc::new(Self {
            place,
            ports: recorder.ports.clone(),
            turns: plan.workloads.iter().map(|_| Turns::new(place)).collect(),
            plan,
            clock,
            recorder: RefCell::new(recorder),
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            spare: RefCell::default(),
            finish,
            timers: RefCell::default(),
            alarm: alarm?,
            seats: RefCell::default(),
            stopping: Cell::new(false),
            own: RefCell::default(),
        }))
    }

    /// From t = 0 to the end; everything recorded has been given away when it returns.
    pub async fn run(self: Rc<Self>) {
        self.recorder.borrow_mut().begin();
        let own = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        *self.own.borrow_mut() = Some(own);
        spawn_local(self.clone().pace());
        let mut dispatches = Vec::new();
        for (index, workload) in self.plan.workloads.iter().enumerate() {
            match &workload.load {
                LoadSpec::Closed(spec) => closed::start(&self, index, spec),
                LoadSpec::Open(spec) => dispatches.push(open::start(&self, index, spec)),
            }
        }
        self.rounds().await;
        self.stop().await;
        let end = self.finish.end_ns();
        for dispatch in dispatches {
            dispatch.record_never_sent(end);
        }
        self.recorder.borrow_mut().finish(end);
    }

    /// A load that is not measured never keeps the run alive.
    pub fn workload_done(&self, workload: &Workload, now: u64) {
        if workload.role == Role::Measured {
            self.finish.one_done(now);
            self.own.borrow().as_ref().inspect(|own| own.wake_by_ref());
        }
    }

    /// The run goes on at `now`, so another request may be begun.
    pub fn running(&self, now: u64) -> bool {
        !self.stopping.get() && now < self.finish.end_ns()
    }

    /// Nothing more is to be sent.
    pub fn stopping(&self) -> bool {
        self.stopping.get()
    }

    /// When what is still in hand at the end was given up: the end of the run, or a moment later where events
    /// came in before this worker saw it.
    pub fn last_moment(&self) -> u64 {
        self.finish.end_ns().max(self.recorder.borrow().latest())
    }

    async fn rounds(&self) {
        let round = round_ns(&self.plan);
        let mut due = round;
        loop {
            self.set_timer(due.min(self.finish.end_ns()), OWN);
            let now = poll_fn(|_| {
                let now = self.clock.now();
                let end = self.finish.end_ns();
                if now >= due || now >= end {
                    Poll::Ready(now)
                } else {
                    Poll::Pending
                }
            })
            .await;
            let mut recorder = self.recorder.borrow_mut();
            let end = self.finish.end_ns();
            recorder.roll(now.min(end));
            if now >= end {
                return;
            }
            recorder.loop_lag(now - due);
            drop(recorder);
            self.wake_overdue(now);
            due = now + round;
        }
    }

    fn wake_overdue(&self, now: u64) {
        let Seats {
            deadlines, wakers, ..
        } = &mut *self.seats.borrow_mut();
        for (deadline, waker) in deadlines.iter_mut().zip(wakers) {
            if *deadline <= now && *deadline != PASSED {
                *deadline = PASSED;
                waker.as_ref().inspect(|waker| waker.wake_by_ref());
            }
        }
    }

    /// Wakes everybody, and waits until all have recorded what they had in hand and left.
    async fn stop(&self) {
        self.stopping.set(true);
        for waker in self.seats.borrow().wakers.iter().flatten() {
            waker.wake_by_ref();
        }
        while self.seats.borrow().taken() > 0 {
            yield_now().await;
        }
    }

    fn set_timer(&self, due: u64, slot: u32) {
        if self.timers.borrow_mut().push(due, slot) {
            self.alarm.get_ref().set(self.clock.monotonic(due));
        }
    }

    /// Wakes whoever is due, for ever.
    async fn pace(self: Rc<Self>) {
        loop {
            let Ok(mut ready) = self.alarm.readable().await else {
                return;
            };
            ready.clear_ready();
            let now = self.clock.now();
            let mut timers = self.timers.borrow_mut();
            while let Some(slot) = timers.pop_due(now) {
                self.wake(slot);
            }
            if let Some(next) = timers.next() {
                self.alarm.get_ref().set(self.clock.monotonic(next));
            }
        }
    }

    /// Waking somebody who has nothing to do does no harm: every wait looks at its own condition.
    pub fn wake(&self, slot: u32) {
        if slot == OWN {
            self.own.borrow().as_ref().inspect(|own| own.wake_by_ref());
        } else if let Some(Some(waker)) = self.seats.borrow().wakers.get(slot as usize) {
            waker.wake_by_ref();
        }
    }
}

fn round_ns(plan: &Plan) -> u64 {
    let timeouts = plan.workloads.iter().map(|workload| {
        let timeouts = &workload.timeouts;
        timeouts
            .connect_ns
            .min(timeouts.total_ns)
            .min(timeouts.first_byte_ns.unwrap_or(u64::MAX))
    });
    let shortest = timeouts.min().unwrap_or(u64::MAX);
    (shortest / ROUNDS_PER_TIMEOUT).clamp(SHORTEST_ROUND_NS, LONGEST_ROUND_NS)
}

impl Seats {
    fn taken(&self) -> usize {
        self.deadlines.len() - self.free.len()
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.deadlines.push(NEVER);
            self.wakers.push(None);
            (self.deadlines.len() - 1) as u32
        })
    }

    fn leave(&mut self, slot: u32) {
        self.deadlines[slot as usize] = NEVER;
        self.wakers[slot as usize] = None;
        self.free.push(slot);
    }
}

/// Why a wait ended before what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    Deadline,
    Stop,
}

/// A task's place at its worker, which does not end before all places are free again.
pub struct Seat {
    pub worker: Rc<Worker>,
    slot: u32,
}

impl Seat {
    /// For a task that is about to be spawned.
    pub fn take(worker: &Rc<Worker>) -> Self {
        let slot = worker.seats.borrow_mut().take();
        Self {
            worker: worker.clone(),
            slot,
        }
    }

    /// The task that awaits this is the one to be woken.
    pub async fn sit(&self) {
        poll_fn(|cx| {
            self.worker.seats.borrow_mut().wakers[self.slot as usize] = Some(cx.waker().clone());
            Poll::Ready(())
        })
        .await;
    }

    pub fn slot(&self) -> u32 {
        self.slot
    }

    pub fn set_deadline(&self, at: u64) {
        self.worker.seats.borrow_mut().deadlines[self.slot as usize] = at;
    }

    pub fn clear_deadline(&self) {
        self.set_deadline(NEVER);
    }

    /// Ready when the run has stopped or the deadline has passed; the task is woken for both.
    pub fn poll_interrupt(&self) -> Poll<Interrupt> {
        if self.worker.stopping.get() {
            Poll::Ready(Interrupt::Stop)
        } else if self.worker.seats.borrow().deadlines[self.slot as usize] == PASSED {
            Poll::Ready(Interrupt::Deadline)
        } else {
            Poll::Pending
        }
    }

    pub fn or_interrupt<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> impl Future<Output = Result<F::Output, Interrupt>> {
        poll_fn(move |cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_interrupt().map(Err),
        })
    }

    /// Waits until `due`; gives the time at which the task ran again. `None` if the run stopped or the task is not
    /// `wanted` any more (whoever changes that wakes it).
    pub async fn sleep_until(&self, due: u64, wanted: impl Fn() -> bool) -> Option<u64> {
        let mut set = false;
        poll_fn(|_| {
            let now = self.worker.clock.now();
            if self.worker.stopping.get() || !wanted() {
                return Poll::Ready(None);
            }
            if now >= due {
                return Poll::Ready(Some(now));
            }
            if !set {
                set = true;
                self.worker.set_timer(due, self.slot);
            }
            Poll::Pending
        })
        .await
    }

    /// Waits until `ready` gives something; `None` if the run stopped. Whoever makes it ready wakes the task.
    pub async fn wait_for<T>(&self, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        poll_fn(|_| match ready() {
            Some(value) => Poll::Ready(Some(value)),
            None if self.worker.stopping.get() => Poll::Ready(None),
            None => Poll::Pending,
        })
        .await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.worker.seats.borrow_mut().leave(self.slot);
    }
}
