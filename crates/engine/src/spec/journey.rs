//! Journeys: what a user does, step by step, with values carried from one response to later requests.

use std::fmt;
use std::iter::once;

use serde::{Deserialize, Serialize};

use crate::spec::error::StartError;
use crate::spec::rows::FeedRows;
use crate::spec::{LoadSpec, ParamSpec, RequestSpec, ThinkSpec, WorkloadSpec, one, yes};

/// The longest value that a capture may be allowed to keep, in bytes.
pub const MAX_CAPTURED_BYTES: usize = 1024 * 1024;

/// A sequence of steps that a client goes through from the first to the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JourneySpec {
    pub name: String,
    #[serde(default = "one")]
    pub weight: u32,
    /// At least one of them has neither `when` nor `once`, so that every journey sends something.
    pub steps: Vec<StepSpec>,
    /// The most connections of a client, which steps that are sent together share. 1 over HTTP/2, where such steps are
    /// streams.
    #[serde(default = "one")]
    pub connections: u32,
    #[serde(default)]
    pub feeds: Vec<FeedSpec>,
    /// The script that decides which step comes next and what its request is, if there is one.
    #[serde(default)]
    pub script: Option<ScriptSpec>,
}

/// A script in Luau. The steps of its journey are exactly the requests that occur in it, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// The file's name in error messages.
    pub file: String,
    pub source: String,
    /// The name and the slot of each column of the feeds.
    #[serde(default)]
    pub columns: Vec<(String, usize)>,
    /// Whether its pauses are made; they are left out when a journey is only tried.
    #[serde(default = "yes")]
    pub sleeps: bool,
}

/// One request of the workload, and what is done with its response.
///
/// Every client has its own slots, which are numbered over all journeys of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Index into the workload's requests.
    pub request: usize,
    #[serde(default)]
    pub capture: Vec<CaptureSpec>,
    /// Whether it is due together with the step before it. The journey continues when all steps that are due together
    /// have ended, after the pause of the last of them.
    #[serde(default)]
    pub together: bool,
    /// The URL that it asks for, instead of the path of its request.
    #[serde(default)]
    pub url: Option<UrlSpec>,
    /// The step is skipped unless this holds.
    #[serde(default)]
    pub when: Option<ConditionSpec>,
    /// The journey is complete after this step's response if this holds.
    #[serde(default)]
    pub stop_when: Option<ConditionSpec>,
    /// How many times it is sent in a row.
    #[serde(default = "one")]
    pub repeat: u32,
    /// The pause after the response.
    #[serde(default)]
    pub think: ThinkSpec,
    /// Set if each client skips the step once it has succeeded: the slot in which the success is noted.
    #[serde(default)]
    pub once: Option<usize>,
    /// Whether it is a message after whose response the client closes its WebSocket.
    #[serde(default)]
    pub close: bool,
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default)]
    pub on_capture_failed: OnCaptureFailed,
}

/// A URL from a client's slots. It may lead to the target's host and to the hosts of the workload's `redirects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlSpec {
    /// The slot that holds the URL, absolute or relative.
    pub slot: usize,
    /// The slot that holds the URL to which it is relative; when `None`, it is relative to the workload's target.
    #[serde(default)]
    pub base: Option<usize>,
}

/// What happens after a request that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    #[default]
    End,
    GoOn,
}

/// What happens after a response in which a capture found nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnCaptureFailed {
    /// It is counted as `capture_failed`, and the journey ends.
    #[default]
    End,
    /// It is counted as `capture_failed`, and the journey continues.
    GoOn,
    /// It is still counted as a right response.
    Ignore,
}

/// A value to keep from a response, and the slot for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureSpec {
    pub name: String,
    pub slot: usize,
    pub from: SourceSpec,
    /// Set if the value is a URL: the slot for the URL of the request, to which the value may be relative.
    #[serde(default)]
    pub base: Option<usize>,
    /// The longest value that is captured, in bytes: 16 KiB unless this says otherwise, and 1 MiB at most.
    #[serde(default)]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceSpec {
    /// The value at a JSON pointer (RFC 6901) of the body.
    Json(String),
    /// The first group of the first match in the body; the whole match if the expression has no group.
    Regex(String),
    /// As with `Regex`, in HTML: references to characters such as `&#43;` and `&amp;` are replaced.
    Html(String),
    /// The first header with this name.
    Header(String),
    /// The cookie with this name that the response sets.
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
            Self::Html(pattern) => write!(f, "html:{pattern}"),
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

/// A missing value passes only `Missing` and `Differs`; one that is not a number passes no numeric comparison.
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
    /// The slot for each column.
    pub columns: Vec<usize>,
    pub rows: FeedRows,
}

/// Whether a client takes one row for good, or one for each iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedEach {
    Client,
    Iteration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedOrder {
    /// Every row once, dealt out over all threads and generators, and then again from the first.
    InTurn,
    Random,
    /// Every row once; a client that finds no row left ends.
    Once,
}

/// Checks all journeys of a workload together.
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
        step.think.check()?;
        if step.capture.iter().any(|capture| {
            capture
                .limit
                .is_some_and(|limit| !(1..=MAX_CAPTURED_BYTES).contains(&limit))
        }) {
            return Err("the limit of a capture is not from 1 byte to 1 MiB");
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

/// Checks a step that asks for a URL.
fn check_url(workload: &WorkloadSpec, request: &RequestSpec) -> Result<(), &'static str> {
    if workload.redirects.is_none() {
        return Err("a step asks for a URL, and redirects do not say to which hosts it may lead");
    }
    if request.websocket.is_some() || request.grpc.is_some() {
        return Err("a step asks for a URL, and is no plain request of HTTP");
    }
    Ok(())
}

/// Checks steps that are sent together.
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
