//! The simulated server, as data. The load is described by the engine's specification.

use jostle_engine::schedule::random::Stream;
use jostle_engine::spec::{LoadSpec, RunSpec, ThinkSpec};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::discipline::{
    Assignment, Delay, Discipline, Fifo, GatedAnswers, GatedLifo, LeastAttained, Lifo,
    LockedThreads, Nanos, OwnQueues, ProcessorSharing, RandomOrder, RoundRobin, SharedQueues,
    Watchdog, Workers,
};

/// A server: who is served when, and how much service each request demands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    pub discipline: DisciplineSpec,
    /// Indexed by workload and request, as in the run's specification.
    pub services: Vec<Vec<ServiceSpec>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineSpec {
    /// First come, first served; each request runs to completion.
    Workers {
        workers: usize,
    },
    /// Last come, first served; not interrupted once begun.
    Lifo {
        workers: usize,
    },
    /// Every waiting request is equally likely to be next.
    RandomOrder {
        workers: usize,
    },
    /// One batch at a time, served from its end.
    GatedLifo,
    /// One batch at a time: its newest request first, then the others in the order of arrival, as a Tokio worker does.
    GatedSlot,
    ProcessorSharing {
        cores: usize,
    },
    RoundRobin {
        cores: usize,
        slice_ns: Nanos,
    },
    /// Round robin, but new requests go before all that have had a slice, the newest first.
    NewestFirst {
        cores: usize,
        slice_ns: Nanos,
    },
    /// The request that has had the least service goes next, for one slice.
    LeastAttained {
        cores: usize,
        slice_ns: Nanos,
    },
    /// A watchdog looks once per slice and interrupts requests that ran at its last look already, as Go's does.
    Watchdog {
        cores: usize,
        slice_ns: Nanos,
    },
    /// Each worker has its own queue.
    OwnQueues {
        workers: usize,
        assignment: Assignment,
    },
    /// The threads of a process share one core; a request that finds no free thread waits.
    LockedThreads {
        processes: usize,
        threads: usize,
        slice_ns: Nanos,
    },
    /// Each request runs to completion, but one that computed for `slice_ns` goes to the end of the queue before its
    /// answer is sent.
    GatedAnswers {
        cores: usize,
        slice_ns: Nanos,
    },
    /// Each request runs to completion, but one during whose computation a timer ticked goes to the end of the queue
    /// before its answer is sent, as with GHC. `phase_ns` is the time of the first tick.
    GatedByTimer {
        cores: usize,
        period_ns: Nanos,
        phase_ns: Nanos,
    },
    /// Each worker has its own queue, connections are dealt out in turn, and all workers share one core.
    SharedQueues {
        workers: usize,
        slice_ns: Nanos,
    },
    /// No request waits.
    Unlimited,
}

/// Draws below a number; a seed gives the same draws for ever.
pub(crate) fn drawing(seed: u64) -> impl FnMut(usize) -> usize + Send {
    let mut random = Stream::new(seed, &[]);
    move |below| random.below(below as u64) as usize
}

impl DisciplineSpec {
    /// Creates the discipline, idle. `seed` determines a random order.
    pub fn make<J: Send + 'static>(self, seed: u64) -> Box<dyn Discipline<J> + Send> {
        match self {
            Self::Workers { workers } => Box::new(Workers::new(workers, Fifo::default())),
            Self::Lifo { workers } => Box::new(Workers::new(workers, Lifo::default())),
            Self::RandomOrder { workers } => {
                Box::new(Workers::new(workers, RandomOrder::new(drawing(seed))))
            }
            Self::GatedLifo => Box::new(GatedLifo::default()),
            Self::GatedSlot => Box::new(GatedLifo::slot()),
            Self::ProcessorSharing { cores } => Box::new(ProcessorSharing::new(cores)),
            Self::RoundRobin { cores, slice_ns } => Box::new(RoundRobin::new(cores, slice_ns)),
            Self::NewestFirst { cores, slice_ns } => {
                Box::new(RoundRobin::newest_first(cores, slice_ns))
            }
            Self::LeastAttained { cores, slice_ns } => {
                Box::new(LeastAttained::new(cores, slice_ns))
            }
            Self::Watchdog { cores, slice_ns } => Box::new(Watchdog::new(cores, slice_ns)),
            Self::OwnQueues {
                workers,
                assignment,
            } => Box::new(OwnQueues::new(workers, assignment)),
            Self::LockedThreads {
                processes,
                threads,
                slice_ns,
            } => Box::new(LockedThreads::new(processes, threads, slice_ns)),
            Self::GatedAnswers { cores, slice_ns } => {
                Box::new(GatedAnswers::by_slice(cores, slice_ns))
            }
            Self::GatedByTimer {
                cores,
                period_ns,
                phase_ns,
            } => Box::new(GatedAnswers::by_timer(cores, period_ns, phase_ns)),
            Self::SharedQueues { workers, slice_ns } => {
                Box::new(SharedQueues::new(workers, slice_ns))
            }
            Self::Unlimited => Box::new(Delay::default()),
        }
    }

    /// How many requests are in service at once: the number of workers or threads, or of cores if requests share them.
    pub fn parallelism(self) -> usize {
        match self {
            Self::Workers { workers }
            | Self::Lifo { workers }
            | Self::RandomOrder { workers }
            | Self::OwnQueues { workers, .. }
            | Self::SharedQueues { workers, .. } => workers,
            Self::GatedLifo | Self::GatedSlot => 1,
            Self::ProcessorSharing { cores }
            | Self::RoundRobin { cores, .. }
            | Self::NewestFirst { cores, .. }
            | Self::LeastAttained { cores, .. }
            | Self::Watchdog { cores, .. }
            | Self::GatedAnswers { cores, .. }
            | Self::GatedByTimer { cores, .. } => cores,
            Self::LockedThreads {
                processes, threads, ..
            } => processes * threads,
            Self::Unlimited => usize::MAX,
        }
    }

    /// Refuses a discipline that could never serve a request.
    pub fn check(self) -> Result<(), SpecError> {
        let at_least_one = |counts: &[(&'static str, u64)]| {
            let zero = counts.iter().find(|(_, count)| *count == 0);
            zero.map_or(Ok(()), |(what, _)| Err(SpecError::Zero(what)))
        };
        match self {
            Self::Workers { workers }
            | Self::Lifo { workers }
            | Self::RandomOrder { workers }
            | Self::OwnQueues { workers, .. } => at_least_one(&[("workers", workers as u64)]),
            Self::ProcessorSharing { cores } | Self::GatedAnswers { cores, .. } => {
                at_least_one(&[("cores", cores as u64)])
            }
            Self::RoundRobin { cores, slice_ns }
            | Self::NewestFirst { cores, slice_ns }
            | Self::LeastAttained { cores, slice_ns }
            | Self::Watchdog { cores, slice_ns } => {
                at_least_one(&[("cores", cores as u64), ("slice_ns", slice_ns)])
            }
            Self::LockedThreads {
                processes,
                threads,
                slice_ns,
            } => at_least_one(&[
                ("processes", processes as u64),
                ("threads", threads as u64),
                ("slice_ns", slice_ns),
            ]),
            Self::GatedByTimer {
                cores, period_ns, ..
            } => at_least_one(&[("cores", cores as u64), ("period_ns", period_ns)]),
            Self::SharedQueues { workers, slice_ns } => {
                at_least_one(&[("workers", workers as u64), ("slice_ns", slice_ns)])
            }
            Self::GatedLifo | Self::GatedSlot | Self::Unlimited => Ok(()),
        }
    }
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
    #[error("{0} must be at least 1")]
    Zero(&'static str),
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
        return Err(SpecError::Zero("interval_ns"));
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
                    what: "a crowd whose clients end and are not replaced",
                });
            }
            if services.iter().any(|service| service.time.is_always_zero()) {
                return Err(SpecError::NoService { workload: name() });
            }
        }
    }
    Ok(())
}
