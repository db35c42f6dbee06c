//! Whose turn it is among the addresses of a server, and which of them are passed over for a while.

use std::cell::{Cell, RefCell};

use crate::net::target::Address;

/// An address that refused is tried again after this time, which doubles with each further failure up to the longest.
const MIN_PAUSE_NS: u64 = 1_000_000_000;
const MAX_PAUSE_NS: u64 = 60_000_000_000;
/// How many addresses can be passed over at a time.
const MAX_AVOIDED: usize = 64;

/// The addresses of one workload on one worker.
#[derive(Debug)]
pub struct Rotation {
    turn: Cell<usize>,
    avoided: RefCell<Vec<Avoided>>,
}

#[derive(Debug)]
struct Avoided {
    address: Address,
    pause: u64,
    until: u64,
}

impl Rotation {
    /// Begins with the address at `turn`.
    pub fn new(turn: usize) -> Self {
        Self {
            turn: Cell::new(turn),
            avoided: RefCell::default(),
        }
    }

    pub fn next(&self) -> usize {
        self.turn.replace(self.turn.get() + 1)
    }

    /// Indices of all `addresses`, from the one whose turn it is; those that are passed over at `now` come last.
    pub fn order(&self, addresses: &[Address], now: u64) -> Vec<usize> {
        let (turn, count) = (self.next(), addresses.len());
        let mut order: Vec<usize> = (turn..turn + count).map(|index| index % count).collect();
        let avoided = self.avoided.borrow();
        if !avoided.is_empty() {
            let is_avoided = |index: &usize| {
                let mut avoided = avoided.iter();
                avoided.any(|one| one.address == addresses[*index] && now < one.until)
            };
            order.sort_by_key(is_avoided);
        }
        order
    }

    /// Notes that `address` did not accept a connection while another one did.
    pub fn failed(&self, address: &Address, now: u64, unanswered: bool) {
        let mut avoided = self.avoided.borrow_mut();
        let known = avoided.iter().position(|one| one.address == *address);
        // Finding out again that nobody answers costs a client much time.
        let shortest = if unanswered {
            MAX_PAUSE_NS
        } else {
            MIN_PAUSE_NS
        };
        let pause = known.map_or(shortest, |index| {
            (2 * avoided[index].pause).clamp(shortest, MAX_PAUSE_NS)
        });
        let one = Avoided {
            address: address.clone(),
            pause,
            until: now + pause,
        };
        if let Some(index) = known {
            avoided[index] = one;
            return;
        }
        if avoided.len() == MAX_AVOIDED {
            // Of those that may be tried again, only the length of their next pause is forgotten.
            avoided.retain(|one| now < one.until);
        }
        if avoided.len() < MAX_AVOIDED {
            avoided.push(one);
        }
    }

    pub fn accepted(&self, address: &Address) {
        let mut avoided = self.avoided.borrow_mut();
        if !avoided.is_empty() {
            avoided.retain(|one| one.address != *address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn addresses() -> Vec<Address> {
        let address = |port: u16| Address::Tcp(([127, 0, 0, 1], port).into());
        (1..=3).map(address).collect()
    }

    #[test]
    fn addresses_take_turns() {
        let (rotation, addresses) = (Rotation::new(1), addresses());
        let orders: Vec<_> = (0..3).map(|_| rotation.order(&addresses, 0)).collect();
        assert_eq!(orders, [[1, 2, 0], [2, 0, 1], [0, 1, 2]]);
    }

    #[test]
    fn one_that_refused_comes_last_for_a_second_then_for_two_and_in_turn_once_it_accepts() {
        let (rotation, addresses) = (Rotation::new(0), addresses());
        let first = |now| {
            rotation.turn.set(0);
            rotation.order(&addresses, now)[0]
        };
        rotation.failed(&addresses[0], 0, false);
        assert_eq!((first(SECOND - 1), first(SECOND)), (1, 0));
        rotation.failed(&addresses[0], SECOND, false);
        assert_eq!((first(3 * SECOND - 1), first(3 * SECOND)), (1, 0));
        rotation.accepted(&addresses[0]);
        rotation.failed(&addresses[0], 10 * SECOND, false);
        assert_eq!(first(11 * SECOND), 0);
        (0..99).for_each(|_| rotation.failed(&addresses[0], 0, false));
        assert_eq!((first(MAX_PAUSE_NS - 1), first(MAX_PAUSE_NS)), (1, 0));
    }

    #[test]
    fn addresses_that_never_come_back_make_room_for_others() {
        let rotation = Rotation::new(0);
        let address = |port: u16| Address::Tcp(([127, 0, 0, 1], port).into());
        for port in 0..=MAX_AVOIDED as u16 {
            rotation.failed(&address(port), u64::from(port) * 2 * SECOND, false);
        }
        let now = MAX_AVOIDED as u64 * 2 * SECOND;
        let addresses = [address(MAX_AVOIDED as u16), address(1000)];
        assert_eq!(rotation.order(&addresses, now), [1, 0]);
    }

    #[test]
    fn one_that_did_not_answer_comes_last_for_a_minute_wherever_the_name_lists_it() {
        let (rotation, mut addresses) = (Rotation::new(0), addresses());
        rotation.failed(&addresses[0], 0, true);
        addresses.reverse();
        for _ in 0..3 {
            assert_eq!(rotation.order(&addresses, 59 * SECOND)[2], 2);
        }
        rotation.turn.set(2);
        assert_eq!(rotation.order(&addresses, 60 * SECOND), [2, 0, 1]);
    }
}
