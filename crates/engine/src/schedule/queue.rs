//! The queue of arrivals that are due and have not been handed out yet.
//!
//! It is not stored: arrivals are a pure function, so two cursors are enough, however many arrivals are waiting.

use std::sync::Arc;

use crate::schedule::arrivals::Schedule;
use crate::schedule::rate_curve::RateCurve;

/// The arrivals of one workload on one worker.
#[derive(Debug)]
pub struct Queue {
    /// A cursor at the next arrival to be handed out.
    waiting: Schedule,
    /// A cursor after the last arrival that was counted as due; `None` if it is at the same place as `waiting`.
    counted: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the arrival on this worker.
    pub number: u64,
    pub due: u64,
    /// Whether [`Queue::count`] counted it while it waited.
    pub counted: bool,
}

impl Queue {
    pub fn new(schedule: Schedule) -> Self {
        Self {
            waiting: schedule,
            counted: None,
        }
    }

    /// Returns when the next arrival is (or was) due; `None` after the last.
    pub fn next_due(&self) -> Option<u64> {
        self.waiting.peek()
    }

    /// Hands out the next arrival, if it is due at `now`.
    pub fn take(&mut self, now: u64) -> Option<Arrival> {
        let number = self.waiting.taken();
        let due = self.waiting.take_due(now)?;
        let counted = self.counted.is_some();
        self.meet();
        Some(Arrival {
            number,
            due,
            counted,
        })
    }

    /// Removes the next `count` counted arrivals, at least 1, and returns the first of them.
    pub fn drop_waiting(&mut self, count: u64) -> Option<Arrival> {
        let first = self.take(u64::MAX)?;
        self.waiting.skip(count - 1);
        self.meet();
        Some(first)
    }

    /// Counts the arrivals that were due before `end` and have been neither handed out nor counted yet.
    pub fn count(&mut self, end: u64) -> u64 {
        let is_due = |next: Option<u64>| next.is_some_and(|due| due < end);
        if !is_due(self.counted.as_ref().unwrap_or(&self.waiting).peek()) {
            return 0;
        }
        let counted = self.counted.get_or_insert_with(|| self.waiting.clone());
        let before = counted.taken();
        while is_due(counted.peek()) {
            counted.skip(1);
        }
        counted.taken() - before
    }

    /// How many of the counted arrivals are waiting.
    pub fn len(&self) -> u64 {
        let counted = self.counted.as_ref().unwrap_or(&self.waiting);
        counted.taken() - self.waiting.taken()
    }

    /// The moment before which all arrivals have been handed out or counted: their due times stay.
    pub fn given_until(&self) -> u64 {
        let counted = self.counted.as_ref().unwrap_or(&self.waiting);
        counted.taken_until()
    }

    /// Goes on by `curve`, which must be the same as the one before up to `given_until`.
    pub fn follow(&mut self, curve: &Arc<RateCurve>) {
        self.waiting.follow(curve.clone());
        if let Some(counted) = &mut self.counted {
            counted.follow(curve.clone());
        }
    }

    fn meet(&mut self) {
        let counted = self.counted.as_ref();
        if counted.is_some_and(|counted| counted.taken() == self.waiting.taken()) {
            self.counted = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::partition::Partition;
    use crate::spec::{Arrivals, OpenSpec, RateSpec};
    use proptest::prelude::*;

    fn queue(times: Vec<u64>) -> Queue {
        let spec = OpenSpec {
            arrivals: Arrivals::Trace(times),
            rates: vec![],
            requests: None,
            max_connections: 1,
            requests_per_connection: None,
        };
        Queue::new(Schedule::new(&spec, 1, Partition::new(1, 0, 1)))
    }

    #[test]
    fn what_is_handed_out_when_it_is_due_is_never_counted_as_waiting() {
        let mut queue = queue(vec![5, 10]);
        assert_eq!((queue.take(4), queue.count(5)), (None, 0));
        let arrival = queue.take(5).unwrap();
        assert_eq!(
            (arrival.number, arrival.due, arrival.counted),
            (0, 5, false)
        );
        assert_eq!((queue.count(10), queue.len()), (0, 0));
        assert_eq!((queue.count(11), queue.len()), (1, 1));
        assert!(queue.take(12).unwrap().counted);
        assert_eq!((queue.next_due(), queue.len()), (None, 0));
    }

    proptest! {
        #[test]
        fn every_arrival_is_counted_once(
            mut times in prop::collection::vec(0u64..100, 0..50),
            steps in prop::collection::vec((0u64..20, 0usize..5, 0u64..3), 1..20),
        ) {
            times.sort_unstable();
            let mut queue = queue(times.clone());
            let (mut now, mut counted, mut handed_out) = (0, 0, 0);
            for (step, takes, drops) in steps {
                now += step;
                counted += queue.count(now);
                for _ in 0..takes {
                    if let Some(arrival) = queue.take(now) {
                        prop_assert_eq!(arrival.number, handed_out);
                        prop_assert_eq!(arrival.due, times[handed_out as usize]);
                        counted += u64::from(!arrival.counted);
                        handed_out += 1;
                    }
                }
                if drops > 0 && drops <= queue.len() {
                    queue.drop_waiting(drops).unwrap();
                    handed_out += drops;
                }
                prop_assert_eq!(counted, handed_out + queue.len());
            }
            counted += queue.count(u64::MAX);
            prop_assert_eq!((counted, queue.len()), (times.len() as u64, times.len() as u64 - handed_out));
        }

        /// A change, however late it comes, leaves every due time that was given out, and the count of all.
        #[test]
        fn a_change_that_comes_late_moves_only_what_was_not_given_out(
            poisson: bool,
            steps in prop::collection::vec(
                (0u64..2_000_000, 0usize..5, prop::option::of((1.0f64..1e6, 0u64..3_000_000))), 1..30
            ),
        ) {
            let rates = vec![RateSpec { name: String::new(), duration_ns: None, from: 2000.0, to: 2000.0 }];
            let mut curve = RateCurve::new(&rates);
            let spec = OpenSpec {
                arrivals: if poisson { Arrivals::Poisson } else { Arrivals::Constant },
                rates,
                requests: None,
                max_connections: 1,
                requests_per_connection: None,
            };
            let mut queue = Queue::new(Schedule::new(&spec, 1, Partition::new(1, 0, 1)));
            let (mut now, mut counted, mut handed_out, mut last) = (0, 0, 0, 0);
            for (step, takes, change) in steps {
                now += step;
                let given: Vec<u64> = waiting(&queue).collect();
                if let Some((rate, early)) = change {
                    curve.go_on_at((now.saturating_sub(early)).max(queue.given_until()), rate);
                    queue.follow(&Arc::new(curve.clone()));
                }
                prop_assert_eq!(given, waiting(&queue).collect::<Vec<_>>());
                counted += queue.count(now);
                for _ in 0..takes {
                    if let Some(arrival) = queue.take(now) {
                        prop_assert_eq!(arrival.number, handed_out);
                        prop_assert!(last <= arrival.due && arrival.due <= now);
                        counted += u64::from(!arrival.counted);
                        handed_out += 1;
                        last = arrival.due;
                    }
                }
                prop_assert_eq!(counted, handed_out + queue.len());
            }
        }
    }

    /// The due times of those that were counted and not handed out.
    fn waiting(queue: &Queue) -> impl Iterator<Item = u64> {
        let mut schedule = queue.waiting.clone();
        (0..queue.len()).map(move |_| schedule.take_due(u64::MAX).unwrap())
    }
}
