//! Journeys: what a user does, step by step, with values that are carried on from one answer to the next request.

use std::fmt;
use std::iter::once;

use serde::{Deserialize, Serialize};

use super::error::StartError;
use super::rows::FeedRows;
use super::{LoadSpec, ParamSpec, RequestSpec, ThinkSpec, WorkloadSpec, one, yes};

/// A row of steps that a client goes through from the first to the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JourneySpec {
    pub name: String,
    #[serde(default = "one")]
    pub weight: u32,
    /// At least one of them is sent in every journey: without `when` and `once`.
    pub steps: Vec<StepSpec>,
    /// Connections that a client has at most: steps that are sent together share them. 1 over HTTP/2, where they are
    /// streams.
    #[serde(default = "one")]
    pub connections: u32,
    #[serde(default)]
    pub feeds: Vec<FeedSpec>,
    /// What says which step comes next, and what its request is.
    #[serde(default)]
    pub script: Option<ScriptSpec>,
}

/// A script in Luau. The steps of its journey are the requests that stand in it, in their order, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// As errors name it.
    pub file: String,
    pub source: String,
    /// The name and the slot of each column of the feeds.
    #[serde(default)]
    pub columns: Vec<(String, usize)>,
    /// Its pauses are made; where a journey is only tried, they are not.
    #[serde(default = "yes")]
    pub sleeps: bool,
}

/// One request of the workload, and what comes of its answer. Slots are the client's own, numbered over all journeys
/// of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Index into the workload's requests.
    pub request: usize,
    #[serde(default)]
    pub capture: Vec<CaptureSpec>,
    /// It is due together with the step before it. The journey goes on when all that are due together have ended, after
    /// the pause of the last of them.
    #[serde(default)]
    pub together: bool,
    /// It asks for this URL, and not for the path of its request.
    #[serde(default)]
    pub url: Option<UrlSpec>,
    /// The step is passed over unless this holds.
    #[serde(default)]
    pub when: Option<ConditionSpec>,
    /// The journey is completed after its answer if this holds.
    #[serde(default)]
    pub stop_when: Option<ConditionSpec>,
    /// How often it is sent, one after another.
    #[serde(default = "one")]
    pub repeat: u32,
    /// The pause after the answer.
    #[serde(default)]
    pub think: ThinkSpec,
    /// Each client has success with it once: the slot in which that is noted.
    #[serde(default)]
    pub once: Option<usize>,
    /// It is a message, after whose answer the client closes its WebSocket.
    #[serde(default)]
    pub close: bool,
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default)]
    pub on_capture_failed: OnCaptureFailed,
}

/// A URL that a client knows. It may lead to the target's host and to the hosts of the workload's `redirects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlSpec {
    /// What holds it, absolute or relative.
    pub slot: usize,
    /// What holds the URL that it is relative to; the workload's target, if there is none.
    #[serde(default)]
    pub base: Option<usize>,
}

/// What follows a request that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    #[default]
    End,
    GoOn,
}

/// What follows an answer in which something was not found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnCaptureFailed {
    /// It is counted as `capture_failed`, and the journey ends.
    #[default]
    End,
    /// It is counted as `capture_failed`, and the journey goes on.
    GoOn,
    /// The answer is right all the same.
    Ignore,
}

/// What is kept of an answer, and in which slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureSpec {
    pub name: String,
    pub slot: usize,
    pub from: SourceSpec,
    /// What is kept is a URL: the slot that gets the URL of the answer.
    #[serde(default)]
    pub base: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceSpec {
    /// The value at a JSON pointer (RFC 6901) of the body.
    Json(String),
    /// The first group of the first match in the body; the whole match where it has no group.
    Regex(String),
    /// The first header of this name.
    Header(String),
    /// The cookie of this name that the answer sets.
    Cookie(String),
    Status,
    /// The whole body.
    Body,
}

impl SourceSpec {
    fn is_of_head(&self) -> bool {
        matches!(self, Self::Header(_) | Self::Cookie(_) | Self::Status)
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(pointer) => write!(f, "json:{pointer}"),
            Self::Regex(pattern) => write!(f, "regex:{pattern}"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Cookie(name) => write!(f, "cookie:{name}"),
            Self::Status => f.write_str("status"),
            Self::Body => f.write_str("body"),
        }
    }
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionSpec {
    pub value: ParamSpec,
    pub test: TestSpec,
}

/// A value that is not there passes `Missing` and `Differs` only; one that is no number, no comparison of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestSpec {
    Exists,
    Missing,
    Equals(String),
    Differs(String),
    Contains(String),
    Above(f64),
    AtLeast(f64),
    Below(f64),
    AtMost(f64),
}

/// Rows of values for a journey.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedSpec {
    pub each: FeedEach,
    pub order: FeedOrder,
    /// The slot of each column.
    pub columns: Vec<usize>,
    pub rows: FeedRows,
}

/// For whom a row is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedEach {
    Client,
    Iteration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedOrder {
    /// Every row once over all threads and generators, and then again from the first.
    InTurn,
    Random,
    /// Every row once; who finds none left ends.
    Once,
}

/// Of all journeys of a workload together.
pub(super) fn check(workload: &WorkloadSpec) -> Result<(), StartError> {
    let journeys = &workload.journeys;
    if journeys.iter().all(|journey| journey.weight == 0) {
        let problem = "all weights are 0, so that none can be chosen";
        return Err(StartError::invalid(&workload.name, "journeys", problem));
    }
    let mut used = vec![false; workload.requests.len()];
    for journey in journeys {
        let field = format!("journey {:?}", journey.name);
        check_journey(workload, journey, &mut used)
            .map_err(|problem| StartError::invalid(&workload.name, &field, problem))?;
    }
    Ok(())
}

fn check_journey(
    workload: &WorkloadSpec,
    journey: &JourneySpec,
    used: &mut [bool],
) -> Result<(), &'static str> {
    let slots = workload.slots;
    check_groups(workload, journey)?;
    let sure = |step: &&StepSpec| step.when.is_none() && step.once.is_none();
    if !journey.steps.iter().any(|step| sure(&step)) {
        return Err("no step is sent every time: a client could go round without an end");
    }
    for step in &journey.steps {
        match used.get_mut(step.request) {
            Some(used) if !*used => *used = true,
            Some(_) => return Err("two steps make the same request"),
            None => return Err("a step makes a request that is not there"),
        }
        if step.url.is_some() {
            check_url(workload, &workload.requests[step.request])?;
        }
        let socket = workload.requests[step.request].websocket.is_some();
        if socket && journey.script.is_some() {
            return Err("a script makes requests of HTTP, and no messages");
        }
        if socket && step.capture.iter().any(|capture| capture.from.is_of_head()) {
            return Err("a message has no head to keep something of");
        }
        if step.close && !socket {
            return Err("a step closes a WebSocket, and is no message over one");
        }
        let captured = step.capture.iter();
        let captured = captured.flat_map(|capture| once(capture.slot).chain(capture.base));
        let url = step.url.iter();
        let url = url.flat_map(|url| once(url.slot).chain(url.base));
        let mut named = captured.chain(url).chain(step.once);
        if step.repeat == 0 || named.any(|slot| slot >= slots) {
            return Err("a step has no repeat, or a slot that is not there");
        }
        let mut conditions = step.when.iter().chain(&step.stop_when);
        if conditions.any(
            |condition| matches!(condition.value, ParamSpec::Slot { slot, .. } if slot >= slots),
        ) {
            return Err("a condition is about a slot that is not there");
        }
    }
    let mut columns = journey.script.iter().flat_map(|script| &script.columns);
    if columns.any(|(_, slot)| *slot >= slots) {
        return Err("a script has a slot that is not there");
    }
    for feed in &journey.feeds {
        let (columns, values) = (feed.columns.len(), feed.rows.len());
        if columns == 0 || values == 0 || !values.is_multiple_of(columns) {
            return Err("a feed has no rows, or rows of different length");
        }
        if feed.columns.iter().any(|slot| *slot >= slots) {
            return Err("a feed has a slot that is not there");
        }
        let rows = (values / columns) as u64;
        if let LoadSpec::Open(open) = &workload.load
            && feed.order == FeedOrder::Once
            && open.requests.is_none_or(|requests| requests > rows)
        {
            return Err("an open load has more arrivals than a feed has rows that come once");
        }
    }
    Ok(())
}

/// A step that asks for a URL.
fn check_url(workload: &WorkloadSpec, request: &RequestSpec) -> Result<(), &'static str> {
    if workload.redirects.is_none() {
        return Err("a step asks for a URL, and redirects do not say to which hosts it may lead");
    }
    if request.websocket.is_some() || request.grpc.is_some() {
        return Err("a step asks for a URL, and is no plain request of HTTP");
    }
    Ok(())
}

/// Steps that are sent together.
fn check_groups(workload: &WorkloadSpec, journey: &JourneySpec) -> Result<(), &'static str> {
    let steps = &journey.steps;
    if journey.connections == 0 {
        return Err("connections is 0: a client has at least one");
    }
    if steps.first().is_some_and(|step| step.together) {
        return Err("its first step is to be sent together with one before it");
    }
    if !steps.iter().any(|step| step.together) {
        return Ok(());
    }
    if workload.target.http2.is_none() && journey.connections == 1 {
        return Err("steps are sent together, which takes more than one connection");
    }
    if workload.target.http2.is_some() && journey.connections > 1 {
        return Err("over HTTP/2 steps that are sent together are streams of one connection");
    }
    if workload.target.http2.is_some() && workload.load.requests_per_connection().is_some() {
        return Err(
            "requests_per_connection does not go with streams that are sent together over one connection",
        );
    }
    for (index, step) in steps.iter().enumerate() {
        let grouped = step.together || steps.get(index + 1).is_some_and(|next| next.together);
        if grouped && (step.repeat > 1 || step.stop_when.is_some()) {
            return Err("a step that is sent together with others has no repeat and no stop_when");
        }
        let request = workload.requests.get(step.request);
        if grouped && request.is_some_and(|request| request.websocket.is_some()) {
            return Err(
                "a message is not sent together with other steps: a client has one WebSocket",
            );
        }
    }
    Ok(())
}
