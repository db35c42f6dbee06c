//! Steps that are sent together, as a browser asks for what a page needs: over several connections of one client, or over
//! HTTP/2 as streams of its one connection.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::iter::once;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use crate::load::Shared;
use crate::load::client::{Client, Ended, Job};
use crate::load::journey::{Visit, ends_with, journeys_of};
use crate::plan::Workload;
use crate::record::interval::Outcome;
use crate::record::journeys::HowEnded;
use crate::scenario::program::Program;
use crate::scenario::traveller::Traveller;
use crate::schedule::random::Stream;
use crate::wire::h2::OneConnection;

/// What one client has on its journeys: what it knows, and its connections.
pub struct Visitor {
    pub traveller: RefCell<Traveller>,
    pub lanes: Lanes,
}

/// A client's connections beside its first one, or streams, each from the moment when it is first needed. Boxed: most
/// clients have none.
#[derive(Default)]
pub struct Lanes(Option<Box<Several>>);

struct Several {
    clients: Vec<Client>,
    /// Over HTTP/2, the one whose streams they are.
    connection: Option<Rc<OneConnection>>,
}

/// The steps that are due together, when, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub journey: usize,
    /// The first of its steps.
    pub first: usize,
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// The first of its requests was counted when it became due.
    pub counted: bool,
}

/// How a step has ended, or steps that were sent together.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// The last of them.
    pub at: u64,
    /// Of the first that failed.
    pub outcome: Outcome,
    /// It ends the journey.
    pub how: Option<HowEnded>,
}

impl Visitor {
    pub fn new(traveller: Traveller, lanes: Lanes) -> Self {
        Self {
            traveller: RefCell::new(traveller),
            lanes,
        }
    }
}

impl Lanes {
    /// For a client of this workload.
    pub fn new(shared: &Shared, workload: &Workload) -> Self {
        let mut programs = workload.journeys.iter().flat_map(|all| &all.programs);
        Self(programs.any(Program::sends_together).then(|| {
            let (dialer, target) = (&shared.dialers[workload.index], &workload.target);
            let one = target.http2.map(|_| OneConnection::of(dialer, target));
            Box::new(Several {
                clients: Vec::new(),
                connection: one.map(Rc::new),
            })
        }))
    }

    /// Over which all requests go, if it is one.
    pub fn connection(&self) -> Option<&OneConnection> {
        self.0
            .as_ref()
            .and_then(|several| several.connection.as_deref())
    }

    /// The first `count` of them.
    async fn take(&mut self, count: usize, beside: &Client) -> &mut [Client] {
        let Some(several) = &mut self.0 else {
            return &mut [];
        };
        let lanes = &mut several.clients;
        while lanes.len() < count {
            let lane = beside.beside();
            lane.seat.sit().await;
            lanes.push(lane);
        }
        &mut lanes[..count]
    }
}

/// Sends the steps of a group, each over the connection that is free first, or over HTTP/2 as a stream. `None` if none of
/// them applies.
///
/// Boxed, as what a single request needs.
pub fn together<'a>(
    client: &'a mut Client,
    visitor: &'a mut Visitor,
    group: Group,
    random: &'a mut Stream,
) -> Pin<Box<impl Future<Output = Option<Done>> + 'a>> {
    Box::pin(async move {
        let shared = client.shared().clone();
        let workload = &shared.plan.workloads[client.workload()];
        let journeys = journeys_of(workload);
        let program = &journeys.programs[group.journey];
        let Visitor { traveller, lanes } = visitor;
        let members = traveller
            .borrow()
            .members(journeys, program, group.first, random);
        let one = lanes
            .0
            .as_ref()
            .and_then(|several| several.connection.clone());
        let one = one.as_deref();
        let visit = |number| Visit::new(traveller, journeys, group.journey, number, one);
        let due = group.ran.unwrap_or(group.intended);
        for number in members.iter().skip(usize::from(group.counted)) {
            let recorded = visit(*number).recorded(workload);
            shared.recorder.borrow_mut().due(recorded, due);
        }
        // Each has a random stream of its own, so that it does not matter which is sent first.
        let streams = members
            .iter()
            .map(|number| (*number, Stream::new(random.below(u64::MAX), &[])));
        let waiting = RefCell::new(streams.collect::<VecDeque<_>>());
        // Each is a stream of its own, and waits for a free one where the server takes no more.
        let most = one.map_or(program.connections, |_| members.len());
        let count = most.min(members.len());
        let lanes = lanes.take(count.saturating_sub(1), client).await;
        let ended: RefCell<Vec<(usize, Ended)>> = RefCell::default();
        let ways = once(client).chain(lanes).take(count).map(|client| {
            Box::pin(async {
                let client = client;
                let mut ran = group.ran;
                loop {
                    let Some((number, mut random)) = waiting.borrow_mut().pop_front() else {
                        return;
                    };
                    let visit = visit(number);
                    let job = Job {
                        request: visit.step().request,
                        intended: group.intended,
                        // Who waits for a connection is not kept waiting by the generator.
                        ran: ran.take(),
                        last: false,
                    };
                    let done = client.perform(job, &mut random, Some(visit)).await;
                    ended.borrow_mut().push((number, done));
                }
            })
        });
        all(ways.collect()).await;
        let mut ended = ended.into_inner();
        ended.sort_unstable_by_key(|(number, _)| *number);
        let outcomes = || ended.iter().map(|(number, done)| (*number, done.outcome));
        let mut ends = outcomes()
            .filter_map(|(number, outcome)| ends_with(&program.steps[number], number, outcome));
        let unfinished = ends.clone().find(|how| *how == HowEnded::Unfinished);
        let mut failures = outcomes().filter(|(_, outcome)| *outcome != Outcome::Ok);
        Some(Done {
            at: ended.iter().map(|(_, done)| done.at).max()?,
            outcome: failures.next().map_or(Outcome::Ok, |(_, outcome)| outcome),
            how: unfinished.or_else(|| ends.next()),
        })
    })
}

/// Waits until all have ended.
async fn all<F: Future<Output = ()>>(mut ways: Vec<Pin<Box<F>>>) {
    poll_fn(|cx| {
        ways.retain_mut(|way| way.as_mut().poll(cx).is_pending());
        if ways.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
