//! Load models: who sends the next request, and when.

mod client;
pub mod closed;
pub mod finish;
mod journey;
pub mod open;
mod together;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use crate::attention::Attention;
use crate::plan::{Plan, Workload};
use crate::record::recorder::Recorder;
use crate::scenario::script::Vm;
use crate::schedule::clock::Clock;
use crate::seat::Seats;
use crate::spec::Role;
use crate::wire::Common;
use crate::wire::dial::Dialer;
use finish::Finish;

/// What the clients of all loads of one worker share.
pub struct Shared {
    /// The worker's number among those of all generators.
    pub worker: usize,
    pub plan: Arc<Plan>,
    pub clock: Clock,
    pub seats: Rc<Seats>,
    pub recorder: Rc<RefCell<Recorder>>,
    pub finish: Arc<Finish>,
    /// One per workload, in the plan's order.
    pub dialers: Vec<Dialer>,
    /// `None` if no journey of the run is a script.
    pub scripts: Option<Vm>,
}

impl Shared {
    /// Must be called within the runtime.
    pub fn new(
        worker: usize,
        plan: Arc<Plan>,
        clock: Clock,
        finish: Arc<Finish>,
        recorder: Recorder,
    ) -> io::Result<Self> {
        let common = Rc::new(Common::default());
        let attention = Attention::new(plan.attentive, recorder.waited_ns.clone());
        let recorder = Rc::new(RefCell::new(recorder));
        let dialer = |workload: &Workload| {
            let shared = workload.target.http2.and_then(|http2| http2.connections);
            let shared = shared.unwrap_or(0) as usize / plan.workers();
            let stamps = workload.stamping.is_some();
            Dialer::new(worker, shared, stamps, common.clone(), recorder.clone())
        };
        let scripts = (!plan.scripts.is_empty())
            .then(|| Vm::new(&plan.scripts, plan.clients_per_worker(), plan.trace))
            .transpose()
            .map_err(io::Error::other)?;
        Ok(Self {
            worker,
            dialers: plan.workloads.iter().map(dialer).collect(),
            scripts,
            plan,
            clock,
            seats: Seats::new(clock, attention)?,
            recorder,
            finish,
        })
    }

    /// Notes that a workload is done on this worker. One that is not measured never keeps the run alive.
    pub fn workload_done(&self, workload: &Workload, now: u64) {
        if workload.role == Role::Measured {
            self.finish.one_done(now);
        }
    }

    /// When requests still in hand at the end count as given up.
    ///
    /// That is the end of the run, or a little later if this worker recorded events before it noticed the end.
    pub fn last_moment(&self) -> u64 {
        self.finish.end_ns().max(self.recorder.borrow().latest())
    }
}
