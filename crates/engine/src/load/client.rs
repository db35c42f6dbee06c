//! One client: its link to the server, and the record of what it does.

use std::future::poll_fn;
use std::iter::once;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::body::tap::TapStates;
use crate::exchange::link::{Destination, Link, Unasked};
use crate::exchange::redirect::Hop;
use crate::exchange::request::Call;
use crate::exchange::watch::Watch;
use crate::load::Shared;
use crate::load::plan::Workload;
use crate::load::step::{Answer, Visit};
use crate::machine::cores::Prefetched;
use crate::machine::seat::Seat;
use crate::net::target::Target;
use crate::net::tls::Sessions;
use crate::outcome::Outcome;
use crate::record::sample::Sample;
use crate::schedule::random::Stream;
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
    async fn after_a_rest(self, seat: &Seat) -> Self {
        seat.rest().await;
        Self {
            free: seat.now(),
            ..self
        }
    }
}

/// A client of a closed loop, or a connection of an open loop's pool.
pub struct Client {
    pub seat: Seat,
    route: Route,
    taps: TapStates,
    /// How many requests it has begun.
    begun: u64,
}

/// A client's way to its server.
struct Route {
    shared: Rc<Shared>,
    /// Index of the client's workload.
    workload: u32,
    /// The client's number, as recorded in the rows.
    number: u32,
    way: Way,
    /// The way of its WebSocket, on a journey that uses one besides HTTP. Boxed because most clients have none.
    socket: Option<Box<Way>>,
}

/// A client's way to one server: its link, and what outlives it.
#[derive(Default)]
struct Way {
    link: Option<Link>,
    /// Exchanges that the link has carried.
    used: u32,
    /// When the last of them ended, in milliseconds modulo 2³²: every client has room for it.
    idle_since_ms: u32,
    sessions: Sessions,
}

/// Where redirects have led a client; empty if a request has met none.
#[derive(Default)]
struct Detour {
    /// The request to make next.
    hop: Option<Box<Hop>>,
    /// The way to a server other than its own.
    away: Option<Box<Away>>,
}

struct Away {
    target: Arc<Target>,
    way: Way,
}

impl Client {
    pub fn new(shared: Rc<Shared>, seat: Seat, workload: usize, number: u32) -> Self {
        Self {
            seat,
            route: Route {
                shared,
                workload: workload as u32,
                number,
                way: Way::default(),
                socket: None,
            },
            taps: TapStates::default(),
            begun: 0,
        }
    }

    /// Creates another connection of the same client.
    pub fn beside(&self) -> Self {
        let seat = self.seat.take_another();
        Self::new(self.shared().clone(), seat, self.workload(), self.number())
    }

    /// Turns it into a new client, which inherits nothing.
    pub fn begin_anew(&mut self, number: u32) {
        self.leave_socket();
        self.hang_up();
        self.route.number = number;
        self.route.way.sessions = Sessions::default();
        self.begun = 0;
    }

    /// Closes its WebSocket, which is for nobody but the client that opened it.
    pub fn leave_socket(&mut self) {
        let route = &mut self.route;
        if let Some(mut socket) = route.socket.take() {
            socket.hang_up(&route.shared, route.workload as usize, &self.seat);
        }
    }

    pub fn shared(&self) -> &Rc<Shared> {
        &self.route.shared
    }

    /// Index of its workload.
    pub fn workload(&self) -> usize {
        self.route.workload as usize
    }

    pub fn number(&self) -> u32 {
        self.route.number
    }

    /// Makes one request, from its intended start to its record, and those to which redirects lead.
    ///
    /// `visit` is the step of the journey that the request belongs to, if any. Boxed so that only clients with a
    /// request in flight need the memory, not those that think, and so that the next request gets memory that is still
    /// in the caches.
    pub fn perform(
        &mut self,
        mut job: Job,
        random: &mut Stream,
        mut visit: Option<Visit<'_>>,
    ) -> Pin<Box<impl Future<Output = Ended>>> {
        Box::pin(Prefetched::new(async move {
            let mut detour = Detour::default();
            loop {
                self.begun += 1;
                let ended = self
                    .request(&job, &mut detour, random, visit.as_mut())
                    .await;
                if detour.hop.is_none() || !self.seat.running(ended.at) {
                    self.route.come_home(detour, &self.seat);
                    return ended;
                }
                self.route.redirected(visit.as_ref(), ended.at);
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
        detour: &mut Detour,
        random: &mut Stream,
        visit: Option<&mut Visit<'_>>,
    ) -> Ended {
        let shared = self.route.shared.clone();
        let workload = &shared.plan.workloads[self.workload()];
        let phase = workload.phase_at(job.intended);
        let mut sample = Sample::due(
            recorded(workload, visit.as_deref()),
            job.request,
            phase,
            self.number(),
            job.intended,
            job.ran,
        );
        if self.seat.stopping() {
            return finish(&self.seat, &shared, sample, Outcome::NeverSent);
        }
        self.route.check(&self.seat, job.intended);
        let request = &workload.requests[job.request];
        let mut watch = Watch {
            seat: &self.seat,
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
            transcript: (shared.plan.trace && visit.is_some()).then(Box::default),
            ran: false,
            events: None,
            coded: None,
        };
        if detour.hop.is_none()
            && let Some(hop) = visit.as_deref().and_then(|visit| visit.hop(workload))
        {
            match hop {
                Ok(hop) => detour.hop = Some(Box::new(hop)),
                Err(failure) => {
                    let outcome = watch.failed(failure);
                    let ended = finish(&self.seat, &shared, sample, outcome);
                    return ended.after_a_rest(&self.seat).await;
                }
            }
        }
        let hop = detour.hop.take();
        let route = &mut self.route;
        let beside = request.websocket.is_some() && workload.journeys.is_some();
        let (target, way, mut socket) = if beside {
            (None, &mut **route.socket.get_or_insert_default(), None)
        } else {
            route.way_to(hop.as_deref(), &mut detour.away, &self.seat)
        };
        let used = way.used.saturating_add(1);
        let last = job.last || per_connection(workload).is_some_and(|most| u64::from(used) >= most);
        let mut call = Call {
            request,
            template: match &hop {
                Some(hop) => hop.template(last),
                None => request.template(last),
            },
            random,
            source: visit.as_deref().map(Visit::source),
            before: self.begun - 1,
            last,
        };
        let mut to = Destination {
            dialer: &shared.dialers[workload.index],
            pool: &shared.pools[workload.index],
            target: target.as_deref().unwrap_or(&workload.target),
            sessions: &mut way.sessions,
        };
        let link = match &mut way.link {
            Some(link) => link,
            none => {
                let one = visit.as_deref().and_then(Visit::connection);
                let open = Box::pin(Link::open(
                    &mut to,
                    one.filter(|_| target.is_none()),
                    &mut call,
                    &mut watch,
                ));
                let opened = match &mut socket {
                    None => open.await,
                    Some(socket) => {
                        socket
                            .listen_during(&shared, workload.index, &self.seat, open)
                            .await
                    }
                };
                match opened {
                    Ok(link) => none.insert(link),
                    Err(outcome) => {
                        let ended = finish(&self.seat, &shared, sample, outcome);
                        return match outcome {
                            Outcome::Unsendable => ended.after_a_rest(&self.seat).await,
                            _ => ended,
                        };
                    }
                }
            }
        };
        way.used = used;
        let mut outcome = match socket {
            None => link.exchange(call, &mut to, &mut watch).await,
            // Boxed because few clients have a WebSocket besides.
            Some(socket) => {
                let exchange = Box::pin(link.exchange(call, &mut to, &mut watch));
                socket
                    .listen_during(&shared, workload.index, &self.seat, exchange)
                    .await
            }
        };
        let spent = link.is_spent();
        if let (Outcome::Ok, Some(redirects), Some(redirect)) =
            (outcome, &workload.redirects, watch.redirect.take())
        {
            let traveller = visit
                .as_deref()
                .map(|visit| visit.source().traveller.borrow());
            let asked = traveller.as_ref().and_then(|traveller| traveller.asked());
            match redirects.next(job.request, asked, hop.as_deref(), &redirect) {
                Ok(next) => detour.hop = Some(Box::new(next)),
                Err(failure) => outcome = watch.failed(failure),
            }
        }
        if let Some(visit) = visit {
            let url = workload.redirects.as_ref().filter(|_| visit.keeps_url());
            let answer = Answer {
                outcome,
                url: url.map(|urls| urls.url_of(hop.as_deref(), &watch.path)),
                head: watch.head,
                path: watch.path,
                transcript: watch.transcript,
                redirects: detour.hop.is_some(),
                at_home: target.is_none(),
            };
            outcome = visit.take_in(
                answer,
                request,
                &mut self.taps,
                &mut sample,
                &shared.recorder,
            );
        }
        let unsent = sample.sent.is_none();
        let ended = finish(&self.seat, &shared, sample, outcome);
        way.idle_since_ms = (ended.at / MS) as u32;
        // At the end of the run links stay open until all of them have been counted.
        if spent && self.seat.running(ended.at) {
            way.hang_up(&shared, workload.index, &self.seat);
        }
        if unsent {
            return ended.after_a_rest(&self.seat).await;
        }
        ended
    }

    /// Records a request that was due and is not made, because a script has failed (with `why`) or the run ends.
    ///
    /// Returns the outcome under which it is counted.
    pub fn never_made(&self, request: usize, intended: u64, why: Option<String>) -> Outcome {
        let shared = self.shared();
        let workload = &shared.plan.workloads[self.workload()];
        let phase = workload.phase_at(intended);
        let mut sample = Sample::due(
            workload.index,
            request,
            phase,
            self.number(),
            intended,
            None,
        );
        sample.why = why.map(Into::into);
        finish(&self.seat, shared, sample, Outcome::ScriptFailed).outcome
    }

    pub fn hang_up(&mut self) {
        self.route.hang_up(&self.seat);
    }

    /// Like [`Seat::sleep_until`], but gives up a link that the server closes meanwhile.
    pub fn sleep_until(
        &mut self,
        due: u64,
        wanted: impl Fn() -> bool,
    ) -> impl Future<Output = Option<u64>> {
        let Self { seat, route, .. } = self;
        let seat: &Seat = seat;
        seat.sleep_until(due, wanted, move |cx| route.listen(seat, cx))
    }

    /// Like [`Seat::wait_for`], but gives up a link that the server closes meanwhile.
    pub fn wait_for<T>(
        &mut self,
        ready: impl FnMut() -> Option<T>,
    ) -> impl Future<Output = Option<T>> {
        let Self { seat, route, .. } = self;
        let seat: &Seat = seat;
        seat.wait_for(ready, move |cx| route.listen(seat, cx))
    }
}

impl Route {
    /// Returns the way to a hop's server: the client's own, or that to another server (with `Some` target). Besides it
    /// returns that of the client's WebSocket, if it is open.
    fn way_to<'a>(
        &'a mut self,
        hop: Option<&Hop>,
        away: &'a mut Option<Box<Away>>,
        seat: &Seat,
    ) -> (Option<Arc<Target>>, &'a mut Way, Option<&'a mut Way>) {
        let socket = self.socket.as_deref_mut().filter(|way| way.link.is_some());
        let Some(target) = hop.and_then(|hop| hop.elsewhere.as_ref()) else {
            return (None, &mut self.way, socket);
        };
        if let Some(mut other) = away.take_if(|away| !Arc::ptr_eq(&away.target, target)) {
            other
                .way
                .hang_up(&self.shared, self.workload as usize, seat);
        }
        let away = away.get_or_insert_with(|| {
            let way = Way::default();
            Box::new(Away {
                target: target.clone(),
                way,
            })
        });
        (Some(target.clone()), &mut away.way, socket)
    }

    fn redirected(&self, visit: Option<&Visit<'_>>, now: u64) {
        let workload = &self.shared.plan.workloads[self.workload as usize];
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.redirected(recorded(workload, visit), now);
    }

    /// Closes the connection to another server once no further redirect is followed.
    fn come_home(&self, detour: Detour, seat: &Seat) {
        if let Some(mut away) = detour.away {
            away.way.hang_up(&self.shared, self.workload as usize, seat);
        }
    }

    /// Gives up each link that cannot carry another exchange, which is to begin at `due`.
    fn check(&mut self, seat: &Seat, due: u64) {
        for way in once(&mut self.way).chain(self.socket.as_deref_mut()) {
            let idle_ns = way.idle_ns(due);
            way.give_up_if(&self.shared, self.workload as usize, seat, |link| {
                link.room(idle_ns, seat).err()
            });
        }
    }

    /// Gives up each link that the server has closed or on which it sent something unasked.
    ///
    /// Registers the task to be woken when that happens later.
    fn listen(&mut self, seat: &Seat, cx: &mut Context<'_>) {
        for way in once(&mut self.way).chain(self.socket.as_deref_mut()) {
            way.listen(&self.shared, self.workload as usize, seat, cx);
        }
    }

    fn hang_up(&mut self, seat: &Seat) {
        for way in once(&mut self.way).chain(self.socket.as_deref_mut()) {
            way.hang_up(&self.shared, self.workload as usize, seat);
        }
    }
}

impl Way {
    /// How long the link will have been idle at `due`, which may be before its last exchange ended.
    fn idle_ns(&self, due: u64) -> u64 {
        let ms = ((due / MS) as u32).wrapping_sub(self.idle_since_ms);
        u64::from(ms.cast_signed().max(0).unsigned_abs()) * MS
    }

    /// Waits for `future`, and meanwhile listens on the link: the server may send a ping, or close.
    fn listen_during<F: Future>(
        &mut self,
        shared: &Shared,
        workload: usize,
        seat: &Seat,
        mut future: Pin<Box<F>>,
    ) -> impl Future<Output = F::Output> {
        poll_fn(move |cx| {
            let result = future.as_mut().poll(cx);
            // At the end of the run links stay open until all of them have been counted.
            if result.is_pending() && !seat.stopping() {
                self.listen(shared, workload, seat, cx);
            }
            result
        })
    }

    fn listen(&mut self, shared: &Shared, workload: usize, seat: &Seat, cx: &mut Context<'_>) {
        self.give_up_if(shared, workload, seat, |link| {
            match link.poll_unasked(seat, cx) {
                Poll::Ready(unasked) => Some(unasked),
                Poll::Pending => None,
            }
        });
    }

    fn give_up_if(
        &mut self,
        shared: &Shared,
        workload: usize,
        seat: &Seat,
        unasked: impl FnOnce(&mut Link) -> Option<Unasked>,
    ) {
        let Some(unasked) = self.link.as_mut().and_then(unasked) else {
            return;
        };
        match unasked {
            Unasked::Spoke(what) => shared.recorder.borrow_mut().excess(workload, what),
            Unasked::Dismissed(status) => shared.recorder.borrow_mut().dismissed(workload, status),
            Unasked::Closed | Unasked::Silent => {}
        }
        self.hang_up(shared, workload, seat);
    }

    fn hang_up(&mut self, shared: &Shared, workload: usize, seat: &Seat) {
        if let Some(link) = self.link.take() {
            self.used = 0;
            if link.part(seat) {
                shared.recorder.borrow_mut().parted(workload);
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn finish(seat: &Seat, shared: &Shared, mut sample: Sample, outcome: Outcome) -> Ended {
    seat.clear_deadline();
    if sample.end == 0 {
        sample.end = seat.now();
    }
    sample.outcome = outcome;
    // Nothing that comes after the end counts, so that all requests in flight end at the same moment.
    if !seat.running(sample.end) {
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
fn recorded(workload: &Workload, visit: Option<&Visit<'_>>) -> usize {
    visit.map_or(workload.index, |visit| visit.recorded(workload))
}

fn per_connection(workload: &Workload) -> Option<u64> {
    match &workload.load {
        LoadSpec::Closed(closed) => closed.requests_per_connection,
        LoadSpec::Open(open) => open.requests_per_connection,
    }
}
