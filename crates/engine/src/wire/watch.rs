//! What a protocol saw of one request. A protocol tells it here and in no other way.

use std::cell::RefCell;

use crate::record::interval::Outcome;
use crate::record::recorder::Recorder;
use crate::record::sample::{ConnectTimes, Sample};
use crate::record::trace::Transcript;
use crate::scenario::values::path_of;
use crate::seat::Seat;
use crate::spec::TimeoutSpec;
use crate::wire::failure::Failure;
use crate::wire::redirect::Redirect;
use crate::wire::request::Request;
use crate::wire::tap::TapStates;

/// How long an answer may take, how large it may be, and whether it may send its client elsewhere.
#[derive(Debug)]
pub struct Limits {
    pub timeouts: TimeoutSpec,
    pub body: Option<u64>,
    /// Redirects are followed; else they are answers like any other.
    pub follow: bool,
}

/// Watches one request: notes its moments, sets its deadlines, shows its answer to the taps.
pub struct Watch<'a> {
    pub seat: &'a Seat,
    pub recorder: &'a RefCell<Recorder>,
    pub limits: &'a Limits,
    pub request: &'a Request,
    pub taps: &'a mut TapStates,
    pub sample: &'a mut Sample,
    /// The workload whose connection it is.
    pub workload: usize,
    /// When the last bytes came.
    pub at: u64,
    /// The answer sends its client elsewhere, and is followed there.
    pub redirect: Option<Box<Redirect>>,
    /// Of the answer, where something is wanted of it.
    pub head: Option<Box<[u8]>>,
    /// Of the request, where it has cookies.
    pub path: Box<[u8]>,
    /// What is said, where the run shows it.
    pub transcript: Option<Box<Transcript>>,
}

impl Watch<'_> {
    /// A connection is asked for at `start`; gives its deadline.
    pub fn connecting(&mut self, start: u64) -> u64 {
        self.recorder.borrow_mut().connecting(self.workload);
        self.sample.runs(start);
        self.seat.expect_answer(start);
        let deadline = start.saturating_add(self.limits.timeouts.connect_ns);
        self.seat.set_deadline(deadline);
        deadline
    }

    /// An address did not accept, and another one did.
    pub fn passed_over(&mut self, what: &str) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.passed_over(self.workload, what);
    }

    /// The connection is ready for the request.
    pub fn connected(&mut self, times: ConnectTimes) {
        self.seat.clear_deadline();
        let mut recorder = self.recorder.borrow_mut();
        recorder.connected(self.workload, &times);
        self.sample.connect = Some(Box::new(times));
    }

    /// The request has failed.
    pub fn failed(&mut self, failure: Failure) -> Outcome {
        self.sample.why = Some(failure.why.into());
        failure.outcome
    }

    /// The first byte of the request is about to be written, unless it was before. How the request ends, if the run
    /// has ended.
    pub fn sending(&mut self) -> Option<Outcome> {
        if self.seat.stopping() {
            return Some(self.sample.given_up());
        }
        if self.sample.sent.is_some() {
            return None;
        }
        let now = self.seat.wait_until(self.sample.intended);
        if !self.seat.running(now) {
            return Some(Outcome::NeverSent);
        }
        if self.sample.connect.is_none() {
            self.sample.runs(now);
        }
        self.sample.sent = Some(now);
        self.seat.expect_answer(now);
        self.recorder.borrow_mut().sent(self.sample.workload, now);
        let timeouts = &self.limits.timeouts;
        let first = timeouts
            .first_byte_ns
            .unwrap_or(u64::MAX)
            .min(timeouts.total_ns);
        self.seat.set_deadline(now.saturating_add(first));
        self.taps.begin(&self.request.taps);
        None
    }

    pub fn wrote(&mut self, bytes: usize) {
        self.sample.bytes_out += bytes as u64;
    }

    /// So many bytes of the answer have come, or its end with the connection (0).
    pub fn received(&mut self, bytes: usize) {
        self.at = self.seat.now();
        if self.sample.bytes_in == 0
            && let (Some(_), Some(sent)) = (self.limits.timeouts.first_byte_ns, self.sample.sent)
        {
            let total = sent.saturating_add(self.limits.timeouts.total_ns);
            self.seat.set_deadline(total);
        }
        self.sample.bytes_in += bytes as u64;
    }

    /// These are the bytes of the request.
    pub fn asking(&mut self, bytes: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.asked(bytes);
        }
        if self.request.cookies {
            self.path = path_of(bytes).into();
        }
    }

    /// Whether the bytes of the answer's head are wanted.
    pub fn reads_head(&self) -> bool {
        self.request.reads_head || self.transcript.is_some()
    }

    /// The head was in what has come. `location`: where it sends its client, if redirects are followed. `bytes`: the
    /// whole head, if it is wanted.
    pub fn head(&mut self, status: u16, location: Option<Box<[u8]>>, bytes: Option<Box<[u8]>>) {
        self.sample.headers = Some(self.at);
        self.sample.status = status;
        self.head = bytes;
        self.redirect = location.map(|location| {
            let from = String::new();
            Box::new(Redirect {
                status,
                location,
                from,
            })
        });
    }

    /// The exchange is over, and this was the whole request.
    pub fn sent(&mut self, request: &[u8]) {
        if let Some(redirect) = &mut self.redirect {
            redirect.from = String::from_utf8_lossy(path_of(request)).into_owned();
        }
    }

    /// After the whole answer came bytes that belong to none.
    pub fn excess(&mut self, what: &str) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.excess(self.workload, what);
    }

    pub fn body(&mut self, bytes: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.answered(bytes);
        }
        self.taps.feed(&self.request.taps, bytes);
    }

    /// The deadline has passed, or the run has ended (then it is counted so when the request is recorded).
    pub fn timed_out(&mut self) -> Outcome {
        let why = match self.sample.bytes_in {
            0 => "no byte of the answer came in time",
            _ => "the answer did not end in time",
        };
        self.failed(Failure::new(Outcome::ResponseTimeout, why))
    }

    /// The answer is whole: was it the right one? A redirect that is followed need not be: the answer at its end is.
    pub fn complete(&mut self) -> Outcome {
        self.sample.end = self.at;
        let right_body = self.taps.end(&self.request.taps);
        if self.redirect.is_some() {
            return Outcome::Ok;
        }
        if !self.request.accepts(self.sample.status) {
            Outcome::WrongStatus
        } else if right_body {
            Outcome::Ok
        } else {
            Outcome::WrongBody
        }
    }
}
