//! The specification made ready to run: requests encoded, checks prepared, addresses known.

use crate::record::recorder::{Outline, WorkloadOutline};
use crate::scenario::Mix;
use crate::scenario::program::Journeys;
use crate::scenario::script::Script;
use crate::schedule::phases::Phases;
use crate::spec::{LoadSpec, Role, ShareSpec};
use crate::wire::redirect::Redirects;
use crate::wire::request::Request;
use crate::wire::stamped::Stamping;
use crate::wire::target::Target;
use crate::wire::watch::Limits;

/// Shared by all workers, and never changed but for the [`Turns`](crate::wire::request::Turns).
#[derive(Debug)]
pub struct Plan {
    pub seed: u64,
    pub threads: usize,
    pub share: ShareSpec,
    pub interval_ns: u64,
    pub rows: bool,
    pub trace: bool,
    /// Workers wait awake while an answer or a due time is near.
    pub attentive: bool,
    /// When the run ends by its plan; `u64::MAX` if only its requests end it.
    pub end_ns: u64,
    pub workloads: Vec<Workload>,
    /// Of all workloads.
    pub scripts: Vec<Script>,
}

#[derive(Debug)]
pub struct Workload {
    pub index: usize,
    pub role: Role,
    pub target: Target,
    /// Where the kernel is to say when events come.
    pub stamping: Option<Stamping>,
    pub requests: Vec<Request>,
    pub mix: Mix,
    pub journeys: Option<Journeys>,
    /// The number under which the steps are recorded that every client makes once; `None` where there are none.
    pub apart: Option<usize>,
    pub load: LoadSpec,
    /// Of a closed load that has them.
    pub phases: Option<Phases>,
    pub limits: Limits,
    /// How redirects are followed, if they are.
    pub redirects: Option<Redirects>,
}

impl Plan {
    /// What of it is to be recorded.
    pub fn outline(&self) -> Outline {
        Outline {
            interval_ns: self.interval_ns,
            end_ns: self.end_ns,
            rows: self.rows,
            workloads: self
                .workloads
                .iter()
                .map(Workload::outline)
                .chain(self.workloads.iter().filter_map(Workload::outline_apart))
                .collect(),
        }
    }

    /// Clients, or connections of open loads, that a worker of this run has at most.
    pub fn clients_per_worker(&self) -> u64 {
        let clients = self.workloads.iter().map(|workload| match &workload.load {
            LoadSpec::Closed(closed) => closed.clients,
            LoadSpec::Open(open) => open.max_connections,
        });
        clients.sum::<u64>().div_ceil(self.workers() as u64)
    }

    /// Worker threads of all generators.
    pub fn workers(&self) -> usize {
        self.threads * self.share.of
    }

    /// The number of this generator's thread among all of them: generators take turns.
    pub fn worker(&self, thread: usize) -> usize {
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

    fn outline_apart(&self) -> Option<WorkloadOutline> {
        self.apart.map(|_| WorkloadOutline {
            measured: false,
            ..self.outline()
        })
    }

    /// At least 1. Phases of a closed load; of an open one, its pieces of the rate.
    pub fn phase_count(&self) -> usize {
        match &self.load {
            LoadSpec::Closed(closed) => closed.phases.len().max(1),
            LoadSpec::Open(open) => open.rates.len().max(1),
        }
    }

    /// The phase in which a request with this intended start is counted.
    pub fn phase_at(&self, intended: u64) -> usize {
        match (&self.load, &self.phases) {
            (LoadSpec::Closed(_), Some(phases)) => phases.phase_at(intended),
            (LoadSpec::Closed(_), None) => 0,
            (LoadSpec::Open(open), _) => open.phase_at(intended),
        }
    }
}
