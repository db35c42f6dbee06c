//! A simulated run: moves from event to event, and yields intervals.

use jostle_engine::interval::Interval;
use jostle_engine::schedule::mix::Mix;
use jostle_engine::spec::{LoadSpec, Role, RunSpec, WorkloadSpec};

use crate::closed::ClosedLoop;
use crate::open::OpenLoop;
use crate::recorder::Recorder;
use crate::server::{Job, Server};
use crate::spec::{ServerSpec, SpecError, check};
use jostle_discipline::{Done, Nanos};

/// What the clients act on.
pub struct Environment {
    pub now: Nanos,
    pub server: Server,
    pub recorder: Recorder,
}

enum Load {
    Closed(Box<ClosedLoop>),
    Open(Box<OpenLoop>),
}

struct Workload {
    measured: bool,
    load: Load,
}

/// An iterator over the intervals of a run, of which the last is marked.
pub struct Simulation {
    environment: Environment,
    workloads: Vec<Workload>,
    interval_ns: Nanos,
    start: Nanos,
    /// `None` if the run ends with its last request.
    end: Option<Nanos>,
    done: Vec<Done<Job>>,
    over: bool,
}

impl Simulation {
    /// Uses everything in the run's specification that determines when requests are due, but not targets and threads.
    /// All random numbers follow from its seed, so the same specification gives the same run.
    ///
    /// # Errors
    /// If the server does not fit the load, or the load cannot be simulated.
    pub fn new(run: RunSpec, server: ServerSpec) -> Result<Self, SpecError> {
        check(&run, &server)?;
        let seed = run.seed;
        let outline: Vec<_> = run.workloads.iter().map(outline).collect();
        let workloads = run.workloads.into_iter().enumerate();
        let workloads: Vec<Workload> = workloads
            .map(|(index, workload)| Workload::new(index as u16, workload, seed))
            .collect();
        let phased = workloads.iter().filter(|workload| workload.measured);
        let phased = phased
            .map(Workload::planned_end)
            .collect::<Option<Vec<_>>>();
        let planned = phased.and_then(|ends| ends.into_iter().max());
        let end = [run.duration_ns, planned].into_iter().flatten().min();
        let mut measured = workloads.iter().filter(|workload| workload.measured);
        if end.is_none() && !measured.all(Workload::is_bounded) {
            return Err(SpecError::Endless);
        }
        Ok(Self {
            environment: Environment {
                now: 0,
                server: Server::new(server, seed),
                recorder: Recorder::new(&outline),
            },
            workloads,
            interval_ns: run.interval_ns,
            start: 0,
            end,
            done: Vec::new(),
            over: false,
        })
    }

    /// Moves to the next event before `limit`; returns false if there is none.
    fn step(&mut self, limit: Nanos) -> bool {
        let environment = &mut self.environment;
        let loads = self.workloads.iter_mut();
        let next = loads
            .filter_map(|workload| workload.load.next_event())
            .chain(environment.server.next_event())
            .min();
        let Some(now) = next.filter(|at| *at < limit) else {
            return false;
        };
        environment.now = now;
        let mut done = std::mem::take(&mut self.done);
        environment.server.advance(now, &mut done);
        for Done { at, job } in done.drain(..) {
            match &mut self.workloads[usize::from(job.workload)].load {
                Load::Closed(closed) => closed.receive(job, at, environment),
                Load::Open(open) => open.receive(job, at, environment),
            }
        }
        self.done = done;
        for workload in &mut self.workloads {
            match &mut workload.load {
                Load::Closed(closed) => closed.advance(environment),
                Load::Open(open) => open.advance(environment),
            }
        }
        true
    }

    /// Whether every measured workload has had all of its requests.
    fn is_done(&self) -> bool {
        let mut measured = self.workloads.iter().filter(|workload| workload.measured);
        measured.all(|workload| match &workload.load {
            Load::Closed(closed) => closed.is_done(),
            Load::Open(open) => open.is_done(),
        })
    }

    fn stop(&mut self, at: Nanos) -> Interval {
        self.over = true;
        self.environment.now = at;
        for workload in &mut self.workloads {
            match &mut workload.load {
                Load::Closed(closed) => closed.stop(&mut self.environment),
                Load::Open(open) => open.stop(&mut self.environment),
            }
        }
        self.environment.recorder.cut(at.max(self.start + 1), true)
    }
}

impl Iterator for Simulation {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        if self.over {
            return None;
        }
        let boundary = self.start + self.interval_ns;
        let limit = self.end.map_or(boundary, |end| boundary.min(end));
        while self.step(limit) {
            if self.is_done() {
                return Some(self.stop(self.environment.now));
            }
        }
        if self.end == Some(limit) {
            return Some(self.stop(limit));
        }
        self.start = boundary;
        Some(self.environment.recorder.cut(boundary, false))
    }
}

impl Workload {
    fn new(index: u16, spec: WorkloadSpec, seed: u64) -> Self {
        let mix = Mix::new(spec.order, &spec.requests);
        let timeout = spec.timeouts.total_ns;
        Self {
            measured: spec.role == Role::Measured,
            load: match spec.load {
                LoadSpec::Closed(closed) => {
                    Load::Closed(Box::new(ClosedLoop::new(index, closed, mix, timeout, seed)))
                }
                LoadSpec::Open(open) => {
                    Load::Open(Box::new(OpenLoop::new(index, open, mix, timeout, seed)))
                }
            },
        }
    }

    /// The end of a closed loop with phases.
    fn planned_end(&self) -> Option<Nanos> {
        match &self.load {
            Load::Closed(closed) => closed.planned_end(),
            Load::Open(_) => None,
        }
    }

    fn is_bounded(&self) -> bool {
        match &self.load {
            Load::Closed(closed) => closed.is_bounded(),
            Load::Open(open) => open.is_bounded(),
        }
    }
}

impl Load {
    fn next_event(&mut self) -> Option<Nanos> {
        match self {
            Self::Closed(closed) => closed.next_event(),
            Self::Open(open) => open.next_event(),
        }
    }
}

fn outline(workload: &WorkloadSpec) -> (usize, usize) {
    let phases = match &workload.load {
        LoadSpec::Closed(closed) => closed.phases.len(),
        LoadSpec::Open(open) => open.rates.len(),
    };
    (workload.requests.len(), phases.max(1))
}
