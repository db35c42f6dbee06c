//! Head-of-line blocking: streams of one HTTP/2 connection that waited for one another.

/// Shorter waits are ignored.
pub const MIN_NS: u64 = 1_000_000;

/// One stream of a connection. Times are nanoseconds from the start of the run; 0 means that it has not happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamTimes {
    /// The stream's number on its connection.
    pub stream: u32,
    pub request: u32,
    /// When the request would have been sent if a stream had been free.
    pub ready_ns: u64,
    pub sent_ns: u64,
    /// When the head of the response came.
    pub head_ns: u64,
    pub end_ns: u64,
    pub bytes: u64,
}

/// How long one stream waited, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Time spent waiting for a free stream, plus the time in which the response of `blocker` came.
    pub blocked_ns: u64,
    pub stream: u32,
    pub request: u32,
    /// The stream whose response took up most of the wait; 0 if no response came meanwhile.
    pub blocker: u32,
    pub from_ns: u64,
    pub until_ns: u64,
}

/// The longest wait of a workload within an interval, and the streams of that connection around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadOfLine {
    pub workload: u32,
    /// Index of the connection among those of its worker.
    pub connection: u32,
    pub wait: Wait,
    /// In the order in which they were ready; streams that are still open have no end.
    pub streams: Vec<StreamTimes>,
    pub elsewhere: Elsewhere,
}

/// The same request on the worker's other connections, sent and answered while the stream waited. Only the latest
/// streams of each connection are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Elsewhere {
    pub connections: u32,
    pub responses: u32,
    /// From the send to the head of the response.
    pub median_ns: u64,
}

/// Keeps the longest wait of each workload; of equal ones the later, which is more complete.
pub fn append(known: &mut Vec<HeadOfLine>, others: impl IntoIterator<Item = HeadOfLine>) {
    for other in others {
        match known.iter_mut().find(|one| one.workload == other.workload) {
            Some(one) if one.wait.blocked_ns > other.wait.blocked_ns => {}
            Some(one) => *one = other,
            None => known.push(other),
        }
    }
}

/// The longest wait of one workload so far, on one worker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Longest(Option<(u64, Wait)>);

impl Longest {
    /// Returns the wait to be shown: this one if it is longer than all before. If it waited for the same stream as the
    /// longest one, returns that one again, because there is now more to show around it. `connection` is its number
    /// among all that were opened: streams of another one in the same place may have the same numbers.
    pub fn shown(&mut self, connection: u64, wait: Wait) -> Option<Wait> {
        match &self.0 {
            Some((known, longest)) if longest.blocked_ns >= wait.blocked_ns => {
                let same = *known == connection && longest.blocker == wait.blocker;
                return (same && wait.blocker > 0).then_some(*longest);
            }
            _ => self.0 = Some((connection, wait)),
        }
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(blocked_ns: u64, stream: u32, blocker: u32) -> Wait {
        Wait {
            blocked_ns,
            stream,
            request: 0,
            blocker,
            from_ns: 0,
            until_ns: blocked_ns,
        }
    }

    #[test]
    fn the_longest_wait_is_shown_with_all_who_were_behind_the_same_stream() {
        let mut longest = Longest::default();
        assert_eq!(longest.shown(0, wait(5, 3, 1)), Some(wait(5, 3, 1)));
        assert_eq!(longest.shown(0, wait(4, 5, 1)), Some(wait(5, 3, 1)));
        assert_eq!(longest.shown(1, wait(4, 5, 1)), None);
        assert_eq!(longest.shown(0, wait(4, 9, 7)), None);
        assert_eq!(longest.shown(1, wait(6, 9, 0)), Some(wait(6, 9, 0)));
        assert_eq!(longest.shown(1, wait(5, 9, 0)), None);
    }

    #[test]
    fn of_several_workers_the_longest_is_kept() {
        let line = |workload, blocked| HeadOfLine {
            workload,
            connection: 0,
            wait: wait(blocked, 3, 1),
            streams: Vec::new(),
            elsewhere: Elsewhere::default(),
        };
        let mut known = vec![line(0, 5)];
        append(&mut known, [line(0, 4), line(1, 2), line(1, 3)]);
        assert_eq!(known, [line(0, 5), line(1, 3)]);
    }
}
