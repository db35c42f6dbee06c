//! A worker: one thread, one runtime, many clients. It owns all that they touch, so nothing is locked.
//!
//! Its own loop comes round every few milliseconds, wakes those whose deadline has passed, and cuts intervals when
//! nothing else does.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use tokio::task::spawn_local;

use crate::load::finish::Finish;
use crate::load::{Shared, closed, open};
use crate::plan::Plan;
use crate::record::recorder::Recorder;
use crate::schedule::clock::Clock;
use crate::spec::LoadSpec;

/// Longest and shortest time between two rounds of the worker's loop; it also bounds how late a stop is seen.
const LONGEST_ROUND_NS: u64 = 20_000_000;
const SHORTEST_ROUND_NS: u64 = 1_000_000;
/// A timeout is noticed late by at most this part of itself, or by the shortest round.
const ROUNDS_PER_TIMEOUT: u64 = 32;

pub struct Worker(Rc<Shared>);

impl Worker {
    /// Must be called within the runtime. `index` is its number among the workers of all generators.
    pub fn new(
        index: usize,
        plan: Arc<Plan>,
        clock: Clock,
        finish: Arc<Finish>,
        recorder: Recorder,
    ) -> io::Result<Self> {
        Shared::new(index, plan, clock, finish, recorder).map(|shared| Self(Rc::new(shared)))
    }

    /// From t = 0 to the end; everything recorded has been given away when it returns.
    pub async fn run(self) {
        let shared = &self.0;
        shared.recorder.borrow_mut().begin();
        shared.seats.preside().await;
        spawn_local(shared.seats.clone().pace());
        let mut dispatches = Vec::new();
        for (index, workload) in shared.plan.workloads.iter().enumerate() {
            match &workload.load {
                LoadSpec::Closed(spec) => closed::start(shared, index, spec),
                LoadSpec::Open(spec) => dispatches.push(open::start(shared, index, spec)),
            }
        }
        self.rounds().await;
        shared.seats.stop().await;
        let end = shared.finish.end_ns();
        for dispatch in dispatches {
            dispatch.record_never_sent(end);
        }
        shared.recorder.borrow_mut().finish(end);
    }

    async fn rounds(&self) {
        let Shared {
            plan,
            seats,
            recorder,
            finish,
            ..
        } = &*self.0;
        let round = round_ns(plan);
        let mut due = round;
        loop {
            let now = seats.own_pause(|| due.min(finish.end_ns())).await;
            let mut recorder = recorder.borrow_mut();
            let end = finish.end_ns();
            recorder.roll(now.min(end));
            if now >= end {
                return;
            }
            recorder.loop_lag(now - due);
            drop(recorder);
            seats.wake_overdue(now);
            due = now + round;
        }
    }
}

fn round_ns(plan: &Plan) -> u64 {
    let timeouts = plan.workloads.iter().map(|workload| {
        let timeouts = &workload.limits.timeouts;
        timeouts
            .connect_ns
            .min(timeouts.total_ns)
            .min(timeouts.first_byte_ns.unwrap_or(u64::MAX))
    });
    let shortest = timeouts.min().unwrap_or(u64::MAX);
    (shortest / ROUNDS_PER_TIMEOUT).clamp(SHORTEST_ROUND_NS, LONGEST_ROUND_NS)
}
