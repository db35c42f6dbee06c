//! One client: its link to the server, and the record of what it does.

use std::rc::Rc;

use crate::load::Shared;
use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::record::recorder::Sample;
use crate::schedule::random::Stream;
use crate::seat::Seat;
use crate::spec::LoadSpec;
use crate::wire::link::Link;
use crate::wire::request::Call;
use crate::wire::tap::TapStates;
use crate::wire::watch::Watch;

/// A request that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub request: usize,
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// No other request of this client follows.
    pub last: bool,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub outcome: Outcome,
    /// When the client is free again.
    pub at: u64,
}

/// In the open loop, a connection of the pool.
pub struct Client {
    pub seat: Seat,
    shared: Rc<Shared>,
    /// Index of its workload.
    workload: usize,
    /// As it stands in the rows.
    pub number: u32,
    link: Option<Link>,
    /// Exchanges that the link has carried.
    used: u64,
    taps: TapStates,
}

impl Client {
    pub fn new(shared: Rc<Shared>, seat: Seat, workload: usize, number: u32) -> Self {
        Self {
            seat,
            shared,
            workload,
            number,
            link: None,
            used: 0,
            taps: TapStates::default(),
        }
    }

    /// One request, from its intended start to its record.
    pub async fn perform(&mut self, job: &Job, random: &mut Stream) -> Ended {
        let shared = self.shared.clone();
        let workload = &shared.plan.workloads[self.workload];
        let mut sample = Sample::due(workload, job.request, self.number, job.intended, job.ran);
        if self.seat.stopping() {
            return self.finish(sample, Outcome::NeverSent);
        }
        if !self.link.as_mut().is_some_and(Link::has_room) {
            self.hang_up();
        }
        let request = &workload.requests[job.request];
        let mut watch = Watch {
            seat: &self.seat,
            recorder: &shared.recorder,
            limits: &workload.limits,
            request,
            taps: &mut self.taps,
            sample: &mut sample,
            at: 0,
        };
        let link = match &mut self.link {
            Some(link) => link,
            none => {
                let dialer = &shared.dialers[self.workload];
                let opened = Box::pin(Link::open(dialer, &workload.target, &mut watch)).await;
                match opened {
                    Ok(link) => none.insert(link),
                    Err(outcome) => return self.finish(sample, outcome),
                }
            }
        };
        self.used += 1;
        let call = Call {
            request,
            random,
            last: job.last || per_connection(workload).is_some_and(|most| self.used >= most),
        };
        let outcome = link.exchange(call, &mut watch).await;
        let spent = link.is_spent();
        let ended = self.finish(sample, outcome);
        // At the end of the run links stay until all have been counted.
        if spent && self.seat.running(ended.at) {
            self.hang_up();
        }
        ended
    }

    pub fn hang_up(&mut self) {
        if let Some(link) = self.link.take() {
            self.used = 0;
            self.shared.recorder.borrow_mut().parted(self.workload);
            link.part(&self.seat);
        }
    }

    fn finish(&mut self, mut sample: Sample, outcome: Outcome) -> Ended {
        self.seat.clear_deadline();
        if sample.end == 0 {
            sample.end = self.seat.now();
        }
        sample.outcome = outcome;
        // Nothing that comes after the end counts, so that all requests in flight end at the same moment.
        if !self.seat.running(sample.end) {
            sample.outcome = sample.given_up();
            sample.end = self.shared.last_moment();
        }
        self.shared.recorder.borrow_mut().ended(&sample);
        Ended {
            outcome: sample.outcome,
            at: sample.end,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn per_connection(workload: &Workload) -> Option<u64> {
    match &workload.load {
        LoadSpec::Closed(closed) => closed.requests_per_connection,
        LoadSpec::Open(open) => open.requests_per_connection,
    }
}
