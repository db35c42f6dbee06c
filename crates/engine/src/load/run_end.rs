//! When the run ends.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::load::plan::Plan;
use crate::spec::Role;

/// The end of the run: known from the plan, or set during the run. Shared by all workers and the handle.
#[derive(Debug)]
pub struct RunEnd {
    end_ns: AtomicU64,
    /// Measured workloads that are not done yet, counted once per worker.
    remaining: AtomicUsize,
    /// The wakers of the workers' own loops.
    wakers: Mutex<Vec<Waker>>,
}

impl RunEnd {
    pub fn new(plan: &Plan) -> Self {
        let measured = plan
            .workloads
            .iter()
            .filter(|workload| workload.role == Role::Measured)
            .count();
        Self {
            end_ns: AtomicU64::new(plan.end_ns),
            remaining: AtomicUsize::new(measured * plan.threads),
            wakers: Mutex::default(),
        }
    }

    pub fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// Ends the run at `when` unless it ends before, and wakes all workers.
    pub fn end_at(&self, when: u64) {
        self.end_ns.fetch_min(when, Ordering::Relaxed);
        self.wakers().iter().for_each(Waker::wake_by_ref);
    }

    /// Has a worker woken when the end is set.
    pub fn add_waker(&self, worker: Waker) {
        self.wakers().push(worker);
    }

    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that one measured workload is done on one worker; ends the run at `now` if it was the last.
    pub fn workload_done(&self, now: u64) {
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_at(now);
        }
    }
}
