//! The latest streams of a connection that several clients share, and which of them waited for which.

use crate::record::head_of_line::{MIN_NS, StreamTimes, Wait};

/// How many streams of a connection are remembered.
pub const MAX_STREAMS: usize = 128;

#[derive(Debug, Default)]
pub struct History {
    /// The connection's number among all that its pool has opened.
    pub connection: u64,
    /// Used as a ring once it is full.
    latest: Vec<StreamTimes>,
    begun: u64,
    /// How many streams are receiving their responses now.
    arriving: u64,
    /// When the last response ended that had taken at least [`MIN_NS`] to come.
    arrived_until_ns: u64,
}

/// A place in the history; its stream is forgotten after [`MAX_STREAMS`] others.
#[derive(Debug, Clone, Copy)]
pub struct Entry(u64);

impl History {
    /// Adds a stream for this request, before it is sent.
    pub fn begin(&mut self, request: u32) -> Entry {
        let times = StreamTimes {
            request,
            ..StreamTimes::default()
        };
        let entry = Entry(self.begun);
        self.begun += 1;
        if self.latest.len() < MAX_STREAMS {
            self.latest.push(times);
        } else {
            self.latest[entry.slot()] = times;
        }
        entry
    }

    /// The request has to wait for a free stream.
    pub fn note_wait(&mut self, entry: Entry, now: u64) {
        if let Some(times) = self.get(entry) {
            times.ready_ns = now;
        }
    }

    pub fn note_sent(&mut self, entry: Entry, stream: u32, now: u64) {
        if let Some(times) = self.get(entry) {
            (times.stream, times.sent_ns) = (stream, now);
            if times.ready_ns == 0 {
                times.ready_ns = now;
            }
        }
    }

    /// The head of the response has come, and its body follows.
    pub fn note_head(&mut self, entry: Entry, now: u64) {
        self.arriving += 1;
        if let Some(times) = self.get(entry) {
            times.head_ns = now;
        }
    }

    /// The stream is over; `answered` says whether [`History::note_head`] was called for it. Returns what it waited for,
    /// if that took long.
    pub fn end(&mut self, entry: Entry, answered: bool, now: u64, bytes: u64) -> Option<Wait> {
        self.arriving -= u64::from(answered);
        let times = self.get(entry)?;
        (times.end_ns, times.bytes) = (now, bytes);
        let times = *times;
        if answered && now >= times.head_ns + MIN_NS {
            self.arrived_until_ns = self.arrived_until_ns.max(now);
        }
        self.wait(&times)
    }

    /// What a stream that has ended waited for.
    fn wait(&self, times: &StreamTimes) -> Option<Wait> {
        let sent_ns = if times.sent_ns > 0 {
            times.sent_ns
        } else {
            times.end_ns
        };
        let first_ns = if times.head_ns > 0 {
            times.head_ns
        } else {
            times.end_ns
        };
        let queued_ns = sent_ns.saturating_sub(times.ready_ns);
        let beside_others = self.arriving > 0 || self.arrived_until_ns > sent_ns;
        let response_ns = first_ns.saturating_sub(sent_ns);
        if queued_ns < MIN_NS && (response_ns < MIN_NS || !beside_others) {
            return None;
        }
        let others = self
            .latest
            .iter()
            .filter(|other| other.stream != times.stream);
        let waits = others.map(|other| (arriving_ns(other, sent_ns, first_ns), other));
        let longest = waits.max_by_key(|(ns, _)| *ns).filter(|(ns, _)| *ns > 0);
        let (waited_for_ns, blocker) = longest.map_or((0, 0), |(ns, other)| (ns, other.stream));
        let blocked_ns = queued_ns + waited_for_ns;
        (blocked_ns >= MIN_NS).then_some(Wait {
            blocked_ns,
            stream: times.stream,
            request: times.request,
            blocker,
            from_ns: times.ready_ns,
            until_ns: first_ns,
        })
    }

    /// The streams that existed at any time since the wait began, or since the stream that was waited for was sent, if
    /// that was earlier.
    pub fn around(&self, wait: &Wait) -> Vec<StreamTimes> {
        let begin = self
            .latest
            .iter()
            .find(|one| wait.blocker > 0 && one.stream == wait.blocker);
        let from_ns = begin.map_or(wait.from_ns, |one| one.sent_ns.min(wait.from_ns));
        let existed =
            |one: &&StreamTimes| one.ready_ns > 0 && (one.end_ns == 0 || one.end_ns >= from_ns);
        let mut streams: Vec<_> = self.latest.iter().filter(existed).copied().collect();
        streams.sort_by_key(|one| (one.ready_ns, one.sent_ns, one.stream));
        streams
    }

    /// The times from the send of the same request to the head of its response, where both happened during the wait.
    pub fn responses_within(&self, wait: Wait) -> impl Iterator<Item = u64> {
        let is_comparable = move |one: &&StreamTimes| {
            one.request == wait.request
                && one.sent_ns >= wait.from_ns
                && one.head_ns > 0
                && one.head_ns <= wait.until_ns
        };
        self.latest
            .iter()
            .filter(is_comparable)
            .map(|one| one.head_ns - one.sent_ns)
    }

    fn get(&mut self, entry: Entry) -> Option<&mut StreamTimes> {
        let is_kept = self.begun - entry.0 <= MAX_STREAMS as u64;
        is_kept.then(|| &mut self.latest[entry.slot()])
    }
}

impl Entry {
    fn slot(self) -> usize {
        self.0 as usize % MAX_STREAMS
    }
}

/// For how long the response of a stream was arriving between two moments.
fn arriving_ns(times: &StreamTimes, from_ns: u64, until_ns: u64) -> u64 {
    if times.head_ns == 0 {
        return 0;
    }
    let end_ns = if times.end_ns == 0 {
        until_ns
    } else {
        times.end_ns
    };
    end_ns
        .min(until_ns)
        .saturating_sub(times.head_ns.max(from_ns))
}

#[cfg(test)]
mod tests;
