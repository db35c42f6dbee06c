//! Load models: who sends the next request, and when.

pub mod closed;
pub mod finish;
pub mod open;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use crate::plan::{Plan, Workload};
use crate::record::ports::PortTable;
use crate::record::recorder::Recorder;
use crate::schedule::clock::Clock;
use crate::seat::Seats;
use crate::spec::Role;
use crate::wire::dial::Turns;
use finish::Finish;

const SCRATCH_BYTES: usize = 64 * 1024;

/// What the clients of all loads of one worker share.
pub struct Shared {
    /// The worker's number among those of all generators.
    pub worker: usize,
    pub plan: Arc<Plan>,
    pub clock: Clock,
    pub seats: Rc<Seats>,
    pub recorder: RefCell<Recorder>,
    pub finish: Arc<Finish>,
    /// All clients read into this; what is to be kept is copied by whoever keeps it.
    pub scratch: RefCell<Box<[u8]>>,
    /// Buffers for requests with parameters, used again and again.
    pub spare: RefCell<Vec<Vec<u8>>>,
    pub ports: Rc<PortTable>,
    /// By workload.
    pub turns: Vec<Turns>,
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
        Ok(Self {
            worker,
            ports: recorder.ports.clone(),
            turns: plan.workloads.iter().map(|_| Turns::new(worker)).collect(),
            plan,
            clock,
            seats: Seats::new(clock)?,
            recorder: RefCell::new(recorder),
            finish,
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            spare: RefCell::default(),
        })
    }

    /// A load that is not measured never keeps the run alive.
    pub fn workload_done(&self, workload: &Workload, now: u64) {
        if workload.role == Role::Measured {
            self.finish.one_done(now);
            self.seats.wake_own();
        }
    }

    /// The run goes on at `now`, so another request may be begun.
    pub fn running(&self, now: u64) -> bool {
        !self.seats.stopping() && now < self.finish.end_ns()
    }

    /// When what is still in hand at the end was given up: the end of the run, or a moment later where events
    /// came in before this worker saw it.
    pub fn last_moment(&self) -> u64 {
        self.finish.end_ns().max(self.recorder.borrow().latest())
    }
}
