//! Head-of-line blocking: streams of one HTTP/2 connection that waited for one another.

/// Whoever waited for less than this is of no interest.
pub const SHORTEST_NS: u64 = 1_000_000;

/// One stream of a connection. Times are nanoseconds from the start of the run; 0: it has not happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamTimes {
    /// Its number on the connection.
    pub stream: u32,
    pub request: u32,
    /// It would have been sent, had there been a free stream.
    pub ready_ns: u64,
    pub sent_ns: u64,
    /// The head of its answer came.
    pub head_ns: u64,
    pub end_ns: u64,
    pub bytes: u64,
}

/// What one stream waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// For a free stream, and while the answer of `behind` came.
    pub blocked_ns: u64,
    pub stream: u32,
    pub request: u32,
    /// The stream whose answer came for the longest time meanwhile; 0: none did.
    pub behind: u32,
    pub from_ns: u64,
    pub until_ns: u64,
}

/// The longest wait of a workload within an interval, and the streams of that connection around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadOfLine {
    pub workload: u32,
    /// Its place among those of its worker.
    pub connection: u32,
    pub wait: Wait,
    /// In the order in which they were ready; those still open have no end.
    pub streams: Vec<StreamTimes>,
    pub elsewhere: Elsewhere,
}

/// The same request on the worker's other connections, sent and answered while the stream waited; of each connection
/// the latest are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Elsewhere {
    pub connections: u32,
    pub answers: u32,
    /// From the send to the head of the answer.
    pub median_ns: u64,
}

/// Keeps the longest of each workload; of equal ones the later, which is the more complete.
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
pub struct Longest(Option<(u32, Wait)>);

impl Longest {
    /// What the picture of this wait shows: itself if it is longer than all before; the longest one, more completely, if
    /// it was behind the same stream.
    pub fn shown(&mut self, connection: u32, wait: Wait) -> Option<Wait> {
        match &self.0 {
            Some((known, longest)) if longest.blocked_ns >= wait.blocked_ns => {
                let same = *known == connection && longest.behind == wait.behind;
                return (same && wait.behind > 0).then_some(*longest);
            }
            _ => self.0 = Some((connection, wait)),
        }
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(blocked_ns: u64, stream: u32, behind: u32) -> Wait {
        Wait {
            blocked_ns,
            stream,
            request: 0,
            behind,
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
