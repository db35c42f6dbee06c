//! Thinking clients, ordered by the end of their think time: a ring of time buckets, each an intrusive list through
//! the clients. Inserting a client and taking out the next one cost the same however many there are, whereas a heap
//! of a million clients misses the cache at every step.
//!
//! Source: Brown, "Calendar queues", Communications of the ACM 31(10), 1988.

use jostle_discipline::Nanos;

/// Marks the end of a list. In a client that is in no list, `next` may be anything above [`LAST`].
const NONE: u32 = u32::MAX;
/// The highest number of a client.
pub const LAST: u32 = u32::MAX - 8;

/// A client, which stores its own place in the ring.
pub trait Linked {
    /// The end of its think time.
    fn due(&mut self) -> &mut Nanos;
    /// The next client of the same bucket. While the client is in the ring, only the ring may change it.
    fn next(&mut self) -> &mut u32;
}

#[derive(Debug)]
pub struct ThinkQueue {
    heads: Vec<u32>,
    /// A bucket is 2^shift ns wide.
    shift: u32,
    /// Number of the bucket that is being emptied; those before it are empty.
    bucket: u64,
    /// The clients of that bucket and any that are due earlier, with the next one last.
    current: Vec<(Nanos, u32)>,
    count: usize,
}

impl ThinkQueue {
    /// Creates a ring for about `clients` clients that think for about `think_ns`, with some four of them per bucket.
    pub fn new(clients: usize, think_ns: Nanos) -> Self {
        let buckets = (clients / 4).next_power_of_two().clamp(64, 1 << 24);
        let width = (2 * think_ns / buckets as u64).max(1);
        Self {
            heads: vec![NONE; buckets],
            shift: width.ilog2(),
            bucket: 0,
            current: Vec::new(),
            count: 0,
        }
    }

    fn place(&self, bucket: u64) -> usize {
        (bucket as usize) & (self.heads.len() - 1)
    }

    pub fn insert(&mut self, clients: &mut [impl Linked], slot: u32, due: Nanos) {
        self.count += 1;
        let bucket = due >> self.shift;
        let client = &mut clients[slot as usize];
        *client.due() = due;
        if bucket <= self.bucket {
            *client.next() = NONE;
            let at = self.current.partition_point(|other| *other > (due, slot));
            self.current.insert(at, (due, slot));
        } else {
            let place = self.place(bucket);
            *client.next() = std::mem::replace(&mut self.heads[place], slot);
        }
    }

    /// When the next client is due.
    pub fn first(&mut self, clients: &mut [impl Linked]) -> Option<Nanos> {
        while self.current.is_empty() {
            if self.count == 0 {
                return None;
            }
            self.bucket += 1;
            self.gather(clients);
        }
        self.current.last().map(|(due, _)| *due)
    }

    /// Takes out the next client, if it is due by `now`.
    pub fn pop_due(&mut self, clients: &mut [impl Linked], now: Nanos) -> Option<u32> {
        if self.first(clients)? > now {
            return None;
        }
        self.count -= 1;
        self.current.pop().map(|(_, slot)| slot)
    }

    pub fn remove(&mut self, clients: &mut [impl Linked], slot: u32) {
        self.count -= 1;
        let due = *clients[slot as usize].due();
        let bucket = due >> self.shift;
        if bucket <= self.bucket {
            self.current.retain(|(_, other)| *other != slot);
            return;
        }
        let place = self.place(bucket);
        let after = *clients[slot as usize].next();
        if self.heads[place] == slot {
            self.heads[place] = after;
            return;
        }
        let mut before = self.heads[place];
        loop {
            let next = clients[before as usize].next();
            if *next == slot {
                *next = after;
                return;
            }
            before = *next;
        }
    }

    /// Makes the clients of the next bucket current; those that belong to later rounds of the ring stay.
    fn gather(&mut self, clients: &mut [impl Linked]) {
        let place = self.place(self.bucket);
        let mut slot = std::mem::replace(&mut self.heads[place], NONE);
        while slot != NONE {
            let client = &mut clients[slot as usize];
            let (due, next) = (*client.due(), *client.next());
            if due >> self.shift == self.bucket {
                *client.next() = NONE;
                self.current.push((due, slot));
            } else {
                *client.next() = std::mem::replace(&mut self.heads[place], slot);
            }
            slot = next;
        }
        self.current.sort_unstable_by(|one, other| other.cmp(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Default)]
    struct Client {
        due: Nanos,
        next: u32,
    }

    impl Linked for Client {
        fn due(&mut self) -> &mut Nanos {
            &mut self.due
        }

        fn next(&mut self) -> &mut u32 {
            &mut self.next
        }
    }

    proptest! {
        /// Compares with a sorted set: clients are inserted, come out, are removed, and think again.
        #[test]
        fn clients_come_out_in_the_order_of_their_times(
            times in prop::collection::vec(0u64..100_000, 1..200),
            again in prop::collection::vec(0u64..300_000, 0..200),
            removed in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            let mut clients = vec![Client::default(); times.len()];
            let mut thinking = ThinkQueue::new(times.len(), 1_000);
            let mut expected = std::collections::BTreeSet::new();
            for (slot, &due) in times.iter().enumerate() {
                thinking.insert(&mut clients, slot as u32, due);
                expected.insert((due, slot as u32));
            }
            for index in removed {
                let slot = index.index(times.len()) as u32;
                if expected.remove(&(clients[slot as usize].due, slot)) {
                    thinking.remove(&mut clients, slot);
                }
            }
            let mut again = again.into_iter();
            while let Some(due) = thinking.first(&mut clients) {
                if due > 0 {
                    prop_assert_eq!(thinking.pop_due(&mut clients, due - 1), None);
                }
                let slot = thinking.pop_due(&mut clients, due).unwrap();
                prop_assert_eq!(expected.pop_first(), Some((due, slot)));
                if let Some(pause) = again.next() {
                    thinking.insert(&mut clients, slot, due + pause);
                    expected.insert((due + pause, slot));
                }
            }
            prop_assert!(expected.is_empty());
        }
    }
}
