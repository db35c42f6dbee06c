//! Requests in flight in the order in which they time out: the timeout is the same for all of a workload.

use std::collections::VecDeque;

use crate::discipline::Nanos;

#[derive(Debug)]
pub struct Timeouts {
    limit: Nanos,
    /// When each times out, whose it is, and which of its requests. Answered ones stay until somebody looks.
    queue: VecDeque<(Nanos, u32, u32)>,
}

impl Timeouts {
    pub fn new(limit: Nanos) -> Self {
        Self {
            limit,
            queue: VecDeque::new(),
        }
    }

    /// A request was sent. `in_flight` of them are; `unanswered` says whether one still is.
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

    /// When the next one times out.
    pub fn first(&mut self, unanswered: impl Fn(u32, u32) -> bool) -> Option<Nanos> {
        while let Some((at, slot, turn)) = self.queue.front() {
            if unanswered(*slot, *turn) {
                return Some(*at);
            }
            self.queue.pop_front();
        }
        None
    }

    /// The client whose request times out at `now`.
    pub fn pop_due(&mut self, now: Nanos, unanswered: impl Fn(u32, u32) -> bool) -> Option<u32> {
        if self.first(unanswered)? > now {
            return None;
        }
        self.queue.pop_front().map(|(_, slot, _)| slot)
    }
}
