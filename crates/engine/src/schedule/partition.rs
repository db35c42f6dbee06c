//! How one load is divided among several workers. Pure functions, with the same results on every worker.

/// Returns how many of `count` things belong to `part` when they are dealt in turn to `parts`.
pub fn share(count: u64, part: usize, parts: usize) -> u64 {
    (count + parts as u64 - 1 - part as u64) / parts as u64
}

/// Divides `total` in proportion to the `weights` (not all 0) into whole numbers that add up to `total`.
pub fn deal(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let mut before: u128 = 0;
    let up_to = |weight: u128| u128::from(total) * weight / sum;
    weights
        .iter()
        .map(|weight| {
            let after = before + u128::from(*weight);
            let share = up_to(after) - up_to(before);
            before = after;
            share as u64
        })
        .collect()
}

/// One part of a sequence (arrivals, rows of a file).
///
/// Element n belongs to unit n mod `units` (a connection, a client), and unit u to part u mod `parts`. So each part
/// gets elements in proportion to its units.
#[derive(Debug, Clone, Copy)]
pub struct Partition {
    units: u64,
    part: usize,
    parts: usize,
    share: u64,
}

impl Partition {
    pub fn new(units: u64, part: usize, parts: usize) -> Self {
        Self {
            units,
            part,
            parts,
            share: share(units, part, parts),
        }
    }

    /// The number of units of this part.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// Returns the place of this part's `n`th element in the whole sequence; `None` if the part has no units.
    pub fn nth(&self, n: u64) -> Option<u64> {
        let (round, unit) = (n.checked_div(self.share)?, n.checked_rem(self.share)?);
        Some(round * self.units + unit * self.parts as u64 + self.part as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_add_up(total in 0u64..1_000_000, clients in 1u64..500, parts in 1usize..20) {
            let shares: Vec<u64> = (0..parts).map(|part| share(clients, part, parts)).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), clients);
            let requests = deal(total, &shares);
            prop_assert_eq!(requests.iter().sum::<u64>(), total);
            for (clients, requests) in shares.iter().zip(&requests) {
                prop_assert!(*clients > 0 || *requests == 0, "requests for a worker without clients");
            }
        }

        #[test]
        fn the_parts_of_a_sequence_are_the_sequence(units in 1u64..50, parts in 1usize..20, rounds in 1u64..5) {
            let mut all = Vec::new();
            for part in 0..parts {
                let partition = Partition::new(units, part, parts);
                let own: Vec<u64> = (0..partition.share() * rounds).map(|n| partition.nth(n).unwrap()).collect();
                prop_assert!(own.is_sorted());
                prop_assert_eq!(own.is_empty(), partition.nth(0).is_none());
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..units * rounds).collect::<Vec<_>>());
        }
    }
}
