//! What the handle of a run knows of its loads, to change them.

use std::sync::Arc;

use crate::load::plan::Plan;
use crate::load::steering::{LoadChange, Steering};
use crate::run::files::OpenFiles;
use crate::schedule::course::Course;
use crate::spec::{Change, Continuation, LoadSpec, Role, SteerError, Steered};

/// How far ahead a change is made, so that every worker knows of it in time: each looks every 20 ms at least.
pub const STEER_NOTICE_NS: u64 = 60_000_000;

/// The course of every load, and the way to all workers.
#[derive(Debug)]
pub struct Control {
    plan: Arc<Plan>,
    courses: Vec<Course>,
    files: OpenFiles,
    steering: Arc<Steering>,
}

impl Control {
    pub fn new(plan: Arc<Plan>, files: OpenFiles, steering: Arc<Steering>) -> Self {
        let workloads = plan.workloads.iter();
        Self {
            courses: workloads.map(|one| Course::new(&one.load)).collect(),
            plan,
            files,
            steering,
        }
    }

    /// Changes a load from `at` on, on all workers. Returns also when the run, which was to end at `end`, ends now.
    pub fn steer(
        &mut self,
        workload: usize,
        change: Change,
        at: u64,
        end: u64,
    ) -> Result<(Steered, u64), SteerError> {
        let known = self.courses.get(workload);
        let mut course = known.ok_or(SteerError::NoWorkload(workload))?.clone();
        if at >= end.min(course.end_ns()) {
            return Err(SteerError::Over);
        }
        let continuation = course.continuation(at, change)?;
        if let Continuation::Clients(clients) = continuation {
            self.check_dealt(workload, clients)?;
            self.files.change_clients(workload, clients)?;
        }
        let ended_it = course.end_ns() == end;
        course.go_on(at, continuation);
        self.courses[workload] = course;
        self.steering.add(LoadChange {
            workload,
            at,
            continuation,
        });
        let steered = Steered {
            at_ns: at,
            continuation,
        };
        Ok((steered, if ended_it { self.end_ns() } else { end }))
    }

    /// The end of the longest measured load.
    fn end_ns(&self) -> u64 {
        let loads = self.plan.workloads.iter().zip(&self.courses);
        let measured = loads.filter(|(workload, _)| workload.role == Role::Measured);
        measured
            .map(|(_, course)| course.end_ns())
            .max()
            .unwrap_or(u64::MAX)
    }

    /// Whether further clients would find nothing to do: a number of requests is dealt to the workers that have clients
    /// at the start, and the turns of values and rows to such generators.
    fn check_dealt(&self, workload: usize, clients: u64) -> Result<(), SteerError> {
        let LoadSpec::Closed(closed) = &self.plan.workloads[workload].load else {
            return Ok(());
        };
        let dealt_to = match closed.requests {
            Some(_) => self.plan.workers(),
            None => self.plan.share.of,
        };
        if clients > closed.clients && closed.clients < dealt_to as u64 {
            return Err(SteerError::AllDealt(closed.clients));
        }
        Ok(())
    }
}
