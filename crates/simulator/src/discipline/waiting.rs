//! The order in which waiting jobs are taken by a free worker.

use rand::Rng;
use std::collections::VecDeque;

/// The jobs that no worker has begun.
pub trait Waiting<T> {
    fn push(&mut self, item: T);
    /// The job to begin next.
    fn pop(&mut self) -> Option<T>;
}

/// First come, first served.
pub struct Fifo<T>(VecDeque<T>);

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Waiting<T> for Fifo<T> {
    fn push(&mut self, item: T) {
        self.0.push_back(item);
    }

    fn pop(&mut self) -> Option<T> {
        self.0.pop_front()
    }
}

/// Last come, first served; a job once begun is not interrupted.
pub struct Lifo<T>(Vec<T>);

impl<T> Default for Lifo<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Waiting<T> for Lifo<T> {
    fn push(&mut self, item: T) {
        self.0.push(item);
    }

    fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }
}

/// Service in random order: each waiting job is equally likely to be next.
pub struct RandomOrder<T, R> {
    items: Vec<T>,
    random: R,
}

impl<T, R> RandomOrder<T, R> {
    pub fn new(random: R) -> Self {
        Self {
            items: Vec::new(),
            random,
        }
    }
}

impl<T, R: Rng> Waiting<T> for RandomOrder<T, R> {
    fn push(&mut self, item: T) {
        self.items.push(item);
    }

    fn pop(&mut self) -> Option<T> {
        if self.items.is_empty() {
            return None;
        }
        let chosen = self.random.random_range(0..self.items.len());
        Some(self.items.swap_remove(chosen))
    }
}
