//! The messages of one call that are sent at an interval, and the responses to them.

use crate::protocol::grpc::frames;

/// The schedule of a call's messages. Each is due at its own time, whether or not those before it have left, so that a
/// delay of one does not shift the others.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// When the first message is due, in ns since the start of the run.
    first_due: u64,
    interval_ns: u64,
    /// Whether each message has a response of its own; if not, there is one response to the whole call.
    one_response_each: bool,
    /// How many messages have become due.
    due: u64,
    /// How many bytes these messages have in all.
    due_bytes: usize,
    /// How many messages of the response are complete.
    responses: u64,
}

impl Pace {
    pub fn new(first_due: u64, interval_ns: u64, one_response_each: bool) -> Self {
        Self {
            first_due,
            interval_ns,
            one_response_each,
            due: 0,
            due_bytes: 0,
            responses: 0,
        }
    }

    /// How many bytes of the messages in `body` are due at `now`.
    pub fn advance(&mut self, body: &[u8], now: u64) -> usize {
        while now >= self.due_time(self.due)
            && let Some(length) = frames::first(&body[self.due_bytes..])
        {
            self.due += 1;
            self.due_bytes += length;
        }
        self.due_bytes
    }

    /// When the next message is due.
    pub fn next_due(&self) -> u64 {
        self.due_time(self.due)
    }

    fn due_time(&self, message: u64) -> u64 {
        self.first_due
            .saturating_add(self.interval_ns.saturating_mul(message))
    }

    /// Takes note that `responses` messages of the response are complete. Returns for each new one when the message
    /// that it answers was due; `None` if it answers none.
    pub fn note_responses(&mut self, responses: u64) -> impl Iterator<Item = Option<u64>> + use<> {
        let before = if self.one_response_each {
            self.responses
        } else {
            responses
        };
        self.responses = responses;
        let pace = *self;
        (before..responses).map(move |message| (message < pace.due).then(|| pace.due_time(message)))
    }

    /// How many messages were due and have no response.
    pub fn unanswered(&self) -> u64 {
        if self.one_response_each {
            self.due.saturating_sub(self.responses)
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_due_at_its_own_time() {
        let mut body = Vec::new();
        for message in [&b"abc"[..], b"", b"de"] {
            frames::write(message, &mut body);
        }
        let mut pace = Pace::new(100, 20, true);
        assert_eq!(pace.advance(&body, 99), 0);
        assert_eq!((pace.advance(&body, 100), pace.next_due()), (8, 120));
        assert_eq!((pace.advance(&body, 119), pace.unanswered()), (8, 1));
        assert_eq!(
            pace.advance(&body, 500),
            body.len(),
            "what is late leaves at once"
        );
        assert_eq!(pace.unanswered(), 3);
        assert_eq!(Pace::new(0, 20, false).unanswered(), 0);
    }
}
