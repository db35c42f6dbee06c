//! A min-heap of jobs by key; equal keys come out in the order in which they went in.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

struct Entry<K, J> {
    key: K,
    sequence: u64,
    job: J,
}

impl<K: Ord, J> Ord for Entry<K, J> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key
            .cmp(&other.key)
            .then(self.sequence.cmp(&other.sequence))
    }
}

impl<K: Ord, J> PartialOrd for Entry<K, J> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, J> PartialEq for Entry<K, J> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, J> Eq for Entry<K, J> {}

pub struct Calendar<K, J> {
    heap: BinaryHeap<Reverse<Entry<K, J>>>,
    next_sequence: u64,
}

impl<K: Ord + Copy, J> Calendar<K, J> {
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            next_sequence: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn insert(&mut self, key: K, job: J) {
        self.heap.push(Reverse(Entry {
            key,
            sequence: self.next_sequence,
            job,
        }));
        self.next_sequence += 1;
    }

    /// The smallest key.
    pub fn first(&self) -> Option<K> {
        self.heap.peek().map(|Reverse(entry)| entry.key)
    }

    /// Takes out the job with the smallest key, if that key is at most `limit`.
    pub fn pop_until(&mut self, limit: K) -> Option<(K, J)> {
        if self.first()? > limit {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.key, entry.job))
    }
}
