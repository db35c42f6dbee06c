//! The simulated server, as data. The load is described by the engine's specification.

use jostle_discipline::Nanos;
use jostle_discipline::spec::{DisciplineSpec, ZeroParameter};
use jostle_engine::schedule::random::Rng;
use jostle_engine::spec::{LoadSpec, RunSpec, ThinkSpec};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A server: who is served when, and how much service each request demands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    pub discipline: DisciplineSpec,
    /// Indexed by workload and request, as in the run's specification.
    pub services: Vec<Vec<ServiceSpec>>,
}

/// Draws below a number; a seed gives the same draws for ever.
pub(crate) fn drawing(seed: u64) -> impl FnMut(usize) -> usize + Send {
    let mut random = Rng::new(seed, &[]);
    move |below| random.below(below as u64) as usize
}

/// The service of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    pub time: TimeSpec,
    /// Whether the request waits for something else, holding neither a worker nor a core meanwhile.
    #[serde(default)]
    pub waits: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimeSpec {
    /// Drawn at random from these measured times, of which there must be at least one.
    Measured { ns: Vec<Nanos> },
    /// Drawn in the same way as think times.
    #[serde(untagged)]
    Drawn(ThinkSpec),
}

impl TimeSpec {
    fn is_empty_list(&self) -> bool {
        let (Self::Measured { ns } | Self::Drawn(ThinkSpec::List { ns })) = self else {
            return false;
        };
        ns.is_empty()
    }

    fn is_always_zero(&self) -> bool {
        match self {
            Self::Measured { ns } => ns.iter().all(|ns| *ns == 0),
            // Every draw is that of a client's first turn.
            Self::Drawn(ThinkSpec::List { ns }) => ns.first().is_none_or(|ns| *ns == 0),
            Self::Drawn(ThinkSpec::None) => true,
            Self::Drawn(ThinkSpec::Constant { ns } | ThinkSpec::Uniform { ns, .. }) => *ns == 0,
            Self::Drawn(ThinkSpec::Exponential { mean_ns }) => *mean_ns == 0,
        }
    }
}

/// Why a run cannot be simulated.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SpecError {
    #[error(transparent)]
    ZeroParameter(#[from] ZeroParameter),
    #[error("the server states services for {given} workloads, and the run has {needed}")]
    Workloads { given: usize, needed: usize },
    #[error(
        "the server states {given} services for workload {workload:?}, which has {needed} requests"
    )]
    Requests {
        workload: String,
        given: usize,
        needed: usize,
    },
    #[error("workload {workload:?}: a list of service times needs at least one time")]
    NoTimes { workload: String },
    #[error(
        "workload {workload:?}: a service that always takes no time answers a closed load for ever in one moment: \
         give it a positive time"
    )]
    NoService { workload: String },
    /// What the engine says of a load.
    #[error("{0}")]
    Load(String),
    #[error("workload {workload:?}: {what} cannot be simulated")]
    Unsupported {
        workload: String,
        what: &'static str,
    },
    #[error(
        "the run would never end: give it a duration, or every measured workload a number of requests"
    )]
    Endless,
}

/// Checks what the simulator requires beyond the engine's specification.
pub(crate) fn check(run: &RunSpec, server: &ServerSpec) -> Result<(), SpecError> {
    server.discipline.check()?;
    if run.interval_ns == 0 {
        return Err(ZeroParameter("interval_ns").into());
    }
    if server.services.len() != run.workloads.len() {
        return Err(SpecError::Workloads {
            given: server.services.len(),
            needed: run.workloads.len(),
        });
    }
    for (workload, services) in run.workloads.iter().zip(&server.services) {
        let name = || workload.name.clone();
        if services.len() != workload.requests.len() {
            return Err(SpecError::Requests {
                workload: name(),
                given: services.len(),
                needed: workload.requests.len(),
            });
        }
        let loaded = workload.load.check(&workload.name);
        loaded.map_err(|error| SpecError::Load(error.to_string()))?;
        if services.iter().any(|service| service.time.is_empty_list()) {
            return Err(SpecError::NoTimes { workload: name() });
        }
        if let LoadSpec::Closed(closed) = &workload.load {
            if closed.requests_per_client.is_some() && !closed.renew {
                return Err(SpecError::Unsupported {
                    workload: name(),
                    what: "a closed whose clients end and are not replaced",
                });
            }
            if services.iter().any(|service| service.time.is_always_zero()) {
                return Err(SpecError::NoService { workload: name() });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jostle_discipline::{RandomOrder, Waiting};

    use super::*;

    #[test]
    fn a_seed_gives_the_same_random_order_for_ever() {
        let mut waiting = RandomOrder::new(drawing(7));
        (0..8).for_each(|job| waiting.push(job));
        let order: Vec<i32> = std::iter::from_fn(|| waiting.pop()).collect();
        assert_eq!(order, [3, 7, 5, 1, 0, 4, 2, 6]);
    }
}
