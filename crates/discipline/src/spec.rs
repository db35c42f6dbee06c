//! A discipline as data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Assignment, Delay, Discipline, Fifo, GatedAnswers, GatedLifo, LeastAttained, Lifo,
    LockedThreads, Nanos, OwnQueues, ProcessorSharing, RandomOrder, RoundRobin, SharedQueues,
    Watchdog, Workers,
};

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
    /// response is sent.
    GatedAnswers {
        cores: usize,
        slice_ns: Nanos,
    },
    /// Each request runs to completion, but one during whose computation a timer ticked goes to the end of the queue
    /// before its response is sent, as with GHC. `phase_ns` is the time of the first tick.
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

/// What is zero, so that no request would ever be served.
#[derive(Debug, Clone, Copy, Error, PartialEq, Eq)]
#[error("{0} must be at least 1")]
pub struct ZeroParameter(pub &'static str);

impl DisciplineSpec {
    /// Creates the discipline, idle. Where the order is random, `draw` chooses a place below the number that it is given.
    pub fn make<J: Send + 'static>(
        self,
        draw: impl FnMut(usize) -> usize + Send + 'static,
    ) -> Box<dyn Discipline<J> + Send> {
        match self {
            Self::Workers { workers } => Box::new(Workers::new(workers, Fifo::default())),
            Self::Lifo { workers } => Box::new(Workers::new(workers, Lifo::default())),
            Self::RandomOrder { workers } => {
                Box::new(Workers::new(workers, RandomOrder::new(draw)))
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
    pub fn check(self) -> Result<(), ZeroParameter> {
        let at_least_one = |counts: &[(&'static str, u64)]| {
            let zero = counts.iter().find(|(_, count)| *count == 0);
            zero.map_or(Ok(()), |(what, _)| Err(ZeroParameter(what)))
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
