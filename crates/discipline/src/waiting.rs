//! The order in which waiting jobs are taken by a free worker.

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
pub struct RandomOrder<T, D> {
    items: Vec<T>,
    draw: D,
}

impl<T, D: FnMut(usize) -> usize> RandomOrder<T, D> {
    /// `draw`: gives one of the numbers below the given one, each equally likely.
    pub fn new(draw: D) -> Self {
        Self {
            items: Vec::new(),
            draw,
        }
    }
}

impl<T, D: FnMut(usize) -> usize> Waiting<T> for RandomOrder<T, D> {
    fn push(&mut self, item: T) {
        self.items.push(item);
    }

    fn pop(&mut self) -> Option<T> {
        if self.items.is_empty() {
            return None;
        }
        let chosen = (self.draw)(self.items.len());
        Some(self.items.swap_remove(chosen))
    }
}
