//! A client's way through a journey.

use crate::journey::program::Step;
use crate::load::client::{Client, Job};
use crate::load::parallel::{Group, JourneyClient, StepEnd, send_together};
use crate::load::step::{StepContext, ends_with, journeys_of};
use crate::outcome::Outcome;
use crate::record::journeys::{HowEnded, JourneySample};
use crate::schedule::random::Rng;
use crate::script::reply::Next;

/// If a script computes for longer than this while a request is due, the delay counts as the generator's lateness.
const COMPUTING_NS: u64 = 1_000_000;

/// When a journey is to begin.
#[derive(Debug, Clone, Copy)]
pub struct JourneyStart {
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// Whether its first request was counted when it became due.
    pub counted: bool,
}

/// How a journey went.
#[derive(Debug, Clone, Copy)]
pub struct JourneyEnd {
    /// When its last response ended.
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
pub fn run_journey<'a>(
    client: &'a mut Client,
    journey_client: &'a mut JourneyClient,
    journey: usize,
    start: JourneyStart,
    random: &'a mut Rng,
    wanted: impl Fn() -> bool + 'a,
) -> impl Future<Output = Option<JourneyEnd>> + 'a {
    let JourneyStart {
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
                let mut state = journey_client.state.borrow_mut();
                let next = state.next(journeys, program, shared.scripts.as_ref(), random);
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
                        if !shared.tasks.running(now) {
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
            if !counted && !shared.tasks.running(now) {
                client.task.until_stop().await;
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
                    send_together(client, journey_client, group, random)
                };
                let Some(done) = sending.await else {
                    continue;
                };
                counted = false;
                done
            } else {
                let performed = {
                    let workload = &shared.plan.workloads[client.workload()];
                    let context = StepContext::new(
                        &journey_client.state,
                        journeys_of(workload),
                        journey as usize,
                        number as usize,
                        journey_client.parallel.http2().map(|http2| &**http2),
                    );
                    if !std::mem::take(&mut counted) {
                        let recorded = context.recorded(workload);
                        shared.recorder.borrow_mut().due(recorded, now);
                    }
                    let job = Job {
                        request: context.step().request,
                        intended,
                        ran,
                        last: context.step().close,
                    };
                    client.perform(job, random, Some(context))
                };
                let done = performed.await;
                journey_client.state.borrow_mut().ended(done.outcome);
                let step = step_of(client, journey, number);
                StepEnd {
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
            let pause = journey_client.state.borrow_mut().pause(last, random);
            (intended, ran) = (done.free + pause, None);
        };
        let over = match how {
            HowEnded::Unfinished if shared.tasks.stopping() => shared.last_moment(),
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
        (how != HowEnded::Unfinished).then_some(JourneyEnd {
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
        shared.phase_at(workload.index, now),
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
