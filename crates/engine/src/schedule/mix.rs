//! Which of several requests or journeys comes next.

use crate::schedule::random::Rng;
use crate::spec::{Order, RequestSpec};

/// The requests of a workload and the rule by which the next one is chosen; prepared once, shared by all players.
#[derive(Debug)]
pub struct Mix {
    order: Order,
    /// Sums of the weights up to and including each request.
    sums: Vec<u64>,
}

impl Mix {
    /// `requests` must not be empty and, if they are chosen by weight, must not all have weight 0.
    pub fn new(order: Order, requests: &[RequestSpec]) -> Self {
        Self::of(order, requests.iter().map(|request| request.weight))
    }

    /// A mix of as many things as there are `weights`.
    pub(crate) fn of(order: Order, weights: impl Iterator<Item = u32>) -> Self {
        let mut sum = 0;
        let sums = weights.map(|weight| {
            sum += u64::from(weight);
            sum
        });
        Self {
            order,
            sums: sums.collect(),
        }
    }

    /// A player that has already taken `turn` requests.
    pub fn player(&self, turn: u64) -> Player<'_> {
        Player { mix: self, turn }
    }
}

/// One client on its way through a mix.
#[derive(Debug)]
pub struct Player<'a> {
    mix: &'a Mix,
    turn: u64,
}

impl Player<'_> {
    /// Returns the number of the next request.
    pub fn next(&mut self, random: &mut Rng) -> usize {
        let turn = self.turn;
        self.turn += 1;
        let sums = &self.mix.sums;
        let count = sums.len();
        match self.mix.order {
            _ if count == 1 => 0,
            Order::Sequence => (turn % count as u64) as usize,
            Order::Weighted => {
                let point = random.below(sums[count - 1]);
                sums.partition_point(|sum| *sum <= point)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(order: Order, weights: &[u32]) -> Mix {
        let request = |weight: &u32| {
            let spec =
                serde_json::json!({"name": "r", "method": "GET", "path": "/", "weight": weight});
            serde_json::from_value(spec).unwrap()
        };
        let requests: Vec<RequestSpec> = weights.iter().map(request).collect();
        Mix::new(order, &requests)
    }

    #[test]
    fn a_sequence_goes_round_from_where_the_player_begins() {
        let mix = mix(Order::Sequence, &[1, 1, 1]);
        let mut player = mix.player(4);
        let mut random = Rng::new(1, &[]);
        let taken: Vec<usize> = (0..5).map(|_| player.next(&mut random)).collect();
        assert_eq!(taken, [1, 2, 0, 1, 2]);
    }

    #[test]
    fn requests_are_chosen_by_weight_and_never_with_weight_0() {
        let mix = mix(Order::Weighted, &[1, 0, 3]);
        let mut player = mix.player(0);
        let mut random = Rng::new(1, &[]);
        let mut counts = [0_u32; 3];
        (0..4000).for_each(|_| counts[player.next(&mut random)] += 1);
        assert_eq!(counts[1], 0);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
    }
}
