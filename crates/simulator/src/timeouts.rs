//! Requests in flight, in the order in which they time out. A plain queue suffices, since all requests of a workload
//! have the same timeout.

use std::collections::VecDeque;

use jostle_discipline::Nanos;

#[derive(Debug)]
pub struct Timeouts {
    limit: Nanos,
    /// For each request: when it times out, its slot, and its turn. Answered ones are removed lazily.
    queue: VecDeque<(Nanos, u32, u32)>,
}

impl Timeouts {
    pub fn new(limit: Nanos) -> Self {
        Self {
            limit,
            queue: VecDeque::new(),
        }
    }

    /// Adds a request that was sent. `in_flight` is the current number of requests in flight; `unanswered` says whether
    /// a given one is among them.
    pub fn sent(
        &mut self,
        now: Nanos,
        slot: u32,
        turn: u32,
        in_flight: u64,
        unanswered: impl Fn(u32, u32) -> bool,
    ) {
        if self.queue.len() as u64 > 2 * in_flight + 64 {
            self.queue
                .retain(|(_, slot, turn)| unanswered(*slot, *turn));
        }
        self.queue
            .push_back((now.saturating_add(self.limit), slot, turn));
    }

    /// When the next request times out.
    pub fn first(&mut self, unanswered: impl Fn(u32, u32) -> bool) -> Option<Nanos> {
        while let Some((at, slot, turn)) = self.queue.front() {
            if unanswered(*slot, *turn) {
                return Some(*at);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Removes the next request if it has timed out by `now`, and returns its slot.
    pub fn pop_due(&mut self, now: Nanos, unanswered: impl Fn(u32, u32) -> bool) -> Option<u32> {
        if self.first(unanswered)? > now {
            return None;
        }
        self.queue.pop_front().map(|(_, slot, _)| slot)
    }
}
