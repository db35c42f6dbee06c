//! Load models: who sends the next request, and when.
pub mod plan;
pub mod step;

pub mod client;
pub mod closed;
pub mod journey;
pub mod open;
pub mod parallel;
pub mod run_end;
pub mod steering;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use crate::exchange::h2::pool::Pool;
use crate::load::plan::{Plan, Workload};
use crate::load::run_end::RunEnd;
use crate::machine::busy_polling::BusyPolling;
use crate::machine::clock::Clock;
use crate::machine::tasks::Tasks;
use crate::net::buffers::WorkerBuffers;
use crate::net::dial::Dialer;
use crate::record::recorder::Recorder;
use crate::schedule::course::Course;
use crate::script::Vm;
use crate::spec::Role;

/// What the clients of all loads of one worker share.
pub struct Shared {
    /// The worker's number among those of all generators.
    pub worker: usize,
    pub plan: Arc<Plan>,
    pub clock: Clock,
    pub tasks: Rc<Tasks>,
    pub recorder: Rc<RefCell<Recorder>>,
    pub run_end: Arc<RunEnd>,
    /// How each workload goes on, as planned and as changed since.
    pub courses: Vec<RefCell<Course>>,
    /// One per workload, in the plan's order.
    pub dialers: Vec<Dialer>,
    /// The connections that clients share (HTTP/2): one pool per workload.
    pub pools: Vec<Rc<Pool>>,
    /// `None` if no journey of the run is a script.
    pub scripts: Option<Vm>,
}

impl Shared {
    /// Must be called within the runtime.
    pub fn new(
        worker: usize,
        plan: Arc<Plan>,
        clock: Clock,
        run_end: Arc<RunEnd>,
        recorder: Recorder,
    ) -> io::Result<Self> {
        let buffers = Rc::new(WorkerBuffers::default());
        let busy_polling = BusyPolling::new(plan.busy_poll, recorder.waited_ns.clone());
        let recorder = Rc::new(RefCell::new(recorder));
        let dialer = |workload: &Workload| {
            let (index, stamps) = (workload.index, workload.stamping.is_some());
            Dialer::new(worker, index, stamps, buffers.clone(), recorder.clone())
        };
        let pool = |workload: &Workload| {
            let connections = workload.target.http2.and_then(|http2| http2.connections);
            Pool::new(connections.unwrap_or(0) as usize / plan.workers())
        };
        let scripts = (!plan.scripts.is_empty())
            .then(|| Vm::new(&plan.scripts, plan.clients_per_worker(), plan.trace))
            .transpose()
            .map_err(io::Error::other)?;
        Ok(Self {
            worker,
            dialers: plan.workloads.iter().map(dialer).collect(),
            courses: plan
                .workloads
                .iter()
                .map(|workload| RefCell::new(Course::new(&workload.load)))
                .collect(),
            pools: plan.workloads.iter().map(pool).collect(),
            scripts,
            plan,
            clock,
            tasks: Tasks::new(clock, busy_polling)?,
            recorder,
            run_end,
        })
    }

    /// The phase in which a request of a workload with this intended start is counted.
    pub fn phase_at(&self, workload: usize, intended: u64) -> usize {
        self.courses[workload].borrow().phase_at(intended)
    }

    /// Notes that a workload is done on this worker. One that is not measured never keeps the run alive.
    pub fn workload_done(&self, workload: &Workload, now: u64) {
        if workload.role == Role::Measured {
            self.run_end.workload_done(now);
        }
    }

    /// When requests still in hand at the end count as given up.
    ///
    /// That is the end of the run, or a little later if this worker recorded events before it noticed the end.
    pub fn last_moment(&self) -> u64 {
        self.run_end.end_ns().max(self.recorder.borrow().latest())
    }
}
