//! The specification made ready to run: requests are encoded, checks prepared and addresses known.

use crate::exchange::observer::Limits;
use crate::exchange::redirect::Redirects;
use crate::exchange::request::Request;
use crate::journey::program::Journeys;
use crate::net::stamped::Stamping;
use crate::net::target::Target;
use crate::record::recorder::{Outline, WorkloadOutline};
use crate::schedule::mix::Mix;
use crate::script::source::Script;
use crate::spec::{LoadSpec, Role, ShareSpec};

/// What a run does; shared by all workers.
///
/// During the run only [`Turns`](crate::schedule::turns::Turns) and the other servers that [`Redirects`] know change.
#[derive(Debug)]
pub struct Plan {
    pub seed: u64,
    pub threads: usize,
    pub share: ShareSpec,
    pub interval_ns: u64,
    pub rows: bool,
    pub trace: bool,
    /// Whether workers busy-poll while a response or a due time is near.
    pub busy_poll: bool,
    /// The planned end of the run; `u64::MAX` if it ends only when its requests are done.
    pub end_ns: u64,
    pub workloads: Vec<Workload>,
    /// The scripts of all workloads.
    pub scripts: Vec<Script>,
}

#[derive(Debug)]
pub struct Workload {
    pub index: usize,
    pub role: Role,
    pub target: Target,
    /// Keeps the kernel's timestamping of received bytes on; `None` if it is not needed or not available.
    pub stamping: Option<Stamping>,
    pub requests: Vec<Request>,
    pub mix: Mix,
    pub journeys: Option<Journeys>,
    /// The workload number under which steps are recorded that every client makes only once; `None` if there are none.
    pub once_index: Option<usize>,
    pub load: LoadSpec,
    pub limits: Limits,
    /// How redirects are followed, and where the URLs that journeys ask for may lead.
    pub redirects: Option<Redirects>,
}

impl Plan {
    /// Returns what is to be recorded of this plan.
    pub fn outline(&self) -> Outline {
        Outline {
            interval_ns: self.interval_ns,
            end_ns: self.end_ns,
            rows: self.rows,
            workloads: self
                .workloads
                .iter()
                .map(Workload::outline)
                .chain(self.workloads.iter().filter_map(Workload::outline_once))
                .collect(),
        }
    }

    /// The most clients, and connections of open loads, that a worker can have.
    pub fn clients_per_worker(&self) -> u64 {
        let workers = self.workers() as u64;
        let clients = self.workloads.iter().map(|one| one.load.most_clients());
        clients.map(|clients| clients.div_ceil(workers)).sum()
    }

    /// The number of worker threads of all generators.
    pub fn workers(&self) -> usize {
        self.threads * self.share.of
    }

    /// The number of this generator's `thread` among those of all generators, which take turns.
    pub fn worker_index(&self, thread: usize) -> usize {
        thread * self.share.of + self.share.index
    }
}

impl Workload {
    fn outline(&self) -> WorkloadOutline {
        WorkloadOutline {
            measured: self.role == Role::Measured,
            requests: self.requests.len(),
            phases: self.phase_count(),
        }
    }

    fn outline_once(&self) -> Option<WorkloadOutline> {
        self.once_index.map(|_| WorkloadOutline {
            measured: false,
            ..self.outline()
        })
    }

    /// The number of phases of a closed load, or of pieces of the rate of an open one; at least 1.
    pub fn phase_count(&self) -> usize {
        match &self.load {
            LoadSpec::Closed(closed) => closed.phases.len().max(1),
            LoadSpec::Open(open) => open.rates.len().max(1),
        }
    }
}
