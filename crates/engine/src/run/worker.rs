//! A worker: one thread, one runtime, many clients. It owns everything they touch, so nothing is locked.
//!
//! Every few milliseconds its own loop wakes the tasks whose deadline has passed, and cuts an interval if nothing else
//! has done so.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::exchange::request::Request;
use crate::load::Shared;
use crate::load::closed::{self, ClientPool};
use crate::load::open::{self, Dispatch};
use crate::load::plan::Plan;
use crate::load::run_end::RunEnd;
use crate::load::steering::{LoadChange, Steering};
use crate::machine::clock::{Clock, monotonic_ns};
use crate::record::recorder::Recorder;
use crate::spec::LoadSpec;

/// Longest and shortest time between two ticks of the worker's loop.
const MAX_TICK_NS: u64 = 20_000_000;
const MIN_TICK_NS: u64 = 1_000_000;
/// Before the start: for how long at the end a worker waits without sleeping, and how often before that it checks for a
/// stop.
const SPIN_NS: u64 = 200_000;
const MAX_SLEEP: Duration = Duration::from_millis(20);
/// A timeout is noticed late by at most this fraction of its length, or by one shortest tick.
const TICKS_PER_TIMEOUT: u64 = 32;

pub struct Worker {
    shared: Rc<Shared>,
    steering: Arc<Steering>,
    /// How many changes have been made of the loads on this worker.
    steered: Cell<usize>,
}

/// The load of one workload on this worker.
enum Load {
    Closed(Rc<ClientPool>),
    Open(Rc<Dispatch>),
}

impl Load {
    fn open(&self) -> Option<&Rc<Dispatch>> {
        match self {
            Self::Closed(_) => None,
            Self::Open(dispatch) => Some(dispatch),
        }
    }
}

impl Worker {
    /// Must be called within the runtime. `index` is the worker's number among those of all generators.
    pub fn new(
        index: usize,
        plan: Arc<Plan>,
        clock: Clock,
        run_end: Arc<RunEnd>,
        steering: Arc<Steering>,
        recorder: Recorder,
    ) -> io::Result<Self> {
        Ok(Self {
            shared: Rc::new(Shared::new(index, plan, clock, run_end, recorder)?),
            steering,
            steered: Cell::new(0),
        })
    }

    /// Runs from before t = 0 to the end; everything recorded has been delivered when it returns.
    pub async fn run(self) {
        let shared = &self.shared;
        shared.run_end.add_waker(shared.tasks.register_main().await);
        let workloads = shared.plan.workloads.iter().enumerate();
        let loads: Vec<Load> = workloads
            .map(|(index, workload)| match &workload.load {
                LoadSpec::Closed(spec) => Load::Closed(closed::start(shared, index, spec)),
                LoadSpec::Open(spec) => Load::Open(open::start(shared, index, spec)),
            })
            .collect();
        self.wait_for_start();
        shared.recorder.borrow_mut().begin();
        let mut ticks = Ticks::new(tick_period_ns(&shared.plan));
        poll_fn(|cx| self.turn(cx, &mut ticks, &loads)).await;
        shared.recorder.borrow_mut().keep_state();
        shared.tasks.stop().await;
        let end = shared.run_end.end_ns();
        for dispatch in loads.iter().filter_map(Load::open) {
            dispatch.record_never_sent(end);
        }
        let last_moment = shared.last_moment();
        shared.recorder.borrow_mut().finish(last_moment);
    }

    /// Blocks until t = 0, or until the run is stopped before. A sleep ends late, so the last stretch is busy-waited.
    fn wait_for_start(&self) {
        let Shared { clock, run_end, .. } = &*self.shared;
        let left = || clock.monotonic(0).saturating_sub(monotonic_ns());
        while left() > 0 && run_end.end_ns() > 0 {
            match left().checked_sub(SPIN_NS) {
                Some(sleep) => thread::sleep(Duration::from_nanos(sleep).min(MAX_SLEEP)),
                None => std::hint::spin_loop(),
            }
        }
    }

    /// One turn of the worker's loop, which precedes whatever else a woken worker does. Ready at the end of the run.
    fn turn(&self, cx: &mut Context<'_>, ticks: &mut Ticks, loads: &[Load]) -> Poll<()> {
        let tasks = &self.shared.tasks;
        let now = tasks.begin_turn();
        let end = self.shared.run_end.end_ns();
        tasks.set_end(end);
        if now >= ticks.due.min(end) {
            self.tick(now.min(end), now.checked_sub(ticks.due));
            self.follow_changes(loads);
            ticks.due = now + ticks.period;
        }
        if now >= end {
            return Poll::Ready(());
        }
        let dispatches = loads.iter().filter_map(Load::open);
        let due = dispatches
            .filter_map(|dispatch| dispatch.turn(now))
            .fold(end, u64::min);
        tasks.end_turn(cx, due, ticks.due);
        Poll::Pending
    }

    /// Does what is due every few milliseconds, and at the end.
    fn tick(&self, now: u64, late: Option<u64>) {
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.roll(now);
        recorder.count_waiting(now);
        late.inspect(|late| recorder.loop_lag(*late));
        drop(recorder);
        self.shared.tasks.wake_overdue(now);
    }

    /// Makes the changes of loads that are new.
    fn follow_changes(&self, loads: &[Load]) {
        for change in self.steering.after(self.steered.get()) {
            self.steered.set(self.steered.get() + 1);
            let LoadChange {
                workload,
                at,
                continuation,
            } = change;
            match &loads[workload] {
                Load::Closed(pool) => pool.steer(at, continuation),
                Load::Open(dispatch) => dispatch.steer(at, continuation),
            }
        }
    }
}

/// When the worker does what it does every few milliseconds.
struct Ticks {
    /// When the next one is due, in ns since the start of the run.
    due: u64,
    /// In ns.
    period: u64,
}

impl Ticks {
    fn new(period: u64) -> Self {
        Self {
            due: period,
            period,
        }
    }
}

/// Returns how often a worker has to look for deadlines that have passed.
fn tick_period_ns(plan: &Plan) -> u64 {
    let timeouts = plan.workloads.iter().map(|workload| {
        let timeouts = &workload.limits.timeouts;
        let deadlines = workload.requests.iter().filter_map(Request::deadline_ns);
        let streams = workload.requests.iter().filter_map(|r| r.stream.as_ref());
        let stalls = streams.filter_map(|stream| stream.spec.stall_ns);
        timeouts
            .connect_ns
            .min(timeouts.total_ns)
            .min(timeouts.first_byte_ns.unwrap_or(u64::MAX))
            .min(deadlines.chain(stalls).min().unwrap_or(u64::MAX))
    });
    let shortest = timeouts.min().unwrap_or(u64::MAX);
    (shortest / TICKS_PER_TIMEOUT).clamp(MIN_TICK_NS, MAX_TICK_NS)
}

#[cfg(test)]
mod tests;
