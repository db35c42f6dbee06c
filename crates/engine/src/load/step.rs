//! One step of a client's journey: what its request is filled from, and what is taken from the response.

use std::cell::RefCell;

use crate::body::tap::TapStates;
use crate::exchange::h2::pool::OneConnection;
use crate::exchange::redirect::Hop;
use crate::exchange::request::Request;
use crate::journey::program::{CaptureSource, Journeys, Step};
use crate::journey::state::{JourneyState, ValueSource};
use crate::load::plan::Workload;
use crate::outcome::{Failure, Outcome};
use crate::protocol::head::Head;
use crate::record::journeys::HowEnded;
use crate::record::recorder::Recorder;
use crate::record::sample::Sample;
use crate::record::trace::{Trace, Transcript};
use crate::script::SCRIPT_TAP;
use crate::search::missing::Missing;
use crate::spec::{OnCaptureFailed, OnFailure};
use crate::template::slots::Slots;

/// The result of a step's exchange.
pub struct StepResponse {
    pub outcome: Outcome,
    pub head: Option<Box<[u8]>>,
    /// The path of the request, if it is needed.
    pub path: Box<[u8]>,
    /// The URL of the request, if a URL captured from the response may be relative to it.
    pub url: Option<String>,
    pub transcript: Option<Box<Transcript>>,
    /// The response is a redirect, and the client follows it.
    pub redirects: bool,
    /// The response came from the workload's own server.
    pub at_home: bool,
}

pub fn journeys_of(workload: &Workload) -> &Journeys {
    let journeys = workload.journeys.as_ref();
    journeys.expect("only clients of a workload with journeys go on one")
}

/// Returns how the journey ends after a step with this outcome; `None` if it continues.
pub fn ends_with(step: &Step, number: usize, outcome: Outcome) -> Option<HowEnded> {
    let ends = match outcome {
        Outcome::Ok => false,
        Outcome::NeverSent | Outcome::Unfinished => return Some(HowEnded::Unfinished),
        Outcome::CaptureFailed => step.on_capture_failed == OnCaptureFailed::End,
        _ => step.on_failure == OnFailure::End,
    };
    ends.then_some(HowEnded::Failed(number, outcome))
}

/// A client at one step of its journey.
pub struct StepContext<'a> {
    state: &'a RefCell<JourneyState>,
    journeys: &'a Journeys,
    journey: usize,
    /// Number of the step in the journey.
    number: usize,
    /// The connection for all requests of a client that sends several at a time over HTTP/2.
    connection: Option<&'a OneConnection>,
}

impl<'a> StepContext<'a> {
    pub fn new(
        state: &'a RefCell<JourneyState>,
        journeys: &'a Journeys,
        journey: usize,
        number: usize,
        connection: Option<&'a OneConnection>,
    ) -> Self {
        Self {
            state,
            journeys,
            journey,
            number,
            connection,
        }
    }

    pub fn connection(&self) -> Option<&'a OneConnection> {
        self.connection
    }

    pub fn step(&self) -> &Step {
        &self.journeys.programs[self.journey].steps[self.number]
    }

    /// The workload number under which the request is recorded.
    pub fn recorded(&self, workload: &Workload) -> usize {
        let once = self.step().once;
        once.and(workload.once_index).unwrap_or(workload.index)
    }

    /// What the request is filled from.
    pub fn source(&self) -> ValueSource<'a> {
        ValueSource {
            state: self.state,
            journeys: self.journeys,
        }
    }

    /// Whether the step captures a URL from the response.
    pub fn keeps_url(&self) -> bool {
        let mut captures = self.step().captures.iter();
        captures.any(|capture| capture.base.is_some())
    }

    /// Returns the request to make, if it asks for a URL that is known only now.
    pub fn hop(&self, workload: &Workload) -> Option<Result<Hop, Failure>> {
        let redirects = workload.redirects.as_ref()?;
        let Step { request, url, .. } = self.step();
        let state = self.state.borrow();
        let value = |slot| state.slots.get(slot);
        match (url, state.scripted()) {
            (Some(url), _) => {
                let base = url.base.and_then(value);
                let reference = value(url.slot).unwrap_or_default();
                Some(redirects.begin(*request, None, base, reference))
            }
            (None, Some(scripted)) => {
                let reference = scripted.url()?;
                Some(redirects.begin(*request, Some(scripted), None, reference))
            }
            (None, None) => None,
        }
    }

    /// Takes cookies and captures from the response. Returns the outcome under which the request is counted.
    pub fn process(
        &self,
        mut response: StepResponse,
        request: &Request,
        taps: &mut TapStates,
        sample: &mut Sample,
        recorder: &RefCell<Recorder>,
    ) -> Outcome {
        let mut state = self.state.borrow_mut();
        let head = response.head.as_deref().and_then(Head::parse);
        if let Some(head) = &head
            && request.cookies
        {
            let transcript = response.transcript.as_deref_mut();
            let note = transcript.map(|transcript| |note| transcript.notes.push(note));
            match (response.at_home, note) {
                (true, note) => state.take_cookies(self.journeys, head, &response.path, note),
                (false, Some(note)) => state.leave_cookies(head, note),
                (false, None) => {}
            }
        }
        let mut outcome = response.outcome;
        if outcome == Outcome::Ok && !response.redirects {
            let url = response.url.as_deref();
            let missing = self.capture(&mut state.slots, head.as_ref(), url, request, taps);
            if let Some(why) = missing {
                outcome = Outcome::CaptureFailed;
                sample.why = Some(why.into());
            } else if let Some(once) = self.step().once {
                state.slots.set(once, Some(b""));
            }
        }
        if !self.step().captures.is_empty() {
            taps.forget();
        }
        if let Some(mut transcript) = response.transcript {
            transcript.add_head(response.head.as_deref().unwrap_or_default());
            recorder.borrow_mut().trace(Trace {
                workload: sample.workload as u32,
                journey: self.journey as u32,
                step: self.number as u32,
                intended_ns: sample.intended,
                end_ns: sample.end,
                outcome,
                why: sample.why.as_deref().unwrap_or_default().to_owned(),
                transcript: *transcript,
                captured: self.captured(&state.slots),
            });
        }
        if let Some(reply) = state.reply() {
            reply.status = sample.status;
            let whole = matches!(
                outcome,
                Outcome::Ok | Outcome::WrongStatus | Outcome::WrongBody
            );
            if !response.redirects && whole && !request.taps.is_empty() {
                reply.body = Some(taps.kept(&request.taps, SCRIPT_TAP));
            }
            taps.forget();
            reply.head = response.head;
        }
        outcome
    }

    /// Puts what the step captures from a right response into its slots.
    ///
    /// `url` is the URL of the request, if the step captures a URL that may be relative to it. Returns why something is
    /// missing, if that counts.
    fn capture(
        &self,
        slots: &mut Slots,
        head: Option<&Head<'_>>,
        url: Option<&str>,
        request: &Request,
        taps: &mut TapStates,
    ) -> Option<String> {
        let step = self.step();
        let mut why = None;
        for capture in &step.captures {
            let value = match &capture.from {
                CaptureSource::Head(source) => {
                    head.map_or(Err(Missing::Nothing), |head| source.find(head))
                }
                CaptureSource::Tap(number) => taps.kept(&request.taps, *number),
            };
            slots.set(capture.slot, value.as_deref().ok());
            if let Some(base) = capture.base {
                slots.set(base, url.map(str::as_bytes));
            }
            if let Err(missing) = value {
                why.get_or_insert_with(|| {
                    format!("{}: {} {missing}", capture.name, capture.source)
                });
            }
        }
        why.filter(|_| step.on_capture_failed != OnCaptureFailed::Ignore)
    }

    fn captured(&self, slots: &Slots) -> Vec<(String, Vec<u8>)> {
        let captures = self.step().captures.iter();
        let values = captures.filter_map(|capture| {
            let value = slots.get(capture.slot)?;
            Some((capture.name.clone(), value.to_vec()))
        });
        values.collect()
    }
}
