//! What can be wrong with a run before it starts, and the checks that find it.

use std::io;

use thiserror::Error;

use crate::spec::datagram;
use crate::spec::{
    Arrivals, ClosedSpec, FeedOrder, JourneySpec, LoadSpec, Match, OpenSpec, Order, ParamSpec,
    RateSpec, RequestSpec, Role, RunSpec, StreamFormat, ThinkSpec, UntilSpec, WebSocketSpec,
    WorkloadSpec,
};

/// Why a run cannot start. Every message says where, what, and what to do.
#[derive(Debug, Error)]
pub enum StartError {
    #[error("{place}: {problem}")]
    Invalid { place: String, problem: String },
    #[error(
        "cannot resolve the host {host:?}: {error}. Check its spelling and the DNS settings of this machine"
    )]
    Resolve { host: String, error: String },
    #[error(
        "the run needs {needed} open files and this process may have {limit}. Use fewer clients or several \
         generator processes, or raise the limit (ulimit -Hn)"
    )]
    OpenFiles { needed: u64, limit: u64 },
    #[error(
        "cannot pin a thread to core {core}: {error}. This machine lets the process use cores {allowed}"
    )]
    Core {
        core: usize,
        error: io::Error,
        allowed: String,
    },
    #[error("cannot start worker thread {worker}: {error}")]
    Worker { worker: usize, error: io::Error },
    /// What is wrong with a script, and in which line.
    #[error("{0}")]
    Script(String),
}

impl StartError {
    pub(crate) fn invalid(workload: &str, field: &str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            place: format!("workload {workload:?}, {field}"),
            problem: problem.into(),
        }
    }

    fn run(field: &str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            place: format!("run, {field}"),
            problem: problem.into(),
        }
    }
}

type Check = Result<(), StartError>;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
/// Row columns and client numbers are of these widths.
const MOST_WORKLOADS: usize = u16::MAX as usize;
const MOST_CLIENTS: u64 = u32::MAX as u64;
/// Far beyond any run, and far from overflow.
const LONGEST_NS: u64 = 400 * 24 * 3600 * SECOND;

/// Checks everything that can be checked without looking at the machine.
pub fn validate(spec: &RunSpec) -> Check {
    if spec.threads == 0 || spec.threads > 1024 {
        return Err(StartError::run(
            "threads",
            format!("{} is not between 1 and 1024", spec.threads),
        ));
    }
    if !(10 * MILLISECOND..=60 * SECOND).contains(&spec.interval_ns) {
        return Err(StartError::run(
            "interval_ns",
            format!("{} is not between 10 ms and 60 s", spec.interval_ns),
        ));
    }
    if let Some(share) = spec.share
        && (share.index >= share.of || share.of > 1024)
    {
        return Err(StartError::run(
            "share",
            format!("{} of {} is no share", share.index, share.of),
        ));
    }
    if let Some(duration) = spec.duration_ns {
        duration_in_range(duration).map_err(|problem| StartError::run("duration_ns", problem))?;
    }
    if spec.real_time && spec.attentive {
        return Err(StartError::run(
            "attentive",
            "it does not go together with real_time: the kernel takes 50 ms of every second from a real-time thread \
             that never sleeps. Leave one of them out",
        ));
    }
    if spec.workloads.is_empty() || spec.workloads.len() > MOST_WORKLOADS {
        return Err(StartError::run("workloads", "give at least one workload"));
    }
    let threads = spec.threads * spec.share.map_or(1, |share| share.of);
    for workload in &spec.workloads {
        check_workload(workload)?;
        check_http2(workload, threads as u64)?;
    }
    let measured = || {
        spec.workloads
            .iter()
            .filter(|workload| workload.role == Role::Measured)
    };
    if measured().next().is_none() {
        return Err(StartError::run(
            "workloads",
            "none is measured: give one the role \"measured\"",
        ));
    }
    if let (None, Some(endless)) = (
        spec.duration_ns,
        measured().find(|workload| !ends(&workload.load)),
    ) {
        return Err(StartError::invalid(
            &endless.name,
            "load",
            "it never ends: give the run a duration, or the load a number of requests",
        ));
    }
    Ok(())
}

fn duration_in_range(ns: u64) -> Result<(), String> {
    match ns {
        0 => Err("it is 0: it must be longer".into()),
        ns if ns > LONGEST_NS => Err("it is longer than 400 days".into()),
        _ => Ok(()),
    }
}

/// Whether the load ends by itself.
fn ends(load: &LoadSpec) -> bool {
    match load {
        LoadSpec::Closed(closed) => {
            closed.requests.is_some()
                || !closed.phases.is_empty()
                || (closed.requests_per_client.is_some() && !closed.renew)
        }
        LoadSpec::Open(open) => {
            open.requests.is_some() || matches!(open.arrivals, Arrivals::Trace(_))
        }
    }
}

fn check_workload(workload: &WorkloadSpec) -> Check {
    let invalid =
        |field: &str, problem: &str| Err(StartError::invalid(&workload.name, field, problem));
    if workload.requests.is_empty() || workload.requests.len() > MOST_WORKLOADS {
        return invalid("requests", "give at least one request");
    }
    if !workload.journeys.is_empty() {
        check_journeys(workload)?;
    } else if workload.order == Order::Weighted
        && workload.requests.iter().all(|request| request.weight == 0)
    {
        return invalid("requests", "all weights are 0, so that none can be chosen");
    }
    for request in &workload.requests {
        check_params(&workload.name, request)?;
        check_parameters_kind(workload, request)?;
        check_stream(&workload.name, request)?;
        check_websocket(workload, request)?;
        check_raw(workload, request)?;
        check_grpc(workload, request)?;
        if let Some(problem) = datagram::problem(workload, request) {
            let field = format!("request {:?}", request.name);
            return Err(StartError::invalid(&workload.name, &field, problem));
        }
    }
    let timeouts = &workload.timeouts;
    for (field, ns) in [
        ("timeouts.connect_ns", Some(timeouts.connect_ns)),
        ("timeouts.first_byte_ns", timeouts.first_byte_ns),
        ("timeouts.total_ns", Some(timeouts.total_ns)),
    ] {
        if ns == Some(0) {
            return invalid(field, "it is 0: nothing answers in no time");
        }
    }
    if workload
        .redirects
        .as_ref()
        .is_some_and(|rule| rule.most == 0)
    {
        return invalid(
            "redirects.most",
            "it is 0: leave redirects out if none is to be followed",
        );
    }
    match &workload.load {
        LoadSpec::Closed(closed) => check_closed(&workload.name, closed),
        LoadSpec::Open(open) => check_open(&workload.name, open),
    }
}

/// Clients share connections evenly only where every thread has as many.
fn check_http2(workload: &WorkloadSpec, threads: u64) -> Check {
    let field = "target.http2.connections";
    let Some(http2) = &workload.target.http2 else {
        return check_upgrade(workload);
    };
    let Some(connections) = http2.connections else {
        return Ok(());
    };
    let each = match &workload.load {
        LoadSpec::Closed(closed) => closed.requests_per_connection,
        LoadSpec::Open(open) => open.requests_per_connection,
    };
    let problem = if connections == 0 || connections > MOST_CLIENTS {
        format!("{connections} is not between 1 and {MOST_CLIENTS}")
    } else if connections % threads != 0 {
        format!(
            "{connections} connections cannot be shared evenly by {threads} threads: give a multiple of {threads}, or \
             fewer threads"
        )
    } else if each.is_some() {
        "requests_per_connection does not go with connections that clients share: leave out one of them".into()
    } else {
        return Ok(());
    };
    Err(StartError::invalid(&workload.name, field, problem))
}

/// RFC 9113 section 3.1 has done away with it, and so have servers.
fn check_upgrade(workload: &WorkloadSpec) -> Check {
    let upgrades = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("upgrade") && value.trim().eq_ignore_ascii_case("h2c")
    };
    for request in &workload.requests {
        if request.headers.iter().any(upgrades) {
            let field = format!("request {:?}", request.name);
            let problem = "no connection is upgraded to HTTP/2 in mid-course (RFC 9113 section 3.1): leave out the \
                           header Upgrade, and let the target speak http2 from the start";
            return Err(StartError::invalid(&workload.name, &field, problem));
        }
    }
    Ok(())
}

fn check_stream(workload: &str, request: &RequestSpec) -> Check {
    let Some(stream) = &request.stream else {
        return Ok(());
    };
    let problem = if stream.events == Some(0) {
        "stream.events is 0: wait for at least one"
    } else if stream.until.as_deref() == Some("") {
        "stream.until is empty: give the text of the event that ends the stream"
    } else if stream.stall_ns == Some(0) {
        "stream.stall_ns is 0: no event follows another in no time"
    } else if stream
        .bounds
        .is_some_and(|bounds| !(0.0..=1.0).contains(&bounds.late))
    {
        "stream.bounds.late is no share from 0 to 1"
    } else if request.method == "HEAD" {
        "the answer to HEAD has no body, so it is no stream"
    } else if (request.websocket.is_some() || request.grpc.is_some())
        != (stream.format == StreamFormat::Messages)
    {
        "a stream of messages comes over a WebSocket or from a gRPC method, one of another format over HTTP"
    } else {
        return Ok(());
    };
    let field = format!("request {:?}", request.name);
    Err(StartError::invalid(workload, &field, problem))
}

/// A client has one connection, and so one WebSocket.
fn check_websocket(workload: &WorkloadSpec, request: &RequestSpec) -> Check {
    let first = &workload.requests[0];
    let problem = match &request.websocket {
        None if first.websocket.is_none() => return Ok(()),
        None => "a workload has requests of one kind: all of them over a WebSocket, or none",
        Some(_) if first.websocket.is_none() => {
            "a workload has requests of one kind: all of them over a WebSocket, or none"
        }
        Some(_) if !workload.journeys.is_empty() => "steps of journeys are no messages yet",
        Some(_) if (&request.path, &request.headers) != (&first.path, &first.headers) => {
            "messages of a workload go over the same WebSocket: path and headers must be equal"
        }
        Some(_) if workload.target.http2.is_some() => {
            "a WebSocket is opened over HTTP/1.1 only: leave out http2"
        }
        Some(_) if request.method != "GET" => "a WebSocket is opened with GET",
        Some(_) if !request.expect.status.is_empty() => "a message has no status",
        Some(socket) if socket.message.is_none() && request.stream.is_none() => {
            "nothing is sent, so that nothing answers it: read a stream of messages"
        }
        Some(socket) if socket.message.is_none() && request.body_base64.is_some() => {
            "it has a message, and sends none"
        }
        Some(socket) if socket.matched == Match::Echo => {
            if request.stream.is_none() && request.expect.body.is_none() {
                return Ok(());
            }
            "an echo is one message, and equal to the one that was sent"
        }
        Some(socket) if matches!(&socket.matched, Match::Field(pointer) if !pointer.starts_with('/')) => {
            "the JSON pointer of its match does not begin with '/'"
        }
        Some(WebSocketSpec {
            matched: Match::Field(_),
            message,
        }) if message.is_none() || request.stream.is_some() => {
            "an answer with the same value is one message, and to one that was sent"
        }
        Some(_) => return Ok(()),
    };
    let field = format!("request {:?}", request.name);
    Err(StartError::invalid(&workload.name, &field, problem))
}

/// A client has one connection, which speaks HTTP or does not.
fn check_raw(workload: &WorkloadSpec, request: &RequestSpec) -> Check {
    let first = &workload.requests[0];
    let problem = match &request.raw {
        None if first.raw.is_none() => return Ok(()),
        None => "a workload has requests of one kind: all of them raw bytes, or none",
        Some(_) if first.raw.is_none() => {
            "a workload has requests of one kind: all of them raw bytes, or none"
        }
        Some(_) if !workload.journeys.is_empty() => "steps of journeys are no raw bytes yet",
        Some(_) if workload.target.http2.is_some() => "raw bytes are no HTTP: leave out http2",
        Some(_) if workload.redirects.is_some() => "raw bytes are no HTTP: leave out redirects",
        Some(_) if !request.headers.is_empty() => "raw bytes have no headers",
        Some(_) if request.websocket.is_some() => "it is raw bytes, or goes over a WebSocket",
        Some(_) if request.stream.is_some() => "an answer of raw bytes is no stream of events",
        Some(_) if !request.expect.status.is_empty() => "an answer of raw bytes has no status",
        Some(_)
            if request
                .body_base64
                .as_deref()
                .unwrap_or_default()
                .is_empty() =>
        {
            "nothing is sent, so that nothing answers it"
        }
        Some(raw) => match (&raw.until, workload.body_limit) {
            (UntilSpec::Length(length), Some(limit)) if *length > limit => {
                "until: a length beyond body_limit can never be reached"
            }
            _ => return Ok(()),
        },
    };
    let field = format!("request {:?}", request.name);
    Err(StartError::invalid(&workload.name, &field, problem))
}

/// A call of gRPC sets these itself.
const OWN_HEADERS: [&str; 3] = ["content-type", "te", "grpc-timeout"];

/// Calls go over HTTP/2, beside other requests or not.
fn check_grpc(workload: &WorkloadSpec, request: &RequestSpec) -> Check {
    let Some(grpc) = &request.grpc else {
        return Ok(());
    };
    let mut names = request
        .headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase());
    let problem = if workload.target.http2.is_none() {
        "gRPC goes over HTTP/2: give the target http2"
    } else if request.method != "POST" {
        "a method of gRPC is called with POST"
    } else if request.websocket.is_some() || request.raw.is_some() {
        "it is a call of gRPC, or something else"
    } else if !request.expect.status.is_empty() {
        "a call has a grpc-status and no other one"
    } else if grpc.deadline_ns == Some(0) {
        "grpc.deadline_ns is 0: nothing answers in no time"
    } else if names.any(|name| OWN_HEADERS.contains(&name.as_str())) {
        "content-type, te and grpc-timeout are the call's own: leave them out"
    } else {
        return Ok(());
    };
    let field = format!("request {:?}", request.name);
    Err(StartError::invalid(&workload.name, &field, problem))
}

/// Steps draw from feeds and slots, single requests from lists and ranges.
fn check_parameters_kind(workload: &WorkloadSpec, request: &RequestSpec) -> Check {
    let step = !workload.journeys.is_empty();
    let kept = request.params.values().any(|param| match param {
        ParamSpec::Range { .. } | ParamSpec::Choice(_) => false,
        ParamSpec::InTurn(_) => step,
        ParamSpec::Serial { bytes } => {
            let raw = request.raw.is_some() || request.datagram.is_some();
            !raw || !(1..=8).contains(bytes)
        }
        ParamSpec::Slot { slot, .. } => !step || *slot >= workload.slots,
        ParamSpec::Uuid | ParamSpec::Now | ParamSpec::Client | ParamSpec::Iteration => !step,
    });
    if kept || (!step && (request.cookies || request.fill.is_some())) {
        let field = format!("request {:?}", request.name);
        let problem = "a parameter is not of the kind that a step, or a single request, can have";
        return Err(StartError::invalid(&workload.name, &field, problem));
    }
    Ok(())
}

fn check_journeys(workload: &WorkloadSpec) -> Check {
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
    let sure = |step: &&crate::spec::StepSpec| step.when.is_none() && step.once.is_none();
    if !journey.steps.iter().any(|step| sure(&step)) {
        return Err("no step is sent every time: a client could go round without an end");
    }
    for step in &journey.steps {
        match used.get_mut(step.request) {
            Some(used) if !*used => *used = true,
            Some(_) => return Err("two steps make the same request"),
            None => return Err("a step makes a request that is not there"),
        }
        let mut named = step
            .capture
            .iter()
            .map(|capture| capture.slot)
            .chain(step.once);
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

fn check_params(workload: &str, request: &RequestSpec) -> Check {
    for (name, param) in &request.params {
        let problem = match param {
            ParamSpec::Range { from, to } if from > to => {
                format!("from {from} is greater than to {to}")
            }
            ParamSpec::Choice(values) | ParamSpec::InTurn(values) if values.is_empty() => {
                "it has no values".into()
            }
            _ => continue,
        };
        let field = format!("request {:?}, parameter {name:?}", request.name);
        return Err(StartError::invalid(workload, &field, problem));
    }
    Ok(())
}

fn check_closed(workload: &str, closed: &ClosedSpec) -> Check {
    let invalid = |field: &str, problem: &str| Err(StartError::invalid(workload, field, problem));
    if closed.clients == 0 || closed.clients > MOST_CLIENTS {
        return invalid("load.clients", "give at least 1 client");
    }
    for (field, count) in [
        ("load.requests", closed.requests),
        ("load.requests_per_client", closed.requests_per_client),
        (
            "load.requests_per_connection",
            closed.requests_per_connection,
        ),
    ] {
        if count == Some(0) {
            return invalid(
                field,
                "it is 0: give at least 1, or leave it out for no limit",
            );
        }
    }
    match &closed.think {
        ThinkSpec::Uniform { spread, .. } if !(0.0..=1.0).contains(spread) => {
            return invalid("load.think", "spread is not between 0 and 1");
        }
        ThinkSpec::List { ns } if ns.is_empty() => {
            return invalid("load.think", "the list is empty");
        }
        _ => {}
    }
    let mut whole = 0_u64;
    for phase in &closed.phases {
        let field = format!("load.phases, {:?}", phase.name);
        duration_in_range(phase.duration_ns)
            .map_err(|problem| StartError::invalid(workload, &field, problem))?;
        whole = whole.saturating_add(phase.duration_ns);
        if phase.from.max(phase.to) > closed.clients {
            return invalid(
                &field,
                "it has more clients than load.clients, the most at any time",
            );
        }
        if phase.steps == Some(0) {
            return invalid(&field, "steps is 0: leave it out for a linear ramp");
        }
    }
    if whole > LONGEST_NS {
        return invalid("load.phases", "together they are longer than 400 days");
    }
    Ok(())
}

fn check_open(workload: &str, open: &OpenSpec) -> Check {
    let invalid = |field: &str, problem: &str| Err(StartError::invalid(workload, field, problem));
    if open.max_connections == 0 || open.max_connections > MOST_CLIENTS {
        return invalid("load.max_connections", "give at least 1 connection");
    }
    for (field, count) in [
        ("load.requests", open.requests),
        ("load.requests_per_connection", open.requests_per_connection),
    ] {
        if count == Some(0) {
            return invalid(
                field,
                "it is 0: give at least 1, or leave it out for no limit",
            );
        }
    }
    if let Arrivals::Trace(times) = &open.arrivals {
        if times.is_empty() {
            return invalid("load.arrivals", "the trace has no arrivals");
        }
        if !times.is_sorted() {
            return invalid(
                "load.arrivals",
                "the trace's times are not ascending: sort them",
            );
        }
        return Ok(());
    }
    if open.rates.is_empty() {
        return invalid("load.rates", "give at least one rate");
    }
    let last = open.rates.len() - 1;
    for (index, rate) in open.rates.iter().enumerate() {
        check_rate(rate, index == last).map_err(|problem| {
            StartError::invalid(workload, &format!("load.rates[{index}]"), problem)
        })?;
    }
    if open
        .rates
        .iter()
        .all(|rate| rate.from == 0.0 && rate.to == 0.0)
    {
        return invalid("load.rates", "all are 0: no request would ever be due");
    }
    Ok(())
}

fn check_rate(rate: &RateSpec, last: bool) -> Result<(), String> {
    if ![rate.from, rate.to]
        .iter()
        .all(|rate| (0.0..=1e9).contains(rate))
    {
        return Err(format!(
            "{} to {} per second is not between 0 and 1e9",
            rate.from, rate.to
        ));
    }
    match rate.duration_ns {
        Some(ns) => duration_in_range(ns),
        None if !last => Err("only the last rate may be without a duration".into()),
        #[expect(
            clippy::float_cmp,
            reason = "a rate without a duration is given as two equal numbers"
        )]
        None if rate.from != rate.to => Err("a ramp needs a duration".into()),
        None => Ok(()),
    }
}
