//! The checks of a run before it starts. Those of protocols, loads, journeys and parameters are in their own modules.

use crate::spec::error::StartError;
use crate::spec::load::{count_in_range, duration_in_range};
use crate::spec::{
    Order, Role, RunSpec, WorkloadSpec, datagram, grpc, http2, journey, params, raw, stream,
    websocket,
};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
/// Rows hold the numbers of workloads and requests in 16 bits.
const MAX_WORKLOADS: u64 = u16::MAX as u64;

/// Checks everything that can be checked without looking at the machine.
pub fn validate(spec: &RunSpec) -> Result<(), StartError> {
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
    if spec.real_time && spec.busy_poll {
        return Err(StartError::run(
            "busy_poll",
            "it does not go together with real_time: the kernel takes 50 ms of every second from a real-time thread \
             that never sleeps. Leave one of them out",
        ));
    }
    count_in_range(spec.workloads.len() as u64, MAX_WORKLOADS, "workload")
        .map_err(|problem| StartError::run("workloads", problem))?;
    let threads = spec.threads * spec.share.map_or(1, |share| share.of);
    for workload in &spec.workloads {
        check_workload(workload)?;
        http2::check(workload, threads as u64)?;
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
        measured().find(|workload| !workload.load.ends()),
    ) {
        return Err(StartError::invalid(
            &endless.name,
            "load",
            "it never ends: give the run a duration, or the load a number of requests",
        ));
    }
    Ok(())
}

fn check_workload(workload: &WorkloadSpec) -> Result<(), StartError> {
    let invalid =
        |field: &str, problem: &str| Err(StartError::invalid(&workload.name, field, problem));
    count_in_range(workload.requests.len() as u64, MAX_WORKLOADS, "request")
        .map_err(|problem| StartError::invalid(&workload.name, "requests", problem))?;
    if !workload.journeys.is_empty() {
        journey::check(workload)?;
    } else if workload.order == Order::Weighted
        && workload.requests.iter().all(|request| request.weight == 0)
    {
        return invalid("requests", "all weights are 0, so that none can be chosen");
    }
    for request in &workload.requests {
        params::check(workload, request)?;
        let problem = stream::problem(request)
            .or_else(|| websocket::problem(workload, request))
            .or_else(|| raw::problem(workload, request))
            .or_else(|| grpc::problem(workload, request))
            .or_else(|| datagram::problem(workload, request));
        if let Some(problem) = problem {
            return invalid(&format!("request {:?}", request.name), problem);
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
    let followed = workload.redirects.as_ref().map(|rule| rule.max_redirects);
    if followed == Some(0) && workload.journeys.is_empty() {
        return invalid(
            "redirects.most",
            "it is 0: leave redirects out if none is to be followed",
        );
    }
    workload.load.check(&workload.name)
}
