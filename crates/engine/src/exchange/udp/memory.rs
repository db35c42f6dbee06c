//! What a socket remembers of its requests, to recognise responses that come twice or late.

use std::collections::VecDeque;

/// How many requests of each list are remembered; a response to an older one counts as stray.
const MAX_REMEMBERED: usize = 32;

/// One request that has ended.
#[derive(Debug, Clone, Copy)]
struct EndedRequest {
    key: u64,
    /// Its number among the requests of its socket.
    number: u64,
}

#[derive(Debug, Default)]
pub struct Memory {
    answered: VecDeque<EndedRequest>,
    given_up: VecDeque<EndedRequest>,
    /// The number of requests that the socket has carried.
    count: u64,
    /// The number of the latest request that was answered.
    latest: u64,
}

/// A datagram that is not the response of the request in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
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
            let request = EndedRequest { key, number };
            let requests = if answered {
                &mut self.answered
            } else {
                &mut self.given_up
            };
            remember(requests, request);
        }
    }

    /// Classifies a datagram with this key if the request in hand has another one. If several requests had the key, the
    /// youngest counts.
    pub fn classify(&mut self, key: Option<u64>) -> Unmatched {
        let Some(key) = key else {
            return Unmatched::Stray;
        };
        let youngest =
            |requests: &VecDeque<EndedRequest>| requests.iter().rposition(|one| one.key == key);
        let (answered, given_up) = (youngest(&self.answered), youngest(&self.given_up));
        match (answered, given_up) {
            (None, None) => Unmatched::Stray,
            (Some(one), Some(other)) if self.answered[one].number > self.given_up[other].number => {
                Unmatched::Duplicate
            }
            (Some(_), None) => Unmatched::Duplicate,
            (_, Some(index)) => {
                let request = self.given_up.remove(index).expect("it is there");
                remember(&mut self.answered, request);
                let overtaken = self.latest > request.number;
                Unmatched::Late { overtaken }
            }
        }
    }
}

fn remember(requests: &mut VecDeque<EndedRequest>, request: EndedRequest) {
    if requests.len() == MAX_REMEMBERED {
        requests.pop_front();
    }
    requests.push_back(request);
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
    fn what_answers_a_request_again_is_a_duplicate() {
        let mut memory = after(&[(7, true)]);
        assert_eq!(memory.classify(Some(7)), Unmatched::Duplicate);
        assert_eq!(memory.classify(Some(8)), Unmatched::Stray);
        assert_eq!(memory.classify(None), Unmatched::Stray);
    }

    #[test]
    fn what_comes_late_may_have_been_overtaken_and_may_come_again() {
        let mut memory = after(&[(7, false), (8, false)]);
        assert_eq!(
            memory.classify(Some(7)),
            Unmatched::Late { overtaken: false }
        );
        memory.begin();
        memory.end(Some(9), true);
        assert_eq!(
            memory.classify(Some(8)),
            Unmatched::Late { overtaken: true }
        );
        assert_eq!(memory.classify(Some(8)), Unmatched::Duplicate);
    }

    #[test]
    fn the_youngest_request_with_a_key_counts_and_the_oldest_are_forgotten() {
        let mut memory = after(&[(7, true), (7, false)]);
        assert_eq!(
            memory.classify(Some(7)),
            Unmatched::Late { overtaken: false }
        );
        let mut memory = after(&[(7, false), (7, true)]);
        assert_eq!(memory.classify(Some(7)), Unmatched::Duplicate);
        let many: Vec<(u64, bool)> = (0..=MAX_REMEMBERED as u64).map(|key| (key, true)).collect();
        let mut memory = after(&many);
        assert_eq!(memory.classify(Some(0)), Unmatched::Stray);
        assert_eq!(memory.classify(Some(1)), Unmatched::Duplicate);
    }
}
