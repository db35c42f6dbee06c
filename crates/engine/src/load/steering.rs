//! Changes of loads while they run, on their way from the handle to all workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::spec::Continuation;

/// A change of one load: what it does from `at` on.
#[derive(Debug, Clone, Copy)]
pub struct LoadChange {
    pub workload: usize,
    pub at: u64,
    pub continuation: Continuation,
}

/// All changes so far.
#[derive(Debug, Default)]
pub struct Steering {
    /// How many there are: a worker that has seen as many need not lock the list.
    count: AtomicUsize,
    changes: Mutex<Vec<LoadChange>>,
}

impl Steering {
    pub fn add(&self, change: LoadChange) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.push(change);
        self.count.store(changes.len(), Ordering::Release);
    }

    /// Returns those after the first `seen`.
    pub fn after(&self, seen: usize) -> Vec<LoadChange> {
        if self.count.load(Ordering::Acquire) == seen {
            return Vec::new();
        }
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes[seen..].to_vec()
    }
}
