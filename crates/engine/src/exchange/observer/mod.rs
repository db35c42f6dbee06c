//! What a protocol observed of one request. Protocols report it here and in no other way.
//!
//! Here are the request's times and deadlines up to the first bytes of its response; then `response` looks at what
//! comes, `stream` at the events in it, and `ending` says how it ended.

mod ending;
mod response;
mod stream;

use std::cell::RefCell;

use crate::body::coding::Coded;
use crate::body::events::EventParser;
use crate::body::tap::TapStates;
use crate::exchange::redirect::Redirect;
use crate::exchange::request::Request;
use crate::machine::tasks::Task;
use crate::outcome::Outcome;
use crate::record::recorder::Recorder;
use crate::record::sample::{ConnectTimes, Sample};
use crate::record::trace::Transcript;
use crate::spec::TimeoutSpec;

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
    /// Whether the client's code has begun to connect, to wait or to send, so that it is noted when it ran.
    pub started: bool,
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

    /// Notes that the request waits for its connection, for at most `timeout_ns`. Returns when the wait began.
    pub fn begin_waiting(&mut self, timeout_ns: u64) -> u64 {
        let now = self.task.now();
        self.note_started(now);
        self.task.set_deadline(now.saturating_add(timeout_ns));
        now
    }

    /// Notes that its connection had no free stream for it from `start` to now.
    pub fn waited_for_stream(&mut self, start: u64) {
        let waited = self.task.now() - start;
        let mut recorder = self.recorder.borrow_mut();
        recorder.waited_for_stream(self.sample.workload, waited);
    }

    fn note_started(&mut self, now: u64) {
        if !std::mem::replace(&mut self.started, true) {
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
}
