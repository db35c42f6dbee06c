//! One client: its link to the server, and the record of what it does.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::load::Shared;
use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::record::sample::Sample;
use crate::schedule::random::Stream;
use crate::seat::Seat;
use crate::spec::LoadSpec;
use crate::wire::link::{Link, Unasked};
use crate::wire::request::Call;
use crate::wire::tap::TapStates;
use crate::wire::tls::Sessions;
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
    /// As it stands in the rows.
    pub number: u32,
    route: Route,
    taps: TapStates,
}

/// A client's link, and what it keeps from one to the next.
struct Route {
    shared: Rc<Shared>,
    /// Index of its workload.
    workload: usize,
    link: Option<Link>,
    /// Exchanges that the link has carried.
    used: u64,
    sessions: Sessions,
}

impl Client {
    pub fn new(shared: Rc<Shared>, seat: Seat, workload: usize, number: u32) -> Self {
        Self {
            seat,
            number,
            route: Route {
                shared,
                workload,
                link: None,
                used: 0,
                sessions: Sessions::default(),
            },
            taps: TapStates::default(),
        }
    }

    /// A new one takes its place, and inherits nothing.
    pub fn begin_anew(&mut self, number: u32) {
        self.hang_up();
        self.number = number;
        self.route.sessions = Sessions::default();
    }

    /// One request, from its intended start to its record.
    ///
    /// Boxed: what it needs is needed by those only that have a request in flight, not by all who think; and the next
    /// one gets the memory that the caches hold still.
    pub fn perform(
        &mut self,
        job: Job,
        random: &mut Stream,
    ) -> Pin<Box<impl Future<Output = Ended>>> {
        Box::pin(async move {
            let Route {
                shared, workload, ..
            } = &self.route;
            let shared = shared.clone();
            let workload = &shared.plan.workloads[*workload];
            let phase = workload.phase_at(job.intended);
            let mut sample = Sample::due(
                workload.index,
                job.request,
                phase,
                self.number,
                job.intended,
                job.ran,
            );
            if self.seat.stopping() {
                return self.finish(sample, Outcome::NeverSent);
            }
            self.route.check(&self.seat);
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
            let route = &mut self.route;
            let link = match &mut route.link {
                Some(link) => link,
                none => {
                    let (dialer, sessions) = (&shared.dialers[route.workload], &mut route.sessions);
                    let open = Link::open(dialer, &workload.target, sessions, &mut watch);
                    match Box::pin(open).await {
                        Ok(link) => none.insert(link),
                        Err(outcome) => return self.finish(sample, outcome),
                    }
                }
            };
            route.used += 1;
            let call = Call {
                request,
                random,
                last: job.last || per_connection(workload).is_some_and(|most| route.used >= most),
            };
            let outcome = link.exchange(call, &mut watch).await;
            let spent = link.is_spent();
            let ended = self.finish(sample, outcome);
            // At the end of the run links stay until all have been counted.
            if spent && self.seat.running(ended.at) {
                self.hang_up();
            }
            ended
        })
    }

    pub fn hang_up(&mut self) {
        self.route.hang_up(&self.seat);
    }

    /// As [`Seat::sleep_until`]; a link that the server closes meanwhile is given up.
    pub fn sleep_until(
        &mut self,
        due: u64,
        wanted: impl Fn() -> bool,
    ) -> impl Future<Output = Option<u64>> {
        let Self { seat, route, .. } = self;
        let seat: &Seat = seat;
        seat.sleep_until(due, wanted, move |cx| route.listen(seat, cx))
    }

    /// As [`Seat::wait_for`]; a link that the server closes meanwhile is given up.
    pub fn wait_for<T>(
        &mut self,
        ready: impl FnMut() -> Option<T>,
    ) -> impl Future<Output = Option<T>> {
        let Self { seat, route, .. } = self;
        let seat: &Seat = seat;
        seat.wait_for(ready, move |cx| route.listen(seat, cx))
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
            sample.why = None;
            sample.end = self.route.shared.last_moment();
        }
        self.route.shared.recorder.borrow_mut().ended(&sample);
        Ended {
            outcome: sample.outcome,
            at: sample.end,
        }
    }
}

impl Route {
    /// Gives the link up if it takes no other exchange.
    fn check(&mut self, seat: &Seat) {
        if let Some(link) = &mut self.link
            && let Err(unasked) = link.room()
        {
            self.give_up(unasked, seat);
        }
    }

    /// Gives the link up if the server closes it or speaks unasked; wakes the task when it does.
    fn listen(&mut self, seat: &Seat, cx: &mut Context<'_>) {
        if let Some(link) = &mut self.link
            && let Poll::Ready(unasked) = link.poll_unasked(cx)
        {
            self.give_up(unasked, seat);
        }
    }

    fn give_up(&mut self, unasked: Unasked, seat: &Seat) {
        if let Unasked::Spoke(what) = unasked {
            let mut recorder = self.shared.recorder.borrow_mut();
            recorder.excess(self.workload, what);
        }
        self.hang_up(seat);
    }

    fn hang_up(&mut self, seat: &Seat) {
        if let Some(link) = self.link.take() {
            self.used = 0;
            self.shared.recorder.borrow_mut().parted(self.workload);
            link.part(seat);
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
