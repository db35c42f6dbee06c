//! What a socket remembers of its requests, to recognise responses that come twice or late.

use std::collections::VecDeque;

/// How many requests of each kind are remembered; a response to an older one counts as stray.
const MAX_REMEMBERED: usize = 32;

/// One request that has ended.
#[derive(Debug, Clone, Copy)]
struct Past {
    key: u64,
    /// Its number among the requests of its socket.
    number: u64,
}

#[derive(Debug, Default)]
pub struct Memory {
    answered: VecDeque<Past>,
    given_up: VecDeque<Past>,
    /// The number of requests that the socket has carried.
    count: u64,
    /// The number of the latest request that was answered.
    latest: u64,
}

/// A datagram that is not the response of the request in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// Its request had been answered already.
    Duplicate,
    /// Its request had been given up. `overtaken`: whether a later one has been answered since.
    Late { overtaken: bool },
    /// It answers no request that is remembered.
    Stray,
}

impl Memory {
    /// Notes that another request is sent.
    pub fn begin(&mut self) {
        self.count += 1;
    }

    /// Notes that the request has ended, with a response or without.
    pub fn end(&mut self, key: Option<u64>, answered: bool) {
        let number = self.count;
        if answered {
            self.latest = number;
        }
        if let Some(key) = key {
            let past = Past { key, number };
            let kind = if answered {
                &mut self.answered
            } else {
                &mut self.given_up
            };
            remember(kind, past);
        }
    }

    /// Classifies a datagram with this key if the request in hand has another one. If several requests had the key, the
    /// youngest counts.
    pub fn place(&mut self, key: Option<u64>) -> Other {
        let Some(key) = key else {
            return Other::Stray;
        };
        let youngest = |past: &VecDeque<Past>| past.iter().rposition(|one| one.key == key);
        let (answered, given_up) = (youngest(&self.answered), youngest(&self.given_up));
        match (answered, given_up) {
            (None, None) => Other::Stray,
            (Some(one), Some(other)) if self.answered[one].number > self.given_up[other].number => {
                Other::Duplicate
            }
            (Some(_), None) => Other::Duplicate,
            (_, Some(index)) => {
                let past = self.given_up.remove(index).expect("it is there");
                remember(&mut self.answered, past);
                let overtaken = self.latest > past.number;
                Other::Late { overtaken }
            }
        }
    }
}

fn remember(kind: &mut VecDeque<Past>, past: Past) {
    if kind.len() == MAX_REMEMBERED {
        kind.pop_front();
    }
    kind.push_back(past);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory after requests with these keys, each answered or given up.
    fn after(requests: &[(u64, bool)]) -> Memory {
        let mut memory = Memory::default();
        for (key, answered) in requests {
            memory.begin();
            memory.end(Some(*key), *answered);
        }
        memory
    }

    #[test]
    fn what_responses_an_answered_request_again_is_a_duplicate() {
        let mut memory = after(&[(7, true)]);
        assert_eq!(memory.place(Some(7)), Other::Duplicate);
        assert_eq!(memory.place(Some(8)), Other::Stray);
        assert_eq!(memory.place(None), Other::Stray);
    }

    #[test]
    fn what_comes_late_may_have_been_overtaken_and_may_come_again() {
        let mut memory = after(&[(7, false), (8, false)]);
        assert_eq!(memory.place(Some(7)), Other::Late { overtaken: false });
        memory.begin();
        memory.end(Some(9), true);
        assert_eq!(memory.place(Some(8)), Other::Late { overtaken: true });
        assert_eq!(memory.place(Some(8)), Other::Duplicate);
    }

    #[test]
    fn the_youngest_request_with_a_key_counts_and_the_oldest_are_forgotten() {
        let mut memory = after(&[(7, true), (7, false)]);
        assert_eq!(memory.place(Some(7)), Other::Late { overtaken: false });
        let mut memory = after(&[(7, false), (7, true)]);
        assert_eq!(memory.place(Some(7)), Other::Duplicate);
        let many: Vec<(u64, bool)> = (0..=MAX_REMEMBERED as u64).map(|key| (key, true)).collect();
        let mut memory = after(&many);
        assert_eq!(memory.place(Some(0)), Other::Stray);
        assert_eq!(memory.place(Some(1)), Other::Duplicate);
    }
}
