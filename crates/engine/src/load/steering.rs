//! Changes of loads while they run, on their way from the handle to all workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::spec::Continuation;

/// What one load does from `at` on.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub workload: usize,
    pub at: u64,
    pub continuation: Continuation,
}

/// All changes so far.
#[derive(Debug, Default)]
pub struct Steering {
    /// How many there are: a worker that has seen as many need not lock the list.
    count: AtomicUsize,
    turns: Mutex<Vec<Turn>>,
}

impl Steering {
    pub fn add(&self, turn: Turn) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.push(turn);
        self.count.store(turns.len(), Ordering::Release);
    }

    /// Returns those after the first `seen`.
    pub fn after(&self, seen: usize) -> Vec<Turn> {
        if self.count.load(Ordering::Acquire) == seen {
            return Vec::new();
        }
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns[seen..].to_vec()
    }
}
