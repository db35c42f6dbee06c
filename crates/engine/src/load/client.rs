//! One client: its connections, and the record of what it does.

use std::future::poll_fn;
use std::iter::once;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::body::tap::TapStates;
use crate::exchange::connection::Connection;
use crate::exchange::destination::Destination;
use crate::exchange::idle_event::IdleEvent;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::redirect::Hop;
use crate::exchange::request::{OutgoingRequest, Protocol};
use crate::load::Shared;
use crate::load::plan::Workload;
use crate::load::step::{StepContext, StepResponse};
use crate::machine::prefetch::Prefetched;
use crate::machine::tasks::Task;
use crate::net::target::Target;
use crate::net::tls::Sessions;
use crate::outcome::Outcome;
use crate::record::sample::Sample;
use crate::schedule::random::Rng;
use crate::spec::LoadSpec;

const MS: u64 = 1_000_000;

/// A request to be made.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub request: usize,
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// No other request of this client follows on its connection.
    pub last: bool,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub outcome: Outcome,
    /// When the request ended.
    pub at: u64,
    /// When the client is free again.
    pub free: u64,
}

impl Ended {
    /// Lets a client rest whose request failed before anything was sent. The rest is no part of the request.
    async fn after_a_rest(self, task: &Task) -> Self {
        task.rest().await;
        Self {
            free: task.now(),
            ..self
        }
    }
}

/// A client of a closed loop, or a connection of an open loop's pool.
pub struct Client {
    pub task: Task,
    connections: ClientConnections,
    taps: TapStates,
    /// How many requests it has begun.
    begun: u64,
}

/// A client's connections.
struct ClientConnections {
    shared: Rc<Shared>,
    /// Index of the client's workload.
    workload: u32,
    /// The client's number, as recorded in the rows.
    number: u32,
    slot: ConnectionSlot,
    /// Its WebSocket, on a journey that uses one besides HTTP. Boxed because most clients have none.
    socket: Option<Box<ConnectionSlot>>,
}

/// A client's connection to one server, and what outlives it.
#[derive(Default)]
struct ConnectionSlot {
    connection: Option<Connection>,
    /// Exchanges that the connection has carried.
    used: u32,
    /// When the last of them ended, in milliseconds modulo 2³²: every client has room for it.
    idle_since_ms: u32,
    sessions: Sessions,
}

/// Where redirects have led a client; empty if none was followed.
#[derive(Default)]
struct RedirectState {
    /// The request to make next.
    hop: Option<Box<Hop>>,
    /// The connection to a server other than its own.
    remote: Option<Box<RemoteConnection>>,
}

struct RemoteConnection {
    target: Arc<Target>,
    slot: ConnectionSlot,
}

impl Client {
    pub fn new(shared: Rc<Shared>, task: Task, workload: usize, number: u32) -> Self {
        Self {
            task,
            connections: ClientConnections {
                shared,
                workload: workload as u32,
                number,
                slot: ConnectionSlot::default(),
                socket: None,
            },
            taps: TapStates::default(),
            begun: 0,
        }
    }

    /// Creates another connection of the same client, with a task of its own.
    pub fn with_another_connection(&self) -> Self {
        let task = self.task.take_another();
        Self::new(self.shared().clone(), task, self.workload(), self.number())
    }

    /// Turns it into a new client, which inherits nothing.
    pub fn reset(&mut self, number: u32) {
        self.close_web_socket();
        self.close();
        self.connections.number = number;
        self.connections.slot.sessions = Sessions::default();
        self.begun = 0;
    }

    /// Closes its WebSocket, which is for nobody but the client that opened it.
    pub fn close_web_socket(&mut self) {
        let connections = &mut self.connections;
        if let Some(mut socket) = connections.socket.take() {
            socket.close(
                &connections.shared,
                connections.workload as usize,
                &self.task,
            );
        }
    }

    pub fn shared(&self) -> &Rc<Shared> {
        &self.connections.shared
    }

    /// Index of its workload.
    pub fn workload(&self) -> usize {
        self.connections.workload as usize
    }

    pub fn number(&self) -> u32 {
        self.connections.number
    }

    /// Makes one request, from its intended start to its record, and those to which redirects lead.
    ///
    /// `context` is the step of the journey that the request belongs to, if any. Boxed so that only clients with a
    /// request in flight need the memory, not those that think, and so that the next request gets memory that is still
    /// in the caches.
    pub fn perform(
        &mut self,
        mut job: Job,
        random: &mut Rng,
        mut context: Option<StepContext<'_>>,
    ) -> Pin<Box<impl Future<Output = Ended>>> {
        Box::pin(Prefetched::new(async move {
            let mut redirect_state = RedirectState::default();
            loop {
                self.begun += 1;
                let ended = self
                    .request(&job, &mut redirect_state, random, context.as_mut())
                    .await;
                if redirect_state.hop.is_none() || !self.task.running(ended.at) {
                    self.connections.close_remote(redirect_state, &self.task);
                    return ended;
                }
                self.connections.redirected(context.as_ref(), ended.at);
                (job.intended, job.ran) = (ended.at, None);
            }
        }))
    }

    /// Makes one request: the one that the job names, or the one to which a redirect has led.
    #[expect(
        clippy::too_many_lines,
        reason = "one exchange, from what is due to what is recorded"
    )]
    async fn request(
        &mut self,
        job: &Job,
        redirect_state: &mut RedirectState,
        random: &mut Rng,
        context: Option<&mut StepContext<'_>>,
    ) -> Ended {
        let shared = self.connections.shared.clone();
        let workload = &shared.plan.workloads[self.workload()];
        let phase = shared.phase_at(workload.index, job.intended);
        let mut sample = Sample::due(
            recorded(workload, context.as_deref()),
            job.request,
            phase,
            self.number(),
            job.intended,
            job.ran,
        );
        if self.task.stopping() {
            return finish(&self.task, &shared, sample, Outcome::NeverSent);
        }
        self.connections.check(&self.task, job.intended);
        let request = &workload.requests[job.request];
        let mut observer = ExchangeObserver {
            task: &self.task,
            recorder: &shared.recorder,
            limits: &workload.limits,
            request,
            taps: &mut self.taps,
            sample: &mut sample,
            workload: workload.index,
            at: 0,
            redirect: None,
            head: None,
            path: Box::default(),
            transcript: (shared.plan.trace && context.is_some()).then(Box::default),
            started: false,
            events: None,
            coded: None,
        };
        if redirect_state.hop.is_none()
            && let Some(hop) = context.as_deref().and_then(|context| context.hop(workload))
        {
            match hop {
                Ok(hop) => redirect_state.hop = Some(Box::new(hop)),
                Err(failure) => {
                    let outcome = observer.failed(failure);
                    let ended = finish(&self.task, &shared, sample, outcome);
                    return ended.after_a_rest(&self.task).await;
                }
            }
        }
        let hop = redirect_state.hop.take();
        let connections = &mut self.connections;
        let is_extra_socket =
            matches!(request.protocol, Protocol::WebSocket(_)) && workload.journeys.is_some();
        let (target, slot, mut socket) = if is_extra_socket {
            (
                None,
                &mut **connections.socket.get_or_insert_default(),
                None,
            )
        } else {
            connections.slot_for(hop.as_deref(), &mut redirect_state.remote, &self.task)
        };
        let used = slot.used.saturating_add(1);
        let last_on_connection =
            job.last || per_connection(workload).is_some_and(|most| u64::from(used) >= most);
        let mut outgoing = OutgoingRequest {
            request,
            template: match &hop {
                Some(hop) => hop.template(last_on_connection),
                None => request.template(last_on_connection),
            },
            random,
            source: context.as_deref().map(StepContext::source),
            earlier_requests: self.begun - 1,
            last_on_connection,
        };
        let mut to = Destination {
            dialer: &shared.dialers[workload.index],
            target: target.as_deref().unwrap_or(&workload.target),
            sessions: &mut slot.sessions,
        };
        let connection = match &mut slot.connection {
            Some(connection) => connection,
            none => {
                let one = context.as_deref().and_then(StepContext::connection);
                let open = Box::pin(Connection::open(
                    &mut to,
                    &shared.pools[workload.index],
                    one.filter(|_| target.is_none()),
                    &mut outgoing,
                    &mut observer,
                ));
                let opened = match &mut socket {
                    None => open.await,
                    Some(socket) => {
                        socket
                            .listen_during(&shared, workload.index, &self.task, open)
                            .await
                    }
                };
                match opened {
                    Ok(connection) => none.insert(connection),
                    Err(outcome) => {
                        let ended = finish(&self.task, &shared, sample, outcome);
                        return match outcome {
                            Outcome::Unsendable => ended.after_a_rest(&self.task).await,
                            _ => ended,
                        };
                    }
                }
            }
        };
        slot.used = used;
        let mut outcome = match socket {
            None => connection.exchange(outgoing, &mut to, &mut observer).await,
            // Boxed because few clients have a WebSocket besides.
            Some(socket) => {
                let exchange = Box::pin(connection.exchange(outgoing, &mut to, &mut observer));
                socket
                    .listen_during(&shared, workload.index, &self.task, exchange)
                    .await
            }
        };
        let spent = connection.is_spent();
        if let (Outcome::Ok, Some(redirects), Some(redirect)) =
            (outcome, &workload.redirects, observer.redirect.take())
        {
            let state = context
                .as_deref()
                .map(|context| context.source().state.borrow());
            let scripted = state.as_ref().and_then(|state| state.scripted());
            match redirects.next(job.request, scripted, hop.as_deref(), &redirect) {
                Ok(next) => redirect_state.hop = Some(Box::new(next)),
                Err(failure) => outcome = observer.failed(failure),
            }
        }
        if let Some(context) = context {
            let url = workload.redirects.as_ref().filter(|_| context.keeps_url());
            let response = StepResponse {
                outcome,
                url: url.map(|urls| urls.url_of(hop.as_deref(), &observer.path)),
                head: observer.head,
                path: observer.path,
                transcript: observer.transcript,
                redirects: redirect_state.hop.is_some(),
                at_home: target.is_none(),
            };
            outcome = context.process(
                response,
                request,
                &mut self.taps,
                &mut sample,
                &shared.recorder,
            );
        }
        let unsent = sample.sent.is_none();
        let ended = finish(&self.task, &shared, sample, outcome);
        slot.idle_since_ms = (ended.at / MS) as u32;
        // At the end of the run connections stay open until all of them have been counted.
        if spent && self.task.running(ended.at) {
            slot.close(&shared, workload.index, &self.task);
        }
        if unsent {
            return ended.after_a_rest(&self.task).await;
        }
        ended
    }

    /// Records a request that was due and is not made, because a script has failed (with `why`) or the run ends.
    ///
    /// Returns the outcome under which it is counted.
    pub fn never_made(&self, request: usize, intended: u64, why: Option<String>) -> Outcome {
        let shared = self.shared();
        let workload = &shared.plan.workloads[self.workload()];
        let phase = shared.phase_at(workload.index, intended);
        let mut sample = Sample::due(
            workload.index,
            request,
            phase,
            self.number(),
            intended,
            None,
        );
        sample.why = why.map(Into::into);
        finish(&self.task, shared, sample, Outcome::ScriptFailed).outcome
    }

    pub fn close(&mut self) {
        self.connections.close(&self.task);
    }

    /// Like [`Task::sleep_until`], but closes a connection that the server closes meanwhile.
    pub fn sleep_until(
        &mut self,
        due: u64,
        wanted: impl Fn() -> bool,
    ) -> impl Future<Output = Option<u64>> {
        let Self {
            task, connections, ..
        } = self;
        let task: &Task = task;
        task.sleep_until(due, wanted, move |cx| connections.listen(task, cx))
    }

    /// Like [`Task::wait_for`], but closes a connection that the server closes meanwhile.
    pub fn wait_for<T>(
        &mut self,
        ready: impl FnMut() -> Option<T>,
    ) -> impl Future<Output = Option<T>> {
        let Self {
            task, connections, ..
        } = self;
        let task: &Task = task;
        task.wait_for(ready, move |cx| connections.listen(task, cx))
    }
}

impl ClientConnections {
    /// Returns the connection to a hop's server: the client's own, or one to another server (with `Some` target). Besides it
    /// returns that of the client's WebSocket, if it is open.
    fn slot_for<'a>(
        &'a mut self,
        hop: Option<&Hop>,
        remote: &'a mut Option<Box<RemoteConnection>>,
        task: &Task,
    ) -> (
        Option<Arc<Target>>,
        &'a mut ConnectionSlot,
        Option<&'a mut ConnectionSlot>,
    ) {
        let socket = self
            .socket
            .as_deref_mut()
            .filter(|slot| slot.connection.is_some());
        let Some(target) = hop.and_then(|hop| hop.other_target.as_ref()) else {
            return (None, &mut self.slot, socket);
        };
        if let Some(mut other) = remote.take_if(|remote| !Arc::ptr_eq(&remote.target, target)) {
            other.slot.close(&self.shared, self.workload as usize, task);
        }
        let remote = remote.get_or_insert_with(|| {
            let slot = ConnectionSlot::default();
            Box::new(RemoteConnection {
                target: target.clone(),
                slot,
            })
        });
        (Some(target.clone()), &mut remote.slot, socket)
    }

    fn redirected(&self, context: Option<&StepContext<'_>>, now: u64) {
        let workload = &self.shared.plan.workloads[self.workload as usize];
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.redirected(recorded(workload, context), now);
    }

    /// Closes the connection to another server once no further redirect is followed.
    fn close_remote(&self, redirect_state: RedirectState, task: &Task) {
        if let Some(mut remote) = redirect_state.remote {
            remote
                .slot
                .close(&self.shared, self.workload as usize, task);
        }
    }

    /// Closes each connection that cannot carry another exchange, which is to begin at `due`.
    fn check(&mut self, task: &Task, due: u64) {
        for slot in once(&mut self.slot).chain(self.socket.as_deref_mut()) {
            let idle_ns = slot.idle_ns(due);
            slot.give_up_if(&self.shared, self.workload as usize, task, |connection| {
                connection.check_reusable(idle_ns, task).err()
            });
        }
    }

    /// Closes each connection that the server has closed, or on which it sent bytes that belong to no response.
    ///
    /// Otherwise the task is woken when that happens later.
    fn listen(&mut self, task: &Task, cx: &mut Context<'_>) {
        for slot in once(&mut self.slot).chain(self.socket.as_deref_mut()) {
            slot.listen(&self.shared, self.workload as usize, task, cx);
        }
    }

    fn close(&mut self, task: &Task) {
        for slot in once(&mut self.slot).chain(self.socket.as_deref_mut()) {
            slot.close(&self.shared, self.workload as usize, task);
        }
    }
}

impl ConnectionSlot {
    /// How long the connection will have been idle at `due`, which may be before its last exchange ended.
    fn idle_ns(&self, due: u64) -> u64 {
        let ms = ((due / MS) as u32).wrapping_sub(self.idle_since_ms);
        u64::from(ms.cast_signed().max(0).unsigned_abs()) * MS
    }

    /// Waits for `future`, and meanwhile listens on the connection: the server may send a ping, or close.
    fn listen_during<F: Future>(
        &mut self,
        shared: &Shared,
        workload: usize,
        task: &Task,
        mut future: Pin<Box<F>>,
    ) -> impl Future<Output = F::Output> {
        poll_fn(move |cx| {
            let result = future.as_mut().poll(cx);
            // At the end of the run connections stay open until all of them have been counted.
            if result.is_pending() && !task.stopping() {
                self.listen(shared, workload, task, cx);
            }
            result
        })
    }

    fn listen(&mut self, shared: &Shared, workload: usize, task: &Task, cx: &mut Context<'_>) {
        self.give_up_if(shared, workload, task, |connection| {
            match connection.poll_idle(task, cx) {
                Poll::Ready(idle_event) => Some(idle_event),
                Poll::Pending => None,
            }
        });
    }

    fn give_up_if(
        &mut self,
        shared: &Shared,
        workload: usize,
        task: &Task,
        idle_event: impl FnOnce(&mut Connection) -> Option<IdleEvent>,
    ) {
        let Some(idle_event) = self.connection.as_mut().and_then(idle_event) else {
            return;
        };
        match idle_event {
            IdleEvent::UnexpectedData(what) => shared.recorder.borrow_mut().excess(workload, what),
            IdleEvent::Dismissed(status) => {
                shared.recorder.borrow_mut().dismissed(workload, status);
            }
            IdleEvent::Closed | IdleEvent::PingTimeout => {}
        }
        self.close(shared, workload, task);
    }

    fn close(&mut self, shared: &Shared, workload: usize, task: &Task) {
        if let Some(connection) = self.connection.take() {
            self.used = 0;
            if connection.close(task) {
                shared.recorder.borrow_mut().connection_closed(workload);
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
    }
}

fn finish(task: &Task, shared: &Shared, mut sample: Sample, outcome: Outcome) -> Ended {
    task.clear_deadline();
    if sample.end == 0 {
        sample.end = task.now();
    }
    sample.outcome = outcome;
    // Nothing that comes after the end counts, so that all requests in flight end at the same moment.
    if !task.running(sample.end) {
        sample.outcome = sample.given_up();
        sample.why = None;
        sample.end = shared.last_moment();
    }
    shared.recorder.borrow_mut().ended(&sample);
    Ended {
        outcome: sample.outcome,
        at: sample.end,
        free: sample.end,
    }
}

/// Returns the workload number under which a request is recorded.
fn recorded(workload: &Workload, context: Option<&StepContext<'_>>) -> usize {
    context.map_or(workload.index, |context| context.recorded(workload))
}

fn per_connection(workload: &Workload) -> Option<u64> {
    match &workload.load {
        LoadSpec::Closed(closed) => closed.requests_per_connection,
        LoadSpec::Open(open) => open.requests_per_connection,
    }
}
