//! Feeds: rows of values for the journeys of one workload.

use crate::schedule::random::Rng;
use crate::schedule::turns::Turns;
use crate::spec::{FeedEach, FeedOrder, FeedSpec};
use crate::template::slots::Slots;

/// Only the place of every 16th row is stored: storing all of them could take as much memory as short rows do.
const ROWS_PER_MARK: usize = 16;

#[derive(Debug)]
pub struct Feed {
    spec: FeedSpec,
    rows: usize,
    /// Where rows 0, `ROWS_PER_MARK`, 2 · `ROWS_PER_MARK`, … begin.
    marks: Vec<u32>,
    turns: Turns,
}

impl Feed {
    /// `spec` must have been checked: it has at least one row, and all its rows are complete.
    pub fn new(spec: FeedSpec, turns: Turns) -> Self {
        let rows = spec.rows.len() / spec.columns.len();
        let mut marks = Vec::with_capacity(rows.div_ceil(ROWS_PER_MARK));
        let mut at = 0;
        for row in 0..rows {
            if row % ROWS_PER_MARK == 0 {
                marks.push(at as u32);
            }
            at = place_after(&spec, at, spec.columns.len());
        }
        Self {
            spec,
            rows,
            marks,
            turns,
        }
    }

    pub fn each(&self) -> FeedEach {
        self.spec.each
    }

    /// Puts the next row into the slots; returns false if there is none left.
    pub fn draw(&self, slots: &mut Slots, random: &mut Rng) -> bool {
        let rows = self.rows as u64;
        let row = match self.spec.order {
            FeedOrder::InTurn => self.turns.take() % rows,
            FeedOrder::Random => random.below(rows),
            FeedOrder::Once => match self.turns.take() {
                row if row < rows => row,
                _ => return false,
            },
        };
        let columns = &self.spec.columns;
        let mark = self.marks[row as usize / ROWS_PER_MARK] as usize;
        let before = row as usize % ROWS_PER_MARK * columns.len();
        let mut at = place_after(&self.spec, mark, before);
        for slot in columns {
            let (value, next) = value(&self.spec, at);
            slots.set(*slot, Some(value));
            at = next;
        }
        true
    }
}

fn value(spec: &FeedSpec, at: usize) -> (&[u8], usize) {
    let value = spec.rows.value(at);
    value.expect("the rows were found to be whole when they were read")
}

/// Returns the place after the given number of values that begin at `at`.
fn place_after(spec: &FeedSpec, at: usize, values: usize) -> usize {
    (0..values).fold(at, |at, _| value(spec, at).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{FeedRows, ShareSpec};

    /// One feed for each of `generators`, for the given number of clients.
    fn feeds(order: &str, generators: usize, clients: u64) -> Vec<Feed> {
        let spec = serde_json::json!({
            "each": "iteration", "order": order, "columns": [1, 0],
            "rows": FeedRows::from_iter(["a", "1", "b", "2", "c", "3", "d", "4", "e", "5"]),
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
        feed.draw(&mut slots, &mut Rng::new(1, &[])).then(|| {
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
    fn every_row_of_many_is_found() {
        let texts: Vec<String> = (0..200).map(|n| n.to_string().repeat(n % 5)).collect();
        let spec = serde_json::json!({
            "each": "iteration", "order": "in-turn", "columns": [0, 1],
            "rows": texts.iter().map(String::as_str).collect::<FeedRows>(),
        });
        let load = serde_json::from_value(serde_json::json!({"closed": {"clients": 1}})).unwrap();
        let turns = Turns::new(&load, ShareSpec { index: 0, of: 1 });
        let feed = Feed::new(serde_json::from_value(spec).unwrap(), turns);
        for row in texts.chunks(2) {
            let mut slots = Slots::new(2);
            assert!(feed.draw(&mut slots, &mut Rng::new(1, &[])));
            let found = [0, 1].map(|slot| slots.get(slot).unwrap().to_vec());
            assert_eq!(found, [row[0].as_bytes(), row[1].as_bytes()]);
        }
    }

    #[test]
    fn at_random_all_come() {
        let feeds = feeds("random", 1, 1);
        let mut random = Rng::new(1, &[]);
        let mut slots = Slots::new(2);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            assert!(feeds[0].draw(&mut slots, &mut random));
            seen.insert(slots.get(1).unwrap().to_vec());
        }
        assert_eq!(seen.len(), 5);
    }
}
