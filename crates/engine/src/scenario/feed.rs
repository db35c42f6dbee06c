//! Feeds: rows of values for the journeys of one workload.

use super::slots::Slots;
use super::turns::Turns;
use crate::schedule::random::Stream;
use crate::spec::{FeedEach, FeedOrder, FeedSpec};

#[derive(Debug)]
pub struct Feed {
    spec: FeedSpec,
    rows: usize,
    turns: Turns,
}

impl Feed {
    /// The specification has been checked: at least one whole row.
    pub fn new(spec: FeedSpec, turns: Turns) -> Self {
        Self {
            rows: spec.rows.len() / spec.columns.len(),
            spec,
            turns,
        }
    }

    pub fn each(&self) -> FeedEach {
        self.spec.each
    }

    /// Puts the next row into the slots; false if there is none left.
    pub fn draw(&self, slots: &mut Slots, random: &mut Stream) -> bool {
        let rows = self.rows as u64;
        let row = match self.spec.order {
            FeedOrder::InTurn => self.turns.take() % rows,
            FeedOrder::Random => random.below(rows),
            FeedOrder::Once => match self.turns.take() {
                row if row < rows => row,
                _ => return false,
            },
        };
        let first = row as usize * self.spec.columns.len();
        for (column, slot) in self.spec.columns.iter().enumerate() {
            let value = self.spec.rows.get(first + column);
            slots.set(*slot, Some(value.as_bytes()));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ShareSpec;

    /// The feeds of `generators` for so many clients.
    fn feeds(order: &str, generators: usize, clients: u64) -> Vec<Feed> {
        let spec = serde_json::json!({
            "each": "iteration", "order": order, "columns": [1, 0],
            "rows": ["a", "1", "b", "2", "c", "3", "d", "4", "e", "5"],
        });
        let spec: FeedSpec = serde_json::from_value(spec).unwrap();
        let load = serde_json::json!({"closed": {"clients": clients}});
        let load = serde_json::from_value(load).unwrap();
        let share = |index| ShareSpec {
            index,
            of: generators,
        };
        (0..generators)
            .map(|index| Feed::new(spec.clone(), Turns::new(&load, share(index))))
            .collect()
    }

    fn draw(feed: &Feed) -> Option<String> {
        let mut slots = Slots::new(2);
        feed.draw(&mut slots, &mut Stream::new(1, &[])).then(|| {
            let text = |slot| std::str::from_utf8(slots.get(slot).unwrap()).unwrap();
            format!("{}{}", text(1), text(0))
        })
    }

    #[test]
    fn every_row_comes_once_over_all_generators_and_then_no_more() {
        let feeds = feeds("once", 2, 4);
        let mut rows: Vec<String> = feeds
            .iter()
            .flat_map(|feed| std::iter::from_fn(|| draw(feed)))
            .collect();
        rows.sort();
        assert_eq!(rows, ["a1", "b2", "c3", "d4", "e5"]);
        assert!(feeds.iter().all(|feed| draw(feed).is_none()));
    }

    #[test]
    fn in_turn_they_begin_again() {
        let feeds = feeds("in-turn", 1, 1);
        let rows: Vec<_> = (0..7).filter_map(|_| draw(&feeds[0])).collect();
        assert_eq!(rows, ["a1", "b2", "c3", "d4", "e5", "a1", "b2"]);
    }

    #[test]
    fn at_random_all_come() {
        let feeds = feeds("random", 1, 1);
        let mut random = Stream::new(1, &[]);
        let mut slots = Slots::new(2);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            assert!(feeds[0].draw(&mut slots, &mut random));
            seen.insert(slots.get(1).unwrap().to_vec());
        }
        assert_eq!(seen.len(), 5);
    }
}
