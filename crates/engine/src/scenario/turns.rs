//! Whose turn it is, where something is dealt out to all clients of all generators.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::schedule::partition::Partition;
use crate::spec::{LoadSpec, ShareSpec};

/// Uses of one request, or of a feed, counted over all workers of this generator. Several generators deal them out
/// among each other by their clients or connections.
#[derive(Debug)]
pub struct Turns {
    taken: AtomicU64,
    part: Partition,
}

impl Turns {
    pub fn new(load: &LoadSpec, share: ShareSpec) -> Self {
        let users = match load {
            LoadSpec::Closed(closed) => closed.clients,
            LoadSpec::Open(open) => open.max_connections,
        };
        Self {
            taken: AtomicU64::new(0),
            part: Partition::new(users, share.index, share.of),
        }
    }

    /// The next one of this generator, by its number among all of the plan.
    pub fn take(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let number = self.part.nth(taken);
        number.expect("who makes a request is a client or a connection of this generator")
    }
}
