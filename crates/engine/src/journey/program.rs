//! A compiled journey: a flat list of operations with jumps that are fixed before the run.

use std::iter::once;

use crate::body::capture::HeadCapture;
use crate::journey::feed::Feed;
use crate::schedule::mix::Mix;
use crate::schedule::random::Rng;
use crate::spec::{
    ConditionSpec, JourneySpec, OnCaptureFailed, OnFailure, ParamSpec, StepSpec, TestSpec,
    ThinkSpec, UrlSpec,
};
use crate::template::cookies::Site;
use crate::template::escape::EscapeContext;
use crate::template::values::Scope;

/// The journeys of a workload.
#[derive(Debug)]
pub struct Journeys {
    pub programs: Vec<Program>,
    /// Chooses which journey comes next.
    pub mix: Mix,
    /// How many slots each client has.
    pub slots: usize,
    pub site: Site,
}

#[derive(Debug)]
pub struct Program {
    operations: Vec<Operation>,
    pub steps: Vec<Step>,
    pub feeds: Vec<Feed>,
    /// Slots to empty when the journey begins, because its responses filled them last time.
    pub cleared_slots: Vec<usize>,
    /// The number of the script that decides which step comes next; `None` if the operations do.
    pub script: Option<usize>,
    /// The most connections that a client may have.
    pub connections: usize,
}

#[derive(Debug)]
enum Operation {
    /// Jumps if the slot holds something.
    UnlessEmpty {
        slot: usize,
        to: usize,
    },
    /// Jumps unless the condition holds.
    Unless {
        condition: ConditionSpec,
        to: usize,
    },
    /// Sends the step, and those that are sent together with it.
    Send(usize),
    /// Ends the journey if the condition holds.
    EndIf(ConditionSpec),
    /// Jumps back until this operation has been reached `times` times.
    Repeat {
        times: u32,
        to: usize,
    },
    End,
}

#[derive(Debug)]
pub struct Step {
    pub request: usize,
    /// How many steps are sent together, beginning with this one: 1 if it is sent alone, 0 if it belongs to an earlier
    /// one.
    pub together: usize,
    /// For a step that is sent together with others: it is left out unless this holds.
    when: Option<ConditionSpec>,
    /// The URL to ask for, instead of the path of its request.
    pub url: Option<UrlSpec>,
    pub captures: Vec<Capture>,
    pub think: ThinkSpec,
    /// The slot in which a client counts its pauses after the step, if their lengths are a list.
    pub pauses: Option<usize>,
    /// If each client succeeds with this step only once: the slot that records its success.
    pub once: Option<usize>,
    /// Whether the client closes its WebSocket afterwards.
    pub close: bool,
    pub on_failure: OnFailure,
    pub on_capture_failed: OnCaptureFailed,
}

#[derive(Debug)]
pub struct Capture {
    pub name: String,
    pub slot: usize,
    /// If the value is a URL: the slot that receives the URL of the response.
    pub base: Option<usize>,
    /// Where the value comes from, as the plan writes it.
    pub source: String,
    pub from: CaptureSource,
}

#[derive(Debug)]
pub enum CaptureSource {
    Head(HeadCapture),
    /// The number of the request's tap that keeps the value.
    Tap(usize),
}

impl Program {
    /// Compiles a journey. `first_tap` maps a request to the number of its first tap that keeps something. `slots` is
    /// the number of slots that are taken; it grows by those that the program itself needs.
    pub fn compile(
        spec: JourneySpec,
        feeds: Vec<Feed>,
        first_tap: impl Fn(usize) -> usize,
        slots: &mut usize,
    ) -> Self {
        let mut operations = Vec::new();
        let mut cleared_slots = Vec::new();
        let groups = groups(&spec.steps);
        for (index, step) in spec.steps.iter().enumerate() {
            if groups[index] != 1 {
                if groups[index] > 1 {
                    operations.push(Operation::Send(index));
                }
                if step.once.is_none() {
                    cleared_slots.extend(captured(step));
                }
                continue;
            }
            let guards = usize::from(step.once.is_some()) + usize::from(step.when.is_some());
            let first = operations.len() + guards;
            let trailing = usize::from(step.stop_when.is_some()) + usize::from(step.repeat > 1);
            let next_step = first + 1 + trailing;
            if let Some(slot) = step.once {
                operations.push(Operation::UnlessEmpty {
                    slot,
                    to: next_step,
                });
            } else {
                cleared_slots.extend(captured(step));
            }
            if let Some(condition) = step.when.clone() {
                operations.push(Operation::Unless {
                    condition,
                    to: next_step,
                });
            }
            operations.push(Operation::Send(index));
            operations.extend(step.stop_when.clone().map(Operation::EndIf));
            if step.repeat > 1 {
                operations.push(Operation::Repeat {
                    times: step.repeat,
                    to: first,
                });
            }
        }
        operations.push(Operation::End);
        let steps = spec.steps.into_iter().zip(groups).map(|(step, together)| {
            let first = first_tap(step.request);
            Step::new(step, together, first, slots)
        });
        Self {
            steps: steps.collect(),
            operations,
            feeds,
            cleared_slots,
            script: None,
            connections: spec.connections as usize,
        }
    }

    /// Returns those steps of the group beginning with `first` that are to be sent now.
    pub fn members(&self, first: usize, scope: &Scope<'_>, random: &mut Rng) -> Vec<usize> {
        let group = first..first + self.steps[first].together;
        let sent = group.filter(|number| {
            let Step { once, when, .. } = &self.steps[*number];
            let done = once.is_some_and(|slot| scope.slots.get(slot).is_some());
            let wanted = |condition| holds(condition, scope, random);
            !done && when.as_ref().is_none_or(wanted)
        });
        sent.collect()
    }

    pub fn sends_together(&self) -> bool {
        self.steps.iter().any(|step| step.together > 1)
    }

    /// The request of the first step, whether or not a condition may leave that step out.
    pub fn first_request(&self) -> usize {
        self.steps[0].request
    }
}

/// The slots that the response to a step fills.
fn captured(step: &StepSpec) -> impl Iterator<Item = usize> {
    let captures = step.capture.iter();
    captures.flat_map(|capture| once(capture.slot).chain(capture.base))
}

/// For each step, the size of the group that it begins; 0 if an earlier step begins its group.
fn groups(steps: &[StepSpec]) -> Vec<usize> {
    let after = |index: usize| steps[index + 1..].iter();
    let counts = steps.iter().enumerate().map(|(index, step)| {
        if step.together {
            return 0;
        }
        1 + after(index).take_while(|next| next.together).count()
    });
    counts.collect()
}

impl Step {
    fn new(spec: StepSpec, together: usize, first_tap: usize, slots: &mut usize) -> Self {
        let mut tap = first_tap;
        let captures = spec.capture.into_iter().map(|capture| Capture {
            name: capture.name,
            slot: capture.slot,
            base: capture.base,
            source: capture.from.to_string(),
            from: HeadCapture::of(&capture.from).map_or_else(
                || {
                    tap += 1;
                    CaptureSource::Tap(tap - 1)
                },
                CaptureSource::Head,
            ),
        });
        Self {
            request: spec.request,
            together,
            url: spec.url,
            when: spec.when.filter(|_| together != 1),
            captures: captures.collect(),
            pauses: matches!(spec.think, ThinkSpec::List { .. }).then(|| {
                *slots += 1;
                *slots - 1
            }),
            think: spec.think,
            once: spec.once,
            close: spec.close,
            on_failure: spec.on_failure,
            on_capture_failed: spec.on_capture_failed,
        }
    }
}

/// A client's position in a program.
#[derive(Debug, Default, Clone, Copy)]
pub struct Position {
    operation: u32,
    /// How often it has completed the loop that it is in.
    rounds: u32,
}

impl Position {
    /// Returns the next step to send; `None` at the end of the journey.
    pub fn next(
        &mut self,
        program: &Program,
        scope: &Scope<'_>,
        random: &mut Rng,
    ) -> Option<usize> {
        loop {
            let next = self.operation + 1;
            self.operation = match &program.operations[self.operation as usize] {
                Operation::UnlessEmpty { slot, to } if scope.slots.get(*slot).is_some() => {
                    *to as u32
                }
                Operation::Unless { condition, to } if !holds(condition, scope, random) => {
                    *to as u32
                }
                Operation::EndIf(condition) if holds(condition, scope, random) => return None,
                Operation::UnlessEmpty { .. } | Operation::Unless { .. } | Operation::EndIf(_) => {
                    next
                }
                Operation::Send(step) => {
                    self.operation = next;
                    return Some(*step);
                }
                Operation::Repeat { times, to } => {
                    self.rounds += 1;
                    if self.rounds < *times {
                        *to as u32
                    } else {
                        self.rounds = 0;
                        next
                    }
                }
                Operation::End => return None,
            };
        }
    }
}

fn holds(condition: &ConditionSpec, scope: &Scope<'_>, random: &mut Rng) -> bool {
    let value = match &condition.value {
        ParamSpec::Slot { slot, .. } => scope.slots.get(*slot).map(<[u8]>::to_vec),
        other => {
            let mut value = Vec::new();
            let written = scope.write(other, EscapeContext::Bare, random, &mut value);
            written.ok().map(|()| value)
        }
    };
    let text = || value.as_deref().unwrap_or_default();
    let number = || -> Option<f64> { std::str::from_utf8(text()).ok()?.trim().parse().ok() };
    match &condition.test {
        TestSpec::Exists => value.is_some(),
        TestSpec::Missing => value.is_none(),
        TestSpec::Equals(other) => value.as_deref() == Some(other.as_bytes()),
        TestSpec::Differs(other) => value.as_deref() != Some(other.as_bytes()),
        TestSpec::Contains(part) => memchr::memmem::find(text(), part.as_bytes()).is_some(),
        TestSpec::Above(limit) => number().is_some_and(|number| number > *limit),
        TestSpec::AtLeast(limit) => number().is_some_and(|number| number >= *limit),
        TestSpec::Below(limit) => number().is_some_and(|number| number < *limit),
        TestSpec::AtMost(limit) => number().is_some_and(|number| number <= *limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::cookies::Jar;
    use crate::template::slots::Slots;
    use serde_json::{Value, json};

    fn program(steps: &Value) -> Program {
        let spec = json!({"name": "j", "steps": steps});
        let spec = serde_json::from_value(spec).unwrap();
        Program::compile(spec, Vec::new(), |_| 0, &mut 0)
    }

    fn with_scope<T>(slots: &Slots, with: impl FnOnce(&Scope<'_>) -> T) -> T {
        let site = Site::new("", false);
        with(&Scope {
            slots,
            jar: &Jar::default(),
            site: &site,
            client: 1,
            iteration: 1,
            scripted: None,
        })
    }

    fn way(program: &Program, slots: &Slots) -> Vec<usize> {
        with_scope(slots, |scope| {
            let mut position = Position::default();
            let mut random = Rng::new(1, &[]);
            std::iter::from_fn(|| position.next(program, scope, &mut random)).collect()
        })
    }

    #[test]
    fn steps_follow_each_other_and_are_repeated() {
        let program = program(
            &json!([{"request": 0}, {"request": 1, "repeat": 3}, {"request": 2, "repeat": 2}]),
        );
        assert_eq!(way(&program, &Slots::new(0)), [0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn a_step_is_passed_over_with_all_its_repeats() {
        let once = json!({"request": 1, "once": 1, "repeat": 2});
        let when = json!({"request": 2, "when": {"value": {"slot": {"slot": 0}}, "test": "exists"}, "repeat": 2});
        let program = program(&json!([{"request": 0}, once, when, {"request": 3}]));
        let mut slots = Slots::new(2);
        assert_eq!(way(&program, &slots), [0, 1, 1, 3]);
        slots.set(0, Some(b""));
        assert_eq!(way(&program, &slots), [0, 1, 1, 2, 2, 3]);
        slots.set(1, Some(b"1"));
        assert_eq!(way(&program, &slots), [0, 2, 2, 3]);
    }

    #[test]
    fn a_journey_stops_after_any_response_of_a_step_that_says_so() {
        let stop = json!({"value": {"slot": {"slot": 0}}, "test": {"equals": "done"}});
        let program = program(&json!([
            {"request": 0, "once": 1},
            {"request": 1, "stop_when": stop, "repeat": 3},
            {"request": 2},
        ]));
        let mut slots = Slots::new(2);
        assert_eq!(way(&program, &slots), [0, 1, 1, 1, 2]);
        slots.set(0, Some(b"done"));
        assert_eq!(way(&program, &slots), [0, 1]);
        slots.set(1, Some(b""));
        assert_eq!(
            way(&program, &slots),
            [1],
            "what is passed over leads to the step after all of it"
        );
    }

    #[test]
    fn what_the_journey_captures_is_forgotten_but_not_what_a_client_gets_once() {
        let token = json!({"name": "token", "slot": 0, "from": {"json": "/t"}});
        let id = json!({"name": "id", "slot": 2, "from": {"regex": "x"}});
        let program = program(
            &json!([{"request": 0, "once": 1, "capture": [token]}, {"request": 1, "capture": [id]}]),
        );
        assert_eq!(program.cleared_slots, [2]);
    }

    #[test]
    fn of_steps_that_are_sent_together_those_are_left_out_that_do_not_apply() {
        let once = json!({"request": 2, "together": true, "once": 1});
        let when = json!({"request": 3, "together": true, "when": {"value": {"slot": {"slot": 0}}, "test": "exists"}});
        let program = program(
            &json!([{"request": 0}, {"request": 1}, once, when, {"request": 4}, {"request": 5, "together": true}]),
        );
        let mut slots = Slots::new(2);
        assert_eq!(way(&program, &slots), [0, 1, 4], "the first of each group");
        let members = |slots: &Slots| {
            let mut random = Rng::new(1, &[]);
            with_scope(slots, |scope| program.members(1, scope, &mut random))
        };
        assert_eq!(members(&slots), [1, 2]);
        slots.set(0, Some(b""));
        assert_eq!(members(&slots), [1, 2, 3]);
        slots.set(1, Some(b""));
        assert_eq!(members(&slots), [1, 3]);
    }

    #[test]
    fn conditions_compare_texts_and_numbers() {
        let holds = |value: Option<&str>, test: Value| {
            let mut slots = Slots::new(1);
            slots.set(0, value.map(str::as_bytes));
            let program = program(
                &json!([{"request": 0, "when": {"value": {"slot": {"slot": 0}}, "test": test}}]),
            );
            !way(&program, &slots).is_empty()
        };
        let right = [
            (Some("a"), json!("exists")),
            (None, json!("missing")),
            (Some("a"), json!({"equals": "a"})),
            (None, json!({"differs": "a"})),
            (Some("xay"), json!({"contains": "a"})),
            (Some("10"), json!({"above": 9.5})),
            (Some(" 10"), json!({"at-least": 10.0})),
            (Some("-1e3"), json!({"below": 0.0})),
            (Some("0"), json!({"at-most": 0.0})),
        ];
        for (value, test) in right {
            assert!(holds(value, test.clone()), "{value:?} {test}");
        }
        let wrong = [
            (None, json!("exists")),
            (Some(""), json!("missing")),
            (None, json!({"equals": ""})),
            (Some("a"), json!({"differs": "a"})),
            (None, json!({"contains": "a"})),
            (Some("ten"), json!({"above": 9.5})),
            (None, json!({"below": 1.0})),
        ];
        for (value, test) in wrong {
            assert!(!holds(value, test.clone()), "{value:?} {test}");
        }
    }
}
