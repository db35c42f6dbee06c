//! From the specification to the plan: encodes requests, resolves names, and checks whether this machine can run it.

use std::sync::Arc;

use crate::body::capture::{BodyCapture, HeadCapture};
use crate::body::event_meaning::EventStream;
use crate::body::tap::Tap;
use crate::body::verify::BodyVerifier;
use crate::exchange::grpc::method::Method;
use crate::exchange::observer::Limits;
use crate::exchange::raw::until::Until;
use crate::exchange::redirect::Redirects;
use crate::exchange::request::{Protocol, Request};
use crate::exchange::udp::matching::Matching;
use crate::exchange::ws::upgrade::Upgrade;
use crate::exchange::{raw, udp, ws};
use crate::journey::feed::Feed;
use crate::journey::program::{Journeys, Program};
use crate::load::plan::{Plan, Workload};
use crate::net::stamped::Stamping;
use crate::net::target::Target;
use crate::protocol::h2::message;
use crate::protocol::url::Origin;
use crate::run::files::{ALL, OpenFiles};
use crate::schedule::mix::Mix;
use crate::schedule::phases::Phases;
use crate::schedule::turns::Turns;
use crate::script::source::Script;
use crate::script::{self, Vm};
use crate::search::json::MAX_DOCUMENT_BYTES;
use crate::search::missing::MAX_VALUE_BYTES;
use crate::spec::error::StartError;
use crate::spec::validate::validate;
use crate::spec::{
    JourneySpec, LoadSpec, OnFailure, Order, RequestSpec, Role, RunSpec, ScriptSpec, ShareSpec,
    StepSpec, WorkloadSpec,
};
use crate::template::cookies::Site;
use crate::template::request::{
    EncodeError, Template, encode_message, encode_request, encode_scripted,
};

/// Checks everything, encodes the requests, resolves the names, and raises the limit of open files.
pub fn prepare(spec: RunSpec) -> Result<Plan, StartError> {
    validate(&spec)?;
    OpenFiles::of(&spec).raise_limit()?;
    let share = spec.share.unwrap_or(ALL);
    let mut scripts = Vec::new();
    let workloads = spec
        .workloads
        .into_iter()
        .enumerate()
        .map(|(index, workload)| prepare_workload(index, workload, share, &mut scripts));
    let mut workloads: Vec<Workload> = workloads.collect::<Result<_, _>>()?;
    number_once_workloads(&mut workloads);
    let plan = Plan {
        busy_poll: spec.busy_poll,
        seed: spec.seed,
        threads: spec.threads,
        share,
        interval_ns: spec.interval_ns,
        rows: spec.rows,
        trace: spec.trace,
        end_ns: planned_end(&workloads).min(spec.duration_ns.unwrap_or(u64::MAX)),
        workloads,
        scripts,
    };
    if !plan.scripts.is_empty() {
        Vm::new(&plan.scripts, plan.clients_per_worker(), false).map_err(StartError::Script)?;
    }
    Ok(plan)
}

/// Returns the end of the longest phased load if all measured loads are phased, and otherwise `u64::MAX`.
fn planned_end(workloads: &[Workload]) -> u64 {
    let measured = workloads
        .iter()
        .filter(|workload| workload.role == Role::Measured);
    let ends = measured.map(|workload| match &workload.load {
        LoadSpec::Closed(closed) => Phases::new(closed).end_ns(),
        LoadSpec::Open(_) => u64::MAX,
    });
    ends.max().unwrap_or(u64::MAX)
}

fn prepare_workload(
    index: usize,
    spec: WorkloadSpec,
    share: ShareSpec,
    scripts: &mut Vec<Script>,
) -> Result<Workload, StartError> {
    let target = &spec.target;
    let origin = Origin::new(target.tls.is_some(), &target.host, target.port);
    let host = origin.authority();
    let redirects = Redirects::new(&spec);
    let name = spec.name;
    let mut requests = Vec::with_capacity(spec.requests.len());
    for (index, request) in spec.requests.iter().enumerate() {
        let mut steps = spec.journeys.iter().flat_map(|journey| {
            let script = journey.script.as_ref();
            let steps = journey.steps.iter().enumerate();
            steps.map(move |(number, step)| (step, script.map(|script| (script, number))))
        });
        let made_by = steps.find(|(step, _)| step.request == index);
        if spec.target.http2.is_some() {
            let field = format!("request {:?}", request.name);
            message::check(request)
                .map_err(|problem| StartError::invalid(&name, &field, problem))?;
        }
        let turns = Turns::new(&spec.load, share);
        let (step, script) = made_by.map_or((None, None), |(step, script)| (Some(step), script));
        requests.push(match script {
            Some(site) => request_of_script(&name, request, site, turns)?,
            None => prepare_request(&name, request, step, &host, turns)?,
        });
    }
    let site = Site::new(&origin.host, spec.target.tls.is_some());
    let mut programs = Vec::with_capacity(spec.journeys.len());
    let mut slots = spec.slots;
    let weights: Vec<u32> = spec.journeys.iter().map(|journey| journey.weight).collect();
    for journey in spec.journeys {
        let script = script_of(&name, &journey, &spec.requests, redirects.as_ref(), &host)?;
        let number = script.is_some().then_some(scripts.len());
        scripts.extend(script);
        let program = compile(journey, &requests, &spec.load, share, number, &mut slots);
        programs.push(program);
    }
    Ok(Workload {
        index,
        role: spec.role,
        target: Target::new(&name, &spec.target)?,
        stamping: (spec.target.http2.is_none() && requests.iter().any(streams_over_http))
            .then(Stamping::begin)
            .and_then(Result::ok),
        mix: Mix::new(spec.order, &spec.requests),
        journeys: (!programs.is_empty()).then(|| Journeys {
            mix: Mix::of(Order::Weighted, weights.into_iter()),
            programs,
            slots,
            site,
        }),
        once_index: None,
        requests,
        load: spec.load,
        limits: Limits {
            timeouts: spec.timeouts,
            body: spec.body_limit,
            follow: redirects.as_ref().is_some_and(Redirects::follows),
        },
        redirects,
    })
}

/// Gives steps that every client makes only once (`once`) a workload number of their own.
///
/// These numbers follow those of all workloads. Open loads have none: every arrival is a new client there, so such
/// steps are steps like any other.
fn number_once_workloads(workloads: &mut [Workload]) {
    let mut number = workloads.len();
    for workload in workloads {
        let programs = workload
            .journeys
            .iter()
            .flat_map(|journeys| &journeys.programs);
        let mut steps = programs.flat_map(|program| &program.steps);
        let closed = matches!(workload.load, LoadSpec::Closed(_));
        if closed && steps.any(|step| step.once.is_some()) {
            workload.once_index = Some(number);
            number += 1;
        }
    }
}

fn compile(
    mut spec: JourneySpec,
    requests: &[Request],
    load: &LoadSpec,
    share: ShareSpec,
    script: Option<usize>,
    slots: &mut usize,
) -> Program {
    if script.is_some() {
        for step in &mut spec.steps {
            step.on_failure = OnFailure::GoOn; // the script decides
        }
    }
    let feeds = std::mem::take(&mut spec.feeds).into_iter();
    let feeds = feeds.map(|feed| Feed::new(feed, Turns::new(load, share)));
    let first_tap = |request: usize| {
        let taps = requests[request].taps.iter();
        taps.take_while(|tap| matches!(tap, Tap::Check(_))).count()
    };
    let mut program = Program::compile(spec, feeds.collect(), first_tap, slots);
    program.script = script;
    program
}

fn keeps_url(step: &StepSpec) -> bool {
    step.capture.iter().any(|capture| capture.base.is_some())
}

/// Returns what the step captures from the response's body, in the order of its captures.
fn taps_of(step: &StepSpec) -> Result<Vec<Tap>, String> {
    let mut taps = Vec::new();
    for capture in &step.capture {
        let value = BodyCapture::of(&capture.from, capture.limit.unwrap_or(MAX_VALUE_BYTES));
        let value = value.map_err(|problem| format!("capture {:?}: {problem}", capture.name))?;
        taps.extend(value.map(Tap::Keep));
    }
    Ok(taps)
}

fn prepare_request(
    workload: &str,
    spec: &RequestSpec,
    step: Option<&StepSpec>,
    host: &str,
    turns: Turns,
) -> Result<Request, StartError> {
    let invalid = |problem: String| {
        StartError::invalid(workload, &format!("request {:?}", spec.name), problem)
    };
    let (protocol, keep_alive) = protocol_of(spec, host).map_err(invalid)?;
    let close = match protocol {
        Protocol::Http => encode_request(spec, host, false).map_err(describe),
        _ => Ok(keep_alive.clone()),
    };
    let close = close.map_err(invalid)?;
    let checks: Result<Vec<_>, _> = spec
        .expect
        .checks()
        .map(|check| BodyVerifier::new(&check))
        .collect();
    let checks = checks.map_err(|error| invalid(error.to_string()))?;
    let captures = step.map_or(Ok(Vec::new()), taps_of).map_err(invalid)?;
    let in_head = |step: &StepSpec| {
        let mut captures = step.capture.iter();
        captures.any(|capture| HeadCapture::of(&capture.from).is_some())
    };
    let stream = spec.stream.as_ref().map(EventStream::new);
    let stream = stream.transpose().map_err(invalid)?;
    let taps: Vec<Tap> = checks.into_iter().map(Tap::Check).chain(captures).collect();
    Ok(Request {
        statuses: match &protocol {
            Protocol::WebSocket(_) => vec![ws::STATUS],
            Protocol::Raw(_) => vec![raw::STATUS],
            Protocol::Datagram(_) => vec![udp::STATUS],
            Protocol::Http | Protocol::Grpc(_) => spec.expect.status.clone(),
        },
        protocol,
        keep_alive,
        close,
        params: spec.params.clone().into_iter().collect(),
        turns,
        cookies: spec.cookies,
        reads_path: spec.cookies || step.is_some_and(keeps_url),
        reads_head: spec.cookies || spec.stream.is_some() || step.is_some_and(in_head),
        taps,
        stream,
    })
}

/// Returns the protocol of a request, and what is sent while the connection stays open afterwards.
fn protocol_of(spec: &RequestSpec, host: &str) -> Result<(Protocol, Template), String> {
    let message = || encode_message(spec).map_err(describe);
    if let Some(grpc) = &spec.grpc {
        let method = Method::new(spec, grpc)?;
        method.check_stream(spec.stream.is_some())?;
        let call = method.encode(spec, host)?;
        return Ok((Protocol::Grpc(Box::new(method)), call));
    }
    if let Some(socket) = &spec.websocket {
        let upgrade = Upgrade::new(spec, socket, host)?;
        let message = message()?;
        ws::check(&socket.matched, &message)?;
        return Ok((Protocol::WebSocket(Box::new(upgrade)), message));
    }
    if let Some(raw) = &spec.raw {
        return Ok((Protocol::Raw(Until::new(&raw.until)?), message()?));
    }
    if let Some(datagram) = &spec.datagram {
        let message = message()?;
        let matching = Matching::new(&datagram.matched, spec, &message)?;
        return Ok((Protocol::Datagram(Arc::new(matching)), message));
    }
    let request = encode_request(spec, host, true).map_err(describe)?;
    Ok((Protocol::Http, request))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn describe(error: EncodeError) -> String {
    error.to_string()
}

/// Whether its response is a stream of events over HTTP.
fn streams_over_http(request: &Request) -> bool {
    let over_http = matches!(request.protocol, Protocol::Http | Protocol::Grpc(_));
    request.stream.is_some() && over_http
}

/// Prepares a request that a script makes: `number` of those in the script. What it sends is known only at run time.
fn request_of_script(
    workload: &str,
    spec: &RequestSpec,
    (script, number): (&ScriptSpec, usize),
    turns: Turns,
) -> Result<Request, StartError> {
    let encode = |keep_alive| {
        encode_scripted(&spec.method, keep_alive, spec.cookies).map_err(|error| {
            let field = format!("request {:?}", spec.name);
            StartError::invalid(workload, &field, error.to_string())
        })
    };
    Ok(Request {
        protocol: Protocol::Http,
        keep_alive: encode(true)?,
        close: encode(false)?,
        params: Vec::new(),
        turns,
        statuses: spec.expect.status.clone(),
        cookies: spec.cookies,
        reads_path: spec.cookies,
        reads_head: spec.cookies || script::reads_headers(&script.source),
        taps: if script::is_unseen(&script.source, number) {
            Vec::new()
        } else {
            vec![Tap::Keep(BodyCapture::whole(MAX_DOCUMENT_BYTES))]
        },
        stream: None,
    })
}

/// Returns the script of a journey, if it has one. The journey's steps must be the requests that occur in the script.
fn script_of(
    workload: &str,
    journey: &JourneySpec,
    requests: &[RequestSpec],
    redirects: Option<&Redirects>,
    host: &str,
) -> Result<Option<Script>, StartError> {
    let Some(script) = &journey.script else {
        return Ok(None);
    };
    let (sites, source) =
        script::outline(&script.file, &script.source).map_err(StartError::Script)?;
    let steps = || journey.steps.iter().map(|step| &requests[step.request]);
    let same = steps()
        .map(|request| request.method.as_str())
        .eq(sites.iter().map(|site| site.method.as_str()));
    if !same {
        let field = format!("journey {:?}", journey.name);
        let problem = "its steps are not the requests of its script";
        return Err(StartError::invalid(workload, &field, problem));
    }
    if redirects.is_none() && sites.iter().any(|site| site.anywhere) {
        let field = format!("journey {:?}", journey.name);
        let problem =
            "its script may ask for URLs, and redirects do not say to which hosts they may lead";
        return Err(StartError::invalid(workload, &field, problem));
    }
    Ok(Some(Script {
        file: script.file.clone(),
        source,
        methods: sites.into_iter().map(|site| site.method).collect(),
        authority: host.to_owned(),
        authorization: steps().find_map(authorization),
        cookies: steps().any(|request| request.cookies),
        columns: script.columns.clone(),
        sleeps: script.sleeps,
    }))
}

/// The `Authorization` with which a request is to be sent.
fn authorization(request: &RequestSpec) -> Option<String> {
    let mut lines = request.headers.iter();
    let line = lines.find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    line.map(|(_, value)| value.clone())
}
