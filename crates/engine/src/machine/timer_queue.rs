//! The queue of tasks that sleep, by the time at which they are to be woken.
//!
//! A calendar queue (Brown, Communications of the ACM 31, 1988): a heap of what is due within the current millisecond,
//! and a ring of buckets for the milliseconds after it. In a single heap of 10,000 sleepers every operation is a chain
//! of cache misses, which took 0.8 µs of each request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A bucket is 2²⁰ ns long, which is about a millisecond; the ring is about a second long.
const BUCKET_BITS: u32 = 20;
const BUCKETS: u64 = 1024;

type Entry = (u64, u32);

/// Times are nanoseconds from the start of the run.
#[derive(Debug)]
pub struct TimerQueue {
    /// The entries of the buckets whose time has come.
    near: BinaryHeap<Reverse<Entry>>,
    /// The number of the first bucket whose time has not come.
    next_bucket: u64,
    /// The buckets, each at its number modulo `BUCKETS`. One may also hold entries of later turns of the ring.
    ring: Vec<Vec<Entry>>,
    /// The earliest entry of the ring.
    earliest: Option<Entry>,
}

impl Default for TimerQueue {
    fn default() -> Self {
        Self {
            near: BinaryHeap::new(),
            next_bucket: 0,
            ring: vec![Vec::new(); BUCKETS as usize],
            earliest: None,
        }
    }
}

impl TimerQueue {
    pub fn push(&mut self, due: u64, slot: u32) {
        let entry = (due, slot);
        if bucket_of(entry) < self.next_bucket {
            self.near.push(Reverse(entry));
            return;
        }
        self.ring[place(bucket_of(entry))].push(entry);
        if self.earliest.is_none_or(|earliest| entry < earliest) {
            self.earliest = Some(entry);
        }
    }

    /// Removes and returns the next slot that is due at `now`, in order of time. `now` must never decrease.
    pub fn pop_due(&mut self, now: u64) -> Option<u32> {
        self.advance(now);
        let Reverse((due, slot)) = *self.near.peek()?;
        if due > now {
            return None;
        }
        self.near.pop();
        Some(slot)
    }

    /// Returns the next entry: when it is due, and its slot.
    pub fn next(&self) -> Option<Entry> {
        let near = self.near.peek().map(|Reverse(entry)| *entry);
        near.or(self.earliest)
    }

    /// Moves the entries of the buckets whose time has come into the heap.
    fn advance(&mut self, now: u64) {
        let Some(earliest) = self.earliest.filter(|(due, _)| *due <= now) else {
            return;
        };
        let (first, current) = (bucket_of(earliest), now >> BUCKET_BITS);
        for bucket_number in first..=current.min(first + BUCKETS - 1) {
            let bucket = &mut self.ring[place(bucket_number)];
            let due = bucket.extract_if(.., |entry| bucket_of(*entry) <= current);
            self.near.extend(due.map(Reverse));
            // Otherwise, if all entries are always due together, every bucket would in time keep room for all of them.
            bucket.shrink_to_fit();
        }
        self.next_bucket = current + 1;
        self.earliest = self.find_earliest();
    }

    fn find_earliest(&self) -> Option<Entry> {
        let in_this_turn = |bucket| {
            let entries = self.ring[place(bucket)].iter().copied();
            entries.filter(|entry| bucket_of(*entry) == bucket).min()
        };
        (self.next_bucket..self.next_bucket.saturating_add(BUCKETS))
            .find_map(in_this_turn)
            .or_else(|| self.ring.iter().flatten().copied().min())
    }
}

fn bucket_of((due, _): Entry) -> u64 {
    due >> BUCKET_BITS
}

fn place(bucket: u64) -> usize {
    (bucket % BUCKETS) as usize
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slots_come_out_in_order_of_time_and_not_before() {
        let mut queue = TimerQueue::default();
        for (due, slot) in [(50, 1), (70, 2), (20, 3), (50, 4)] {
            queue.push(due, slot);
        }
        assert_eq!(queue.next(), Some((20, 3)));
        assert_eq!(queue.pop_due(19), None);
        let mut due_at = |now| std::iter::from_fn(|| queue.pop_due(now)).collect::<Vec<_>>();
        assert_eq!(due_at(50), [3, 1, 4]);
        assert!(due_at(69).is_empty());
        assert_eq!(due_at(70), [2]);
        assert_eq!(queue.next(), None);
    }

    /// Times within the same bucket, in other buckets, and in later turns of the ring.
    fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let ahead = prop_oneof![
            0..2_000_u64,
            0..50_000_000_u64,
            0..9_000_000_000_u64,
            Just(u64::MAX / 2)
        ];
        let passes = prop_oneof![0..500_u64, 0..5_000_000_u64, 0..4_000_000_000_u64];
        vec((ahead, passes), 1..200)
    }

    proptest! {
        #[test]
        fn it_is_a_heap_to_whoever_uses_it(steps in steps()) {
            let (mut queue, mut heap) = (TimerQueue::default(), BinaryHeap::new());
            let mut now = 0;
            for (slot, (ahead, passes)) in (0..).zip(steps) {
                queue.push(now + ahead, slot);
                heap.push(Reverse((now + ahead, slot)));
                now += passes;
                while let Some(Reverse((due, slot))) = heap.peek().copied() {
                    prop_assert_eq!(queue.next(), Some((due, slot)));
                    if due > now {
                        break;
                    }
                    prop_assert_eq!(queue.pop_due(now), Some(slot));
                    heap.pop();
                }
                prop_assert_eq!(queue.pop_due(now), None);
            }
        }
    }
}
