//! How an observed request ends: judged, failed or timed out.

use crate::body::verify::Verdict;
use crate::exchange::observer::{ExchangeObserver, UNENDED};
use crate::outcome::{Failure, Outcome};

impl ExchangeObserver<'_> {
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
