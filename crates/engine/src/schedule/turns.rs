//! Turns, where something is dealt out to all clients of all generators.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::schedule::partition::Partition;
use crate::spec::{LoadSpec, ShareSpec};

/// Counts the uses of one request or feed over all workers of this generator. Several generators divide the turns in
/// proportion to their clients or connections.
#[derive(Debug)]
pub struct Turns {
    taken: AtomicU64,
    part: Partition,
}

impl Turns {
    pub fn new(load: &LoadSpec, share: ShareSpec) -> Self {
        Self {
            taken: AtomicU64::new(0),
            part: Partition::new(load.most_clients(), share.index, share.of),
        }
    }

    /// Takes this generator's next turn, and returns its number among all turns of the plan.
    pub fn take(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let number = self.part.nth(taken);
        number.expect("who makes a request is a client or a connection of this generator")
    }
}
