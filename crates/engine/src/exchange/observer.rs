//! What a protocol observed of one request. Protocols report it here and in no other way.

use std::cell::RefCell;

use crate::body::coding::Coded;
use crate::body::event_meaning::{EventStream, Meaning};
use crate::body::events::EventParser;
use crate::body::tap::TapStates;
use crate::body::verify::Verdict;
use crate::exchange::redirect::Redirect;
use crate::exchange::request::Request;
use crate::machine::tasks::Task;
use crate::outcome::{Failure, Outcome};
use crate::protocol::h1::head::HeadValues;
use crate::protocol::head::Head;
use crate::record::recorder::Recorder;
use crate::record::sample::{ConnectTimes, Sample};
use crate::record::trace::Transcript;
use crate::spec::{StreamFormat, TimeoutSpec};
use crate::template::values::path_of;

/// How long a server may take to end the response after its stream is whole, so that the connection can be used again.
const AFTER_END_NS: u64 = 100_000_000;
/// Why a response whose first bytes have come has timed out.
pub const UNENDED: &str = "the response did not end in time";

/// How long a response may take, how large it may be, and whether it may send its client elsewhere.
#[derive(Debug)]
pub struct Limits {
    pub timeouts: TimeoutSpec,
    pub body: Option<u64>,
    /// Whether redirects are followed; otherwise they are responses like any other.
    pub follow: bool,
}

/// Observes one exchange: notes its times, sets its deadlines, shows its response to the taps.
pub struct ExchangeObserver<'a> {
    pub task: &'a Task,
    pub recorder: &'a RefCell<Recorder>,
    pub limits: &'a Limits,
    pub request: &'a Request,
    pub taps: &'a mut TapStates,
    pub sample: &'a mut Sample,
    /// The workload to which the connection belongs.
    pub workload: usize,
    /// When the latest bytes came.
    pub at: u64,
    /// Set if the response is a redirect that is followed.
    pub redirect: Option<Box<Redirect>>,
    /// The head of the response, if something in it is needed.
    pub head: Option<Box<[u8]>>,
    /// The path of the request if it is needed, otherwise empty.
    pub path: Box<[u8]>,
    /// What is sent and received, if the run shows it.
    pub transcript: Option<Box<Transcript>>,
    /// Whether it has been noted when the client's code ran, that is, began to connect, to wait or to send.
    pub ran: bool,
    /// Set for a right response that is a stream of events.
    pub events: Option<Box<EventParser>>,
    /// The body of a response with a content coding, if something looks at it.
    pub coded: Option<Box<Coded>>,
}

impl ExchangeObserver<'_> {
    /// Notes that connecting begins at `start`; returns its deadline.
    pub fn begin_connecting(&mut self, start: u64) -> u64 {
        self.recorder.borrow_mut().connecting(self.workload);
        self.note_started(start);
        self.task.expect_response(start);
        let deadline = start.saturating_add(self.limits.timeouts.connect_ns);
        self.task.set_deadline(deadline);
        deadline
    }

    /// Notes that the request waits for its connection, for at most `most_ns`. Returns when the wait began.
    pub fn begin_waiting(&mut self, most_ns: u64) -> u64 {
        let now = self.task.now();
        self.note_started(now);
        self.task.set_deadline(now.saturating_add(most_ns));
        now
    }

    /// Notes that its connection had no free stream for it from `start` to now.
    pub fn waited_for_stream(&mut self, start: u64) {
        let waited = self.task.now() - start;
        let mut recorder = self.recorder.borrow_mut();
        recorder.waited_for_stream(self.sample.workload, waited);
    }

    fn note_started(&mut self, now: u64) {
        if !std::mem::replace(&mut self.ran, true) {
            self.sample.runs(now);
        }
    }

    /// Notes that the connection is ready for the request.
    pub fn connected(&mut self, times: ConnectTimes) {
        self.task.clear_deadline();
        let mut recorder = self.recorder.borrow_mut();
        recorder.connected(self.workload, &times);
        self.sample.connect = Some(Box::new(times));
    }

    /// Notes why the request has failed; returns its outcome. What comes after an error in its stream is no cause.
    pub fn failed(&mut self, failure: Failure) -> Outcome {
        if let Some(at) = self.stream_failed() {
            self.sample.end = at;
            return Outcome::StreamError;
        }
        self.sample.why = Some(failure.why.into());
        failure.outcome
    }

    /// Like [`Self::failed`], on a connection that may have carried other requests before.
    pub fn failed_on(&mut self, reused: bool, failure: Failure) -> Outcome {
        let answered = self.sample.bytes_in > 0;
        self.failed(failure.if_unseen(reused, answered))
    }

    /// Notes that the first byte of the request is about to be written, unless that is noted already. Returns the
    /// outcome if the run has ended.
    pub fn begin_sending(&mut self) -> Option<Outcome> {
        if self.task.stopping() {
            return Some(self.sample.given_up());
        }
        if self.sample.sent.is_some() {
            return None;
        }
        match self.wait_until_due() {
            Ok(now) => self.note_sent(now),
            Err(outcome) => return Some(outcome),
        }
        None
    }

    /// Waits until the request is due, and prepares for its response. Returns the time; fails with the outcome if the
    /// run has ended. Its deadline counts from when it was first sent, or from now.
    pub fn wait_until_due(&mut self) -> Result<u64, Outcome> {
        let now = self.task.wait_until(self.sample.intended);
        if !self.task.running(now) {
            return Err(self.sample.given_up());
        }
        self.note_started(now);
        self.task.expect_response(now);
        self.await_first_byte(self.sample.sent.unwrap_or(now));
        self.taps.begin(&self.request.taps);
        Ok(now)
    }

    /// Notes that the first byte of the request is written at `now`, perhaps not for the first time.
    pub fn note_sent(&mut self, now: u64) {
        let mut recorder = self.recorder.borrow_mut();
        if self.sample.sent.is_some() {
            recorder.sent_again(self.sample.workload, now);
        } else {
            self.sample.sent = Some(now);
            recorder.sent(self.sample.workload, now);
        }
    }

    /// Notes that the first byte of the request was written at `at`, which is recorded already.
    pub fn note_sent_at(&mut self, at: u64) {
        self.sample.sent = Some(at);
        self.await_first_byte(at);
    }

    fn await_first_byte(&self, sent: u64) {
        let first = self.limits.timeouts.first_byte_ns.unwrap_or(u64::MAX);
        let deadline = sent.saturating_add(first.min(self.total_ns()));
        self.task.set_deadline(deadline);
    }

    /// How long the response may take, from the actual send to its end.
    pub fn total_ns(&self) -> u64 {
        let deadline = self.request.deadline_ns().unwrap_or(u64::MAX);
        deadline.min(self.limits.timeouts.total_ns)
    }

    pub fn note_written(&mut self, bytes: usize) {
        self.sample.bytes_out += bytes as u64;
    }

    /// Notes that bytes of the response have come, or that it ended with the connection (0).
    pub fn note_bytes(&mut self, bytes: usize) {
        self.note_bytes_at(bytes, self.task.now());
    }

    /// Notes bytes of the response that came at `unix_ns` by the kernel's stamp, after the send and all earlier bytes.
    /// If the stamp is not credible, they count as having come now.
    pub fn note_stamped_bytes(&mut self, bytes: usize, unix_ns: u64) {
        let earliest = self.at.max(self.sample.sent.unwrap_or(0));
        let at = self.task.to_run_clock(unix_ns, earliest);
        self.note_bytes_at(bytes, at.unwrap_or_else(|| self.task.now()));
    }

    /// Notes bytes that came at `at`.
    pub fn note_bytes_at(&mut self, bytes: usize, at: u64) {
        self.at = at;
        self.sample.bytes_in += bytes as u64;
    }

    /// Notes that the response has begun, which now has its deadline instead of that of the first byte.
    pub fn begin_response(&mut self) {
        if let (Some(_), Some(sent)) = (self.limits.timeouts.first_byte_ns, self.sample.sent) {
            self.task.set_deadline(sent.saturating_add(self.total_ns()));
        }
    }

    /// Notes the bytes of the request.
    pub fn note_request(&mut self, bytes: &[u8]) {
        self.show(bytes);
        if self.request.reads_path {
            self.path = path_of(bytes).into();
        }
    }

    /// Notes a message over a WebSocket that was opened at `path`.
    pub fn note_message(&mut self, message: &[u8], path: &[u8]) {
        self.show(message);
        if self.request.reads_path {
            self.path = path.into();
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.asked(bytes);
        }
    }

    /// Whether something looks at the response's body.
    pub fn reads_body(&self) -> bool {
        let stream = self.request.stream.as_ref();
        !self.request.taps.is_empty()
            || self.transcript.is_some()
            || stream.is_some_and(EventStream::reads_events)
    }

    /// Whether the content coding of a response over HTTP matters.
    pub fn decodes(&self) -> bool {
        self.reads_body() || self.request.stream.is_some()
    }

    /// Whether the bytes of the response's head are needed.
    pub fn reads_head(&self) -> bool {
        self.request.reads_head || self.transcript.is_some()
    }

    /// Notes the head of the final response, which was in the latest bytes. `bytes`: the whole head, if it is needed.
    pub fn head(&mut self, status: u16, values: HeadValues, bytes: Option<Box<[u8]>>) {
        self.begin_response();
        self.sample.headers = Some(self.at);
        self.sample.status = status;
        self.head = bytes;
        self.redirect = values.location.map(|location| {
            let from = String::new();
            Box::new(Redirect {
                status,
                location,
                from,
            })
        });
        let coding = values
            .coding
            .and_then(|coding| Coded::of(&coding, self.limits.body));
        self.coded = coding.map(Box::new);
        if let Some(stream) = &self.request.stream
            && self.redirect.is_none()
            && self.request.accepts(status)
            && (stream.spec.format != StreamFormat::Sse || is_event_stream(self.head.as_deref()))
        {
            self.events = Some(Box::default());
        }
    }

    /// Notes the whole request after the exchange: a redirect may be relative to its path.
    pub fn note_whole_request(&mut self, request: &[u8]) {
        if let Some(redirect) = &mut self.redirect {
            redirect.from = String::from_utf8_lossy(path_of(request)).into_owned();
        } else if self.sample.status != 0 && !self.request.accepts(self.sample.status) {
            self.recorder.borrow_mut().refused(self.sample, request);
        }
    }

    /// Notes that bytes which belong to no response came after the whole one.
    pub fn excess(&mut self, what: &str) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.excess(self.workload, what);
    }

    /// Takes the next bytes of the body. Returns whether no more of it is needed.
    pub fn body(&mut self, bytes: &[u8]) -> bool {
        let Some(mut coded) = self.coded.take() else {
            return self.decoded(bytes);
        };
        let mut enough = false;
        coded.feed(bytes, &mut |piece| enough |= self.decoded(piece));
        // Of a stream that is left before its end, the rest does not matter.
        self.coded = Some(coded).filter(|_| !enough);
        enough
    }

    /// Takes the next bytes of the body as they are meant.
    fn decoded(&mut self, bytes: &[u8]) -> bool {
        if let Some(transcript) = &mut self.transcript {
            transcript.answered(bytes);
        }
        self.taps.feed(&self.request.taps, bytes);
        self.read_events(bytes)
    }

    /// Returns whether the stream has had as many events as are wanted.
    fn read_events(&mut self, mut bytes: &[u8]) -> bool {
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
    fn stream_failed(&self) -> Option<u64> {
        self.sample.stream.as_ref().and_then(|seen| seen.failed)
    }

    /// Returns why the stream that has ended is incomplete, if it is.
    fn unwhole(&mut self) -> Option<Failure> {
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
            .is_some_and(|parser| parser.is_within());
        let seen = self.sample.stream.as_deref().copied().unwrap_or_default();
        let why = match (&spec.until, spec.events) {
            _ if seen.events == 0 && spec.first.is_some() => {
                "no event of the stream was the first that counts"
            }
            _ if seen.whole.is_some() => return None,
            _ if within && spec.format == StreamFormat::Sse => {
                "the stream ended in the middle of an event: without the blank line behind its data"
            }
            _ if within => "the stream ended in the middle of an event",
            (Some(_), _) => "the stream ended without the text that ends it",
            (None, Some(_)) => "the stream ended before its last event",
            // The status of a call already says that nothing is missing.
            (None, None) if self.request.grpc.is_some() => return None,
            (None, None) if seen.events == 0 => "the stream ended without an event",
            (None, None) => return None,
        };
        Some(Failure::new(Outcome::StreamEnded, why))
    }

    /// Judges a stream that has ended: whether it kept its bounds, and how many tokens it had.
    fn weigh_stream(&mut self) {
        let (Some(stream), Some(seen)) = (&self.request.stream, &mut self.sample.stream) else {
            return;
        };
        let bounds = stream.spec.bounds.as_ref();
        seen.kept_bounds = bounds.is_some_and(|bounds| seen.met(bounds, self.sample.intended));
        seen.tokens = self.events.as_ref().and_then(|parser| parser.tokens);
        seen.lacks_tokens = stream.spec.usage.is_some() && seen.tokens.is_none();
    }

    /// Returns the outcome after the deadline, or after the end of the run (which is accounted for when the request is
    /// recorded).
    pub fn timed_out(&mut self) -> Outcome {
        self.timed_out_within(UNENDED)
    }

    /// Like [`Self::timed_out`]; `unended` says what is missing if bytes of the response have come.
    pub fn timed_out_within(&mut self, unended: &'static str) -> Outcome {
        if let (Some(seen), Some(stream)) = (&self.sample.stream, &self.request.stream) {
            if seen.over().is_some() {
                return self.complete();
            }
            let now = self.task.now();
            let stalled = |stall| now >= seen.last.saturating_add(stall);
            if stream.spec.stall_ns.is_some_and(stalled) {
                let why = "the next event did not come in time";
                return self.failed(Failure::new(Outcome::StreamStalled, why));
            }
        }
        let deadline = self.request.deadline_ns().unwrap_or(u64::MAX);
        let passed = |sent: u64| self.task.now() >= sent.saturating_add(deadline);
        let why = match self.sample.bytes_in {
            _ if self.sample.sent.is_none() => {
                "the server reads so slowly that the request could not be sent in time"
            }
            _ if self.sample.sent.is_some_and(passed) => "the call's deadline has passed",
            0 => "no byte of the response came in time",
            _ => unended,
        };
        self.failed(Failure::new(Outcome::ResponseTimeout, why))
    }

    /// Judges the whole response. A redirect that is followed is not checked; the response to which it leads is.
    pub fn complete(&mut self) -> Outcome {
        let undecodable = self.coded.take().and_then(|coded| coded.end());
        let unwhole = self.unwhole();
        let failure = undecodable.or(unwhole);
        let over = self.sample.stream.as_ref().and_then(|seen| seen.over());
        self.sample.end = over.unwrap_or(self.at);
        let body = self.taps.end(&self.request.taps);
        self.weigh_stream();
        if self.redirect.is_some() {
            return Outcome::Ok;
        }
        if !self.request.accepts(self.sample.status) {
            Outcome::WrongStatus
        } else if self.stream_failed().is_some() {
            Outcome::StreamError
        } else if let Some(failure) = failure {
            self.failed(failure)
        } else {
            match body {
                Verdict::Right => Outcome::Ok,
                Verdict::Wrong(None) => Outcome::WrongBody,
                Verdict::Wrong(Some(why)) => self.failed(Failure::new(Outcome::WrongBody, why)),
            }
        }
    }
}

/// Whether the response has the type of an event stream. Source: WHATWG HTML, section 9.2.3.
fn is_event_stream(head: Option<&[u8]>) -> bool {
    let head = head.and_then(Head::parse);
    let value = head.as_ref().and_then(|head| head.header("content-type"));
    value.is_some_and(|value| {
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(b"text/event-stream")
    })
}
