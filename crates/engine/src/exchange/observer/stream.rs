//! The events of an observed response, if it is a stream of them: their times, and what they mean.

use crate::body::event_meaning::Meaning;
use crate::exchange::observer::ExchangeObserver;
use crate::outcome::{Failure, Outcome};
use crate::spec::StreamFormat;

/// How long a server may take to end the response after its stream is whole, so that the connection can be used again.
const AFTER_END_NS: u64 = 100_000_000;

impl ExchangeObserver<'_> {
    /// Returns whether the stream has had as many events as are wanted.
    pub(super) fn read_events(&mut self, mut bytes: &[u8]) -> bool {
        let (Some(mut parser), Some(stream)) = (self.events.take(), &self.request.stream) else {
            return false;
        };
        let mut enough = false;
        while !enough && let Some(found) = parser.next(stream, &mut bytes) {
            enough = self.found(found);
        }
        self.events = Some(parser);
        self.await_event();
        enough
    }

    /// Ends a message of the response. Returns whether it was the last one that is wanted.
    pub fn message(&mut self) -> bool {
        let (Some(parser), Some(stream)) = (&mut self.events, &self.request.stream) else {
            return true;
        };
        let found = parser.message(stream);
        self.found(found);
        self.await_event();
        let seen = self.sample.stream.as_ref();
        seen.is_some_and(|seen| seen.over().is_some())
    }

    /// Notes that the message that was due at `due` has its response.
    pub fn round_trip(&mut self, due: u64) {
        let ns = self.at.saturating_sub(due);
        let stream = self.request.stream.as_ref();
        let bounds = stream.and_then(|stream| stream.spec.bounds);
        if let Some(seen) = &mut self.sample.stream {
            let late = bounds.and_then(|bounds| bounds.round_trip_ns);
            seen.round_trips += 1;
            seen.late_round_trips += u64::from(late.is_some_and(|late| ns >= late));
        }
        let mut recorder = self.recorder.borrow_mut();
        recorder.round_trip(self.sample, self.at, ns);
    }

    /// Notes messages that have no response and will not get one.
    pub fn unanswered(&mut self, messages: u64) {
        if messages > 0 {
            let mut recorder = self.recorder.borrow_mut();
            recorder.unanswered(self.sample, self.task.now(), messages);
        }
    }

    /// Sets the deadline that the next event, or the end of the response, may have of its own.
    fn await_event(&self) {
        let (Some(seen), Some(stream)) = (&self.sample.stream, &self.request.stream) else {
            return;
        };
        // Counted from the event itself: other bytes, such as comments, do not make a stream any less stalled.
        let (from, wait) = match (seen.over(), stream.spec.stall_ns) {
            (Some(over), _) => (over, AFTER_END_NS),
            (None, Some(stall)) => (seen.last, stall),
            (None, None) => return,
        };
        let total = self.sample.sent.unwrap_or(0);
        let total = total.saturating_add(self.total_ns());
        self.task.set_deadline(total.min(from.saturating_add(wait)));
    }

    /// Notes what was found in the stream. Returns whether it is the last event that is wanted.
    fn found(&mut self, found: Meaning) -> bool {
        let Some(stream) = &self.request.stream else {
            return false;
        };
        if found == Meaning::Preliminary {
            return false;
        }
        let mut seen = self.sample.stream.take().unwrap_or_default();
        let mut enough = false;
        if seen.over().is_none() {
            match found {
                Meaning::Event => {
                    let gap = seen.event(self.at);
                    let late = stream.spec.bounds.and_then(|bounds| bounds.gap_ns);
                    seen.late += u64::from(late.is_some() && gap >= late);
                    enough = stream.spec.events == Some(seen.events);
                    seen.whole = enough.then_some(self.at);
                    self.recorder.borrow_mut().event(self.sample, &seen, gap);
                }
                Meaning::End => seen.whole = Some(self.at),
                Meaning::Error(text) => {
                    seen.failed = Some(self.at);
                    self.sample.why = Some(text.into());
                }
                Meaning::Preliminary => {}
            }
        }
        self.sample.stream = Some(seen);
        enough
    }

    /// When an event of the stream was an error, if one was.
    pub(super) fn stream_failed(&self) -> Option<u64> {
        self.sample.stream.as_ref().and_then(|seen| seen.failed)
    }

    /// Returns why the stream that has ended is incomplete, if it is.
    pub(super) fn unwhole(&mut self) -> Option<Failure> {
        let stream = self.request.stream.as_ref()?;
        let spec = &stream.spec;
        if self.events.is_none() {
            let why = "the response's Content-Type is not text/event-stream";
            return Some(Failure::new(Outcome::NoStream, why));
        }
        if let Some(parser) = &mut self.events
            && let Some(found) = parser.end(stream)
        {
            self.found(found);
        }
        let within = self
            .events
            .as_ref()
            .is_some_and(|parser| parser.is_incomplete());
        let seen = self.sample.stream.as_deref().copied().unwrap_or_default();
        let why = match (&spec.until, spec.events) {
            _ if seen.events == 0 && spec.first.is_some() => {
                "no event of the stream was the first that counts"
            }
            _ if seen.whole.is_some() => return None,
            _ if within && spec.format == StreamFormat::Sse => {
                "the stream ended in the middle of an event: without the blank line after its data"
            }
            _ if within => "the stream ended in the middle of an event",
            (Some(_), _) => "the stream ended without the text that ends it",
            (None, Some(_)) => "the stream ended before its last event",
            // The status of a call already says that nothing is missing.
            (None, None) if self.request.grpc().is_some() => return None,
            (None, None) if seen.events == 0 => "the stream ended without an event",
            (None, None) => return None,
        };
        Some(Failure::new(Outcome::StreamEnded, why))
    }

    /// Judges a stream that has ended: whether it kept its bounds, and how many tokens it had.
    pub(super) fn weigh_stream(&mut self) {
        let (Some(stream), Some(seen)) = (&self.request.stream, &mut self.sample.stream) else {
            return;
        };
        let bounds = stream.spec.bounds.as_ref();
        seen.kept_bounds = bounds.is_some_and(|bounds| seen.met(bounds, self.sample.intended));
        seen.tokens = self.events.as_ref().and_then(|parser| parser.tokens);
        seen.lacks_tokens = stream.spec.usage.is_some() && seen.tokens.is_none();
    }
}
