//! Waiting awake: while an answer may come soon or a due time is near, the worker looks at its sockets again and
//! again instead of sleeping until the kernel wakes it up.

use std::cell::Cell;
use std::rc::Rc;

use crate::schedule::clock::Clock;

/// What comes within this time is waited for awake. A sleeper runs some 50 µs after what woke it at the median, 200 µs
/// at the far end, and slowly for milliseconds, with cold caches and, in a virtual machine, on a core that the host gave
/// away meanwhile. With 2 ms a server's median at 300/s was 97 µs, with 20 ms 65, and 62 to a client that never sleeps
/// (measured by turns). An answer that takes longer than this is told at most 0.3 % too long by the median wake-up.
const NEAR_NS: u64 = 20_000_000;
/// So long before it is due a request of an open loop is made ready, if nothing is in flight meanwhile; its moment is
/// then waited for with everything in the caches.
const LEAD_NS: u64 = 30_000;
/// A turn without work that took longer was interrupted, so that not all of it was the worker's own.
const LONGEST_LOOK_NS: u64 = 20_000;

/// One worker's attention.
#[derive(Debug)]
pub struct Attention {
    on: bool,
    /// Until then an answer may come soon.
    soon_until: Cell<u64>,
    /// Somebody did something in this turn.
    worked: Cell<bool>,
    turn: Cell<u64>,
    /// Time spent awake for nothing.
    waited_ns: Rc<Cell<u64>>,
}

impl Attention {
    pub fn new(on: bool, waited_ns: Rc<Cell<u64>>) -> Self {
        Self {
            on,
            soon_until: Cell::new(0),
            worked: Cell::new(true),
            turn: Cell::new(0),
            waited_ns,
        }
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    /// A turn begins. The one before was spent waiting if nobody did anything in it.
    pub fn begin_turn(&self, now: u64) {
        let look = now.saturating_sub(self.turn.replace(now));
        if self.on && !self.worked.replace(false) && look < LONGEST_LOOK_NS {
            self.waited_ns.set(self.waited_ns.get() + look);
        }
    }

    /// Something was done.
    pub fn work(&self) {
        self.worked.set(true);
    }

    /// How long before its moment something may be begun, to be finished by [`Self::wait_until`].
    pub fn lead(&self) -> u64 {
        if self.on { LEAD_NS } else { 0 }
    }

    /// Waits awake until `at`, which is at most [`Self::lead`] away. Gives the time.
    pub fn wait_until(&self, clock: Clock, at: u64) -> u64 {
        let begin = clock.now();
        let at = at.min(begin + self.lead());
        let wait = at.saturating_sub(begin);
        self.waited_ns.set(self.waited_ns.get() + wait);
        let mut now = begin;
        while now < at {
            std::hint::spin_loop();
            now = clock.now();
        }
        now
    }

    /// Something was sent at `now`, and an answer is awaited.
    pub fn expect_answer(&self, now: u64) {
        self.soon_until.set(now + NEAR_NS);
    }

    /// When a worker that has nothing to do at `now` and something at `due` must be awake: `None` if it must not sleep
    /// at all.
    pub fn sleep_until(&self, now: u64, due: u64) -> Option<u64> {
        if !self.on {
            return Some(due);
        }
        let awake_from = due.saturating_sub(NEAR_NS);
        if now < self.soon_until.get() || now >= awake_from {
            // The next turn is waited for unless something comes.
            return None;
        }
        Some(awake_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::clock::monotonic_ns;

    const MS: u64 = 1_000_000;

    #[test]
    fn without_attention_it_always_sleeps_and_nothing_counts_as_waiting() {
        let waited = Rc::new(Cell::new(0));
        let attention = Attention::new(false, waited.clone());
        attention.expect_answer(MS);
        assert_eq!(attention.sleep_until(MS, MS + 1), Some(MS + 1));
        attention.begin_turn(MS);
        attention.begin_turn(MS + 500);
        assert_eq!(waited.get(), 0);
    }

    #[test]
    fn it_stays_awake_near_a_due_time_and_while_an_answer_may_come_soon() {
        let attention = Attention::new(true, Rc::default());
        assert_eq!(attention.sleep_until(0, 100 * MS), Some(80 * MS));
        assert_eq!(attention.sleep_until(80 * MS, 100 * MS), None);
        attention.expect_answer(MS);
        assert_eq!(attention.sleep_until(21 * MS - 1, u64::MAX), None);
        assert_eq!(attention.sleep_until(21 * MS, 100 * MS), Some(80 * MS));
    }

    #[test]
    fn a_moment_that_is_near_is_waited_for_and_that_is_no_work() {
        let clock = Clock::starting_at(monotonic_ns());
        let waited = Rc::new(Cell::new(0));
        let attention = Attention::new(true, waited.clone());
        let due = clock.now() + LEAD_NS / 2;
        assert!(attention.wait_until(clock, due) >= due);
        assert!(waited.get() <= LEAD_NS / 2);
        let before = waited.get();
        assert!(attention.wait_until(clock, due) >= due);
        assert_eq!(waited.get(), before);
    }

    #[test]
    fn asleep_nothing_is_begun_before_its_moment() {
        let attention = Attention::new(false, Rc::default());
        assert_eq!(attention.lead(), 0);
        let clock = Clock::starting_at(monotonic_ns());
        assert!(attention.wait_until(clock, u64::MAX) < u64::MAX);
    }

    #[test]
    fn turns_in_which_nothing_was_done_are_waiting_and_others_are_work() {
        let waited = Rc::new(Cell::new(0));
        let attention = Attention::new(true, waited.clone());
        for (now, work) in [(0, false), (700, false), (1500, true), (2500, false)] {
            attention.begin_turn(now);
            if work {
                attention.work();
            }
        }
        // The last one was interrupted for a long time.
        attention.begin_turn(5 * MS);
        assert_eq!(waited.get(), 1500);
    }
}
