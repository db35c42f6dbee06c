//! Steps that are sent together, as a browser requests what a page needs: over several connections of one client, or
//! over HTTP/2 as streams of its one connection.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::iter::once;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use crate::exchange::h2::pool::OneConnection;
use crate::journey::program::Program;
use crate::journey::state::JourneyState;
use crate::load::Shared;
use crate::load::client::{Client, Ended, Job};
use crate::load::plan::Workload;
use crate::load::step::{StepContext, ends_with, journeys_of};
use crate::outcome::Outcome;
use crate::record::journeys::HowEnded;
use crate::schedule::random::Rng;

/// What a client on journeys has: what it knows, and its additional connections.
pub struct JourneyClient {
    pub state: RefCell<JourneyState>,
    pub parallel: ParallelClients,
}

/// A client's connections (or streams) besides its first one, each created when it is first needed.
///
/// Boxed because most clients have none.
#[derive(Default)]
pub struct ParallelClients(Option<Box<AdditionalConnections>>);

struct AdditionalConnections {
    /// Each has one connection, or one stream.
    clients: Vec<Client>,
    /// Over HTTP/2, the one connection whose streams they are.
    http2: Option<Rc<OneConnection>>,
}

/// The steps that are due together, when, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub journey: usize,
    /// Number of its first step in the journey.
    pub first: usize,
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// Whether its first request was counted when it became due.
    pub counted: bool,
}

/// How a step ended, or a group of steps that were sent together.
#[derive(Debug, Clone, Copy)]
pub struct StepEnd {
    /// When the last of them ended.
    pub at: u64,
    /// When the client is free again.
    pub free: u64,
    /// The outcome of the first one, in the journey's order, that failed; otherwise `Ok`.
    pub outcome: Outcome,
    /// How the journey ends, if it ends here.
    pub how: Option<HowEnded>,
}

impl JourneyClient {
    pub fn new(state: JourneyState, parallel: ParallelClients) -> Self {
        Self {
            state: RefCell::new(state),
            parallel,
        }
    }
}

impl ParallelClients {
    /// Creates those of a client of this workload.
    pub fn new(shared: &Shared, workload: &Workload) -> Self {
        let mut programs = workload.journeys.iter().flat_map(|all| &all.programs);
        Self(programs.any(Program::sends_together).then(|| {
            let (pool, target) = (&shared.pools[workload.index], &workload.target);
            let http2 = target.http2.map(|_| OneConnection::of(pool, target));
            Box::new(AdditionalConnections {
                clients: Vec::new(),
                http2: http2.map(Rc::new),
            })
        }))
    }

    /// The connection for all requests, if steps are sent together over HTTP/2.
    pub fn http2(&self) -> Option<&Rc<OneConnection>> {
        self.0
            .as_ref()
            .and_then(|additional| additional.http2.as_ref())
    }

    /// Returns the first `count` of them, creating those that are missing.
    async fn first(&mut self, count: usize, client: &Client) -> &mut [Client] {
        let Some(additional) = &mut self.0 else {
            return &mut [];
        };
        let clients = &mut additional.clients;
        while clients.len() < count {
            let another = client.with_another_connection();
            another.task.register().await;
            clients.push(another);
        }
        &mut clients[..count]
    }
}

/// Sends the steps of a group, each over the connection that is free first, or over HTTP/2 as a stream.
///
/// `None` if no step applies. Boxed for the same reasons as [`Client::perform`].
pub fn send_together<'a>(
    client: &'a mut Client,
    journey_client: &'a mut JourneyClient,
    group: Group,
    random: &'a mut Rng,
) -> Pin<Box<impl Future<Output = Option<StepEnd>> + 'a>> {
    Box::pin(async move {
        let shared = client.shared().clone();
        let workload = &shared.plan.workloads[client.workload()];
        let journeys = journeys_of(workload);
        let program = &journeys.programs[group.journey];
        let JourneyClient { state, parallel } = journey_client;
        let members = state
            .borrow()
            .members(journeys, program, group.first, random);
        let http2 = parallel.http2().cloned();
        let http2 = http2.as_deref();
        let context = |number| StepContext::new(state, journeys, group.journey, number, http2);
        let due = group.ran.unwrap_or(group.intended);
        for number in members.iter().skip(usize::from(group.counted)) {
            let recorded = context(*number).recorded(workload);
            shared.recorder.borrow_mut().due(recorded, due);
        }
        // Each step has random numbers of its own, so that the order in which they are sent does not matter.
        let unsent = members
            .iter()
            .map(|number| (*number, Rng::new(random.below(u64::MAX), &[])));
        let unsent = RefCell::new(unsent.collect::<VecDeque<_>>());
        // Over HTTP/2 each step is a stream of its own, and waits for a free one if the server accepts no more.
        let max_at_once = http2.map_or(program.connections, |_| members.len());
        let count = max_at_once.min(members.len());
        let additional = parallel.first(count.saturating_sub(1), client).await;
        let ended: RefCell<Vec<(usize, Ended)>> = RefCell::default();
        let senders = once(client).chain(additional).take(count).map(|client| {
            Box::pin(async {
                let client = client;
                let mut ran = group.ran;
                loop {
                    let Some((number, mut random)) = unsent.borrow_mut().pop_front() else {
                        break;
                    };
                    let context = context(number);
                    let job = Job {
                        request: context.step().request,
                        intended: group.intended,
                        // Only for the first: later ones wait for the connection, not for the generator.
                        ran: ran.take(),
                        last: false,
                    };
                    let done = client.perform(job, &mut random, Some(context)).await;
                    ended.borrow_mut().push((number, done));
                }
                // It listens until the others have ended, too: the server may ping its WebSocket.
                client.wait_for(|| None::<()>).await;
            })
        });
        let over = || ended.borrow().len() == members.len();
        run_until(over, senders.collect()).await;
        let mut ended = ended.into_inner();
        ended.sort_unstable_by_key(|(number, _)| *number);
        let outcomes = || ended.iter().map(|(number, done)| (*number, done.outcome));
        let mut ends = outcomes()
            .filter_map(|(number, outcome)| ends_with(&program.steps[number], number, outcome));
        let unfinished = ends.clone().find(|how| *how == HowEnded::Unfinished);
        let mut failures = outcomes().filter(|(_, outcome)| *outcome != Outcome::Ok);
        Some(StepEnd {
            at: ended.iter().map(|(_, done)| done.at).max()?,
            free: ended.iter().map(|(_, done)| done.free).max()?,
            outcome: failures.next().map_or(Outcome::Ok, |(_, outcome)| outcome),
            how: unfinished.or_else(|| ends.next()),
        })
    })
}

/// Polls all `futures` until everything is `over`.
async fn run_until<F: Future<Output = ()>>(over: impl Fn() -> bool, mut futures: Vec<Pin<Box<F>>>) {
    poll_fn(|cx| {
        futures.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        if over() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
