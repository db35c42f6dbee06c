//! A client's way through a journey, and what it does with each answer.

use std::cell::RefCell;

use crate::load::client::{Answer, Client, Job};
use crate::load::together::{Done, Group, Visitor, together};
use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::record::journeys::{HowEnded, JourneySample};
use crate::record::recorder::Recorder;
use crate::record::sample::Sample;
use crate::record::trace::Trace;
use crate::scenario::capture::Missing;
use crate::scenario::head::Head;
use crate::scenario::program::{From, Journeys, Step};
use crate::scenario::script::SCRIPT_TAP;
use crate::scenario::slots::Slots;
use crate::scenario::traveller::{Next, Source, Traveller};
use crate::schedule::random::Stream;
use crate::spec::{OnCaptureFailed, OnFailure};
use crate::wire::failure::Failure;
use crate::wire::h2::OneConnection;
use crate::wire::redirect::Hop;
use crate::wire::request::Request;
use crate::wire::tap::TapStates;

/// If a script computes for longer than this while a request is due, the delay counts as the generator's lateness.
const COMPUTING_NS: u64 = 1_000_000;

/// When a journey is to begin.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// Whether its first request was counted when it became due.
    pub counted: bool,
}

/// How a journey went.
#[derive(Debug, Clone, Copy)]
pub struct Went {
    /// When its last answer ended.
    pub ended: u64,
    /// When the client is free again: after the pause that follows the last step.
    pub free: u64,
    /// The outcome of its last request.
    pub outcome: Outcome,
}

/// Goes on one journey, from its intended start to its end and its record.
///
/// `None` if the client has to go: the run has ended, or the client is no longer `wanted` (whoever changes that must
/// wake it).
///
/// Every client holds this future, so it is kept small: it is not an async fn, which would hold its arguments twice,
/// its numbers are narrow, and what is cheap to look up again is not kept across an await.
#[expect(
    clippy::too_many_lines,
    reason = "one loop; what is awaited elsewhere takes room in every client"
)]
pub fn travel<'a>(
    client: &'a mut Client,
    visitor: &'a mut Visitor,
    journey: usize,
    start: Start,
    random: &'a mut Stream,
    wanted: impl Fn() -> bool + 'a,
) -> impl Future<Output = Option<Went>> + 'a {
    let Start {
        mut intended,
        mut ran,
        mut counted,
    } = start;
    let begun = intended;
    let journey = journey as u32;
    async move {
        let shared = client.shared().clone();
        let (mut ended, mut paused) = (begun, 0);
        let mut outcome = Outcome::Ok;
        let mut requests: u32 = 0;
        let how = loop {
            let step = {
                let journeys = journeys_of(&shared.plan.workloads[client.workload()]);
                let program = &journeys.programs[journey as usize];
                let script = program.script.is_some();
                // A script may never end by itself.
                if script && requests > 0 && !wanted() {
                    break HowEnded::Unfinished;
                }
                let mut traveller = visitor.traveller.borrow_mut();
                let next = traveller.next(journeys, program, shared.scripts.as_ref(), random);
                if script && ran.is_none() {
                    let now = shared.clock.now();
                    ran = (now > intended + COMPUTING_NS).then_some(now);
                }
                match next {
                    Next::Step(number) => Some(number as u32),
                    Next::Pause(ns) => {
                        (intended, ran) = (intended + ns, None);
                        None
                    }
                    Next::End => break HowEnded::Completed,
                    Next::Failed(number, why) if requests > 0 => {
                        let now = shared.clock.now();
                        if !shared.seats.running(now) {
                            break HowEnded::Unfinished;
                        }
                        script_failed(client, journey, number, now, &why);
                        break HowEnded::Failed(number, Outcome::ScriptFailed);
                    }
                    Next::Failed(number, why) => {
                        if !counted {
                            let now = shared.clock.now();
                            shared.recorder.borrow_mut().due(client.workload(), now);
                        }
                        outcome = unsent(client, journey, number, intended, Some(why));
                        break script_ended(number, outcome);
                    }
                }
            };
            // A request that is not due yet is waited for, as is the end of a script's pause.
            if ran.is_none() && (step.is_none() || (requests > 0 && intended > ended)) {
                ran = client.sleep_until(intended, &wanted).await;
                if ran.is_none() {
                    if counted {
                        unsent(client, journey, 0, begun, None);
                    }
                    break HowEnded::Unfinished;
                }
            }
            let Some(number) = step else { continue };
            let now = ran.unwrap_or(intended);
            if !counted && !shared.seats.running(now) {
                client.seat.until_stop().await;
                break HowEnded::Unfinished;
            }
            let done = if step_of(client, journey, number).together > 1 {
                let sending = {
                    let group = Group {
                        journey: journey as usize,
                        first: number as usize,
                        intended,
                        ran,
                        counted,
                    };
                    together(client, visitor, group, random)
                };
                let Some(done) = sending.await else {
                    continue;
                };
                counted = false;
                done
            } else {
                let performed = {
                    let workload = &shared.plan.workloads[client.workload()];
                    let visit = Visit::new(
                        &visitor.traveller,
                        journeys_of(workload),
                        journey as usize,
                        number as usize,
                        visitor.lanes.connection(),
                    );
                    if !std::mem::take(&mut counted) {
                        let recorded = visit.recorded(workload);
                        shared.recorder.borrow_mut().due(recorded, now);
                    }
                    let job = Job {
                        request: visit.step().request,
                        intended,
                        ran,
                        last: visit.step().close,
                    };
                    client.perform(job, random, Some(visit))
                };
                let done = performed.await;
                visitor.traveller.borrow_mut().ended(done.outcome);
                let step = step_of(client, journey, number);
                Done {
                    at: done.at,
                    free: done.free,
                    outcome: done.outcome,
                    how: ends_with(step, number as usize, done.outcome),
                }
            };
            paused += intended - ended;
            requests += 1;
            (ended, outcome) = (done.at, done.outcome);
            if let Some(how) = done.how {
                intended = done.free;
                break how;
            }
            let together = step_of(client, journey, number).together;
            let last = step_of(client, journey, number + together.max(1) as u32 - 1);
            let pause = visitor.traveller.borrow_mut().pause(last, random);
            (intended, ran) = (done.free + pause, None);
        };
        let over = match how {
            HowEnded::Unfinished if shared.seats.stopping() => shared.last_moment(),
            HowEnded::Unfinished => shared.clock.now(),
            _ => ended,
        };
        shared.recorder.borrow_mut().journey_ended(&JourneySample {
            workload: client.workload(),
            journey: journey as usize,
            intended: begun,
            end: over,
            paused,
            how,
        });
        (how != HowEnded::Unfinished).then_some(Went {
            ended,
            free: intended,
            outcome,
        })
    }
}

/// Records why a script failed after a request that has been counted already.
fn script_failed(client: &Client, journey: u32, step: usize, now: u64, why: &str) {
    let shared = client.shared();
    let workload = &shared.plan.workloads[client.workload()];
    let request = step_of(client, journey, step as u32).request;
    shared.recorder.borrow_mut().script_failed(
        workload.index,
        request,
        workload.phase_at(now),
        now,
        why,
    );
}

/// Returns how a journey ends whose script failed before its first request: unfinished if the run ended before.
fn script_ended(step: usize, outcome: Outcome) -> HowEnded {
    match outcome {
        Outcome::ScriptFailed => HowEnded::Failed(step, outcome),
        _ => HowEnded::Unfinished,
    }
}

/// Records a request that is never made, because its script has failed or the run ends before.
///
/// Returns the outcome under which it is counted.
fn unsent(
    client: &Client,
    journey: u32,
    step: usize,
    intended: u64,
    why: Option<String>,
) -> Outcome {
    let request = step_of(client, journey, step as u32).request;
    client.never_made(request, intended, why)
}

fn step_of(client: &Client, journey: u32, number: u32) -> &Step {
    let journeys = journeys_of(&client.shared().plan.workloads[client.workload()]);
    &journeys.programs[journey as usize].steps[number as usize]
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
pub struct Visit<'a> {
    traveller: &'a RefCell<Traveller>,
    journeys: &'a Journeys,
    journey: usize,
    /// Number of the step in the journey.
    number: usize,
    /// The connection for all requests of a client that sends several at a time over HTTP/2.
    connection: Option<&'a OneConnection>,
}

impl<'a> Visit<'a> {
    pub fn new(
        traveller: &'a RefCell<Traveller>,
        journeys: &'a Journeys,
        journey: usize,
        number: usize,
        connection: Option<&'a OneConnection>,
    ) -> Self {
        Self {
            traveller,
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
        once.and(workload.apart).unwrap_or(workload.index)
    }

    /// What the request is filled from.
    pub fn source(&self) -> Source<'a> {
        Source {
            traveller: self.traveller,
            journeys: self.journeys,
        }
    }

    /// Whether the step captures a URL from the answer.
    pub fn keeps_url(&self) -> bool {
        let mut captures = self.step().captures.iter();
        captures.any(|capture| capture.base.is_some())
    }

    /// Returns the request to make, if it asks for a URL that is known only now.
    pub fn hop(&self, workload: &Workload) -> Option<Result<Hop, Failure>> {
        let redirects = workload.redirects.as_ref()?;
        let Step { request, url, .. } = self.step();
        let traveller = self.traveller.borrow();
        let value = |slot| traveller.slots.get(slot);
        match (url, traveller.asked()) {
            (Some(url), _) => {
                let base = url.base.and_then(value);
                let reference = value(url.slot).unwrap_or_default();
                Some(redirects.begin(*request, None, base, reference))
            }
            (None, Some(asked)) => {
                let reference = asked.url()?;
                Some(redirects.begin(*request, Some(asked), None, reference))
            }
            (None, None) => None,
        }
    }

    /// Takes cookies and captures from the answer. Returns the outcome under which the request is counted.
    pub fn take_in(
        &self,
        mut answer: Answer,
        request: &Request,
        taps: &mut TapStates,
        sample: &mut Sample,
        recorder: &RefCell<Recorder>,
    ) -> Outcome {
        let mut traveller = self.traveller.borrow_mut();
        let head = answer.head.as_deref().and_then(Head::parse);
        if let Some(head) = &head
            && request.cookies
        {
            let transcript = answer.transcript.as_deref_mut();
            let note = transcript.map(|transcript| |note| transcript.notes.push(note));
            match (answer.at_home, note) {
                (true, note) => traveller.take_cookies(self.journeys, head, &answer.path, note),
                (false, Some(note)) => traveller.leave_cookies(head, note),
                (false, None) => {}
            }
        }
        let mut outcome = answer.outcome;
        if outcome == Outcome::Ok && !answer.redirects {
            let url = answer.url.as_deref();
            let found = self.capture(&mut traveller.slots, head.as_ref(), url, request, taps);
            if let Some(why) = found {
                outcome = Outcome::CaptureFailed;
                sample.why = Some(why.into());
            } else if let Some(once) = self.step().once {
                traveller.slots.set(once, Some(b""));
            }
        }
        if !self.step().captures.is_empty() {
            taps.forget();
        }
        if let Some(mut transcript) = answer.transcript {
            transcript.head(answer.head.as_deref().unwrap_or_default());
            recorder.borrow_mut().trace(Trace {
                workload: sample.workload as u32,
                journey: self.journey as u32,
                step: self.number as u32,
                intended_ns: sample.intended,
                end_ns: sample.end,
                outcome,
                why: sample.why.as_deref().unwrap_or_default().to_owned(),
                transcript: *transcript,
                captured: self.captured(&traveller.slots),
            });
        }
        if let Some(reply) = traveller.reply() {
            reply.status = sample.status;
            let whole = matches!(
                outcome,
                Outcome::Ok | Outcome::WrongStatus | Outcome::WrongBody
            );
            if !answer.redirects && whole && !request.taps.is_empty() {
                reply.body = Some(taps.kept(&request.taps, SCRIPT_TAP));
            }
            taps.forget();
            reply.head = answer.head;
        }
        outcome
    }

    /// Puts what the step captures from a right answer into its slots.
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
            let found = match &capture.from {
                From::Head(source) => head.map_or(Err(Missing::Nothing), |head| source.find(head)),
                From::Tap(number) => taps.kept(&request.taps, *number),
            };
            slots.set(capture.slot, found.as_deref().ok());
            if let Some(base) = capture.base {
                slots.set(base, url.map(str::as_bytes));
            }
            if let Err(missing) = found {
                why.get_or_insert_with(|| {
                    format!("{}: {} {missing}", capture.name, capture.source)
                });
            }
        }
        why.filter(|_| step.on_capture_failed != OnCaptureFailed::Ignore)
    }

    fn captured(&self, slots: &Slots) -> Vec<(String, Vec<u8>)> {
        let captures = self.step().captures.iter();
        let known = captures.filter_map(|capture| {
            let value = slots.get(capture.slot)?;
            Some((capture.name.clone(), value.to_vec()))
        });
        known.collect()
    }
}
