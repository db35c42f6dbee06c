//! Closed loops: a client sends, waits for the response, thinks, and sends again.

use jostle_engine::outcome::Outcome;
use jostle_engine::schedule::mix::Mix;
use jostle_engine::schedule::phases::Phases;
use jostle_engine::schedule::random::Rng;
use jostle_engine::schedule::think::pause;
use jostle_engine::spec::{ClosedSpec, ThinkSpec};

use crate::recorder::Ended;
use crate::server::Job;
use crate::simulation::Environment;
use crate::thinking::{LAST, Linked, ThinkQueue};
use crate::timeouts::Timeouts;
use jostle_discipline::Nanos;

/// Values of `next` for a client that is not thinking.
const IN_FLIGHT: u32 = LAST + 1;
const ABSENT: u32 = LAST + 2;

/// Only sixteen bytes, because there may be ten million clients.
#[derive(Debug, Clone, Copy)]
struct Client {
    /// When the next request is due, or when the one in flight was.
    due: Nanos,
    next: u32,
    /// How many requests the client has begun.
    turn: u32,
}

impl Linked for Client {
    fn due(&mut self) -> &mut Nanos {
        &mut self.due
    }

    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

pub struct ClosedLoop {
    workload: u16,
    spec: ClosedSpec,
    mix: Mix,
    phases: Phases,
    /// When the number of clients changes next.
    change: Option<Nanos>,
    clients: Vec<Client>,
    thinking: ThinkQueue,
    timeouts: Timeouts,
    /// How many clients there should be: those at lower positions than this.
    target_clients: u64,
    present: u64,
    in_flight: u64,
    /// How many requests may still be begun.
    requests_left: u64,
    seed: u64,
}

impl ClosedLoop {
    pub fn new(workload: u16, spec: ClosedSpec, mix: Mix, timeout: Nanos, seed: u64) -> Self {
        Self {
            workload,
            mix,
            phases: Phases::new(&spec),
            change: Some(0),
            clients: Vec::new(),
            thinking: ThinkQueue::new(spec.clients as usize, mean_think_ns(&spec.think)),
            timeouts: Timeouts::new(timeout),
            target_clients: 0,
            present: 0,
            in_flight: 0,
            requests_left: spec.requests.unwrap_or(u64::MAX),
            seed,
            spec,
        }
    }

    /// Whether all requests have ended, or the last phase is over and all clients have left.
    pub fn is_done(&self) -> bool {
        self.in_flight == 0
            && (self.requests_left == 0 || (self.change.is_none() && self.present == 0))
    }

    /// The end of the last phase, if there are any.
    pub fn planned_end(&self) -> Option<Nanos> {
        let end = self.phases.end_ns();
        (end < Nanos::MAX).then_some(end)
    }

    /// Whether the load ends by itself.
    pub fn is_bounded(&self) -> bool {
        self.spec.requests.is_some() || self.planned_end().is_some()
    }

    pub fn next_event(&mut self) -> Option<Nanos> {
        let clients = &mut self.clients;
        let thinker = self.thinking.first(clients);
        let timeout = self.timeouts.first(unanswered(clients));
        [self.change, thinker, timeout].into_iter().flatten().min()
    }

    /// Does everything that is due now.
    pub fn advance(&mut self, environment: &mut Environment) {
        if self.change.is_some_and(|at| at <= environment.now) {
            self.resize(environment);
        }
        while let Some(slot) = self
            .timeouts
            .pop_due(environment.now, unanswered(&self.clients))
        {
            let request = self.request_in_flight(slot);
            self.ended(
                slot,
                request,
                environment.now,
                Outcome::ResponseTimeout,
                environment,
            );
        }
        while let Some(slot) = self.thinking.pop_due(&mut self.clients, environment.now) {
            self.send(slot, environment);
        }
    }

    /// Takes a response from the server, unless its request has timed out.
    pub fn receive(&mut self, job: Job, at: Nanos, environment: &mut Environment) {
        if unanswered(&self.clients)(job.slot, job.turn) {
            self.ended(job.slot, job.request, at, Outcome::Ok, environment);
        }
    }

    /// Ends the run: requests in flight are recorded as unfinished.
    pub fn stop(&mut self, environment: &mut Environment) {
        for slot in 0..self.clients.len() as u32 {
            if self.clients[slot as usize].next == IN_FLIGHT {
                let request = self.request_in_flight(slot);
                self.record(
                    slot,
                    request,
                    environment.now,
                    Outcome::Unfinished,
                    environment,
                );
            }
        }
    }

    /// Adjusts the number of clients to the plan. The last to come are the first to leave; each finishes the request
    /// that it has in flight.
    fn resize(&mut self, environment: &mut Environment) {
        let count = self.phases.clients_at(environment.now);
        self.change = self.phases.next_change(environment.now);
        let before = std::mem::replace(&mut self.target_clients, count);
        for slot in (count..before).map(|position| position as u32) {
            if self.clients[slot as usize].next != IN_FLIGHT
                && self.clients[slot as usize].next != ABSENT
            {
                self.thinking.remove(&mut self.clients, slot);
                self.leave(slot);
            }
        }
        let newcomer = Client {
            due: 0,
            next: ABSENT,
            turn: 0,
        };
        if self.clients.len() < count as usize {
            self.clients.resize(count as usize, newcomer);
        }
        for slot in (before..count).map(|position| position as u32) {
            if self.clients[slot as usize].next == ABSENT {
                self.present += 1;
                self.clients[slot as usize].due = environment.now;
                self.send(slot, environment);
            }
        }
        environment.recorder.clients(self.workload, self.present);
    }

    fn send(&mut self, slot: u32, environment: &mut Environment) {
        if self.requests_left == 0 || u64::from(slot) >= self.target_clients {
            self.leave(slot);
            environment.recorder.clients(self.workload, self.present);
            return;
        }
        self.requests_left -= 1;
        self.in_flight += 1;
        let client = &mut self.clients[slot as usize];
        client.turn += 1;
        client.next = IN_FLIGHT;
        let turn = client.turn;
        let job = Job {
            workload: self.workload,
            request: self.request(slot, turn),
            slot,
            turn,
        };
        environment.recorder.due(self.workload);
        environment.recorder.sent(self.workload, environment.now);
        let in_flight = self.in_flight;
        self.timeouts.sent(
            environment.now,
            slot,
            turn,
            in_flight,
            unanswered(&self.clients),
        );
        environment.server.arrive(environment.now, job);
    }

    fn ended(
        &mut self,
        slot: u32,
        request: u16,
        at: Nanos,
        outcome: Outcome,
        environment: &mut Environment,
    ) {
        self.record(slot, request, at, outcome, environment);
        self.in_flight -= 1;
        let pause = self.pause(slot);
        let client = &mut self.clients[slot as usize];
        client.due = at + pause;
        if pause == 0 || u64::from(slot) >= self.target_clients {
            self.send(slot, environment);
        } else {
            self.thinking.insert(&mut self.clients, slot, at + pause);
        }
    }

    fn record(
        &self,
        slot: u32,
        request: u16,
        at: Nanos,
        outcome: Outcome,
        environment: &mut Environment,
    ) {
        let client = self.clients[slot as usize];
        environment.recorder.ended(&Ended {
            workload: self.workload,
            request,
            phase: self.phases.phase_at(client.due),
            intended: client.due,
            sent: Some(client.due),
            at,
            outcome,
        });
    }

    fn leave(&mut self, slot: u32) {
        self.clients[slot as usize].next = ABSENT;
        self.present -= 1;
    }

    /// Which request a client has in flight. It is recomputed because a client has no room to store it.
    fn request_in_flight(&self, slot: u32) -> u16 {
        self.request(slot, self.clients[slot as usize].turn)
    }

    /// Which request a client makes at this turn. If clients end and are replaced, each new one begins from the start.
    fn request(&self, slot: u32, turn: u32) -> u16 {
        let turn = self.turn_of_client(turn);
        let mut random = self.rng(slot, turn, 0);
        self.mix.player(turn - 1).next(&mut random) as u16
    }

    /// Returns the think time after the request that has just ended; 0 between a client and the one that replaces it.
    fn pause(&self, slot: u32) -> Nanos {
        let turn = self.clients[slot as usize].turn;
        let turn_of_client = self.turn_of_client(turn);
        if self.spec.requests_per_client == Some(turn_of_client) {
            return 0;
        }
        pause(
            &self.spec.think,
            turn_of_client,
            &mut self.rng(slot, u64::from(turn), 1),
        )
    }

    fn turn_of_client(&self, turn: u32) -> u64 {
        let before = u64::from(turn) - 1;
        1 + self
            .spec
            .requests_per_client
            .map_or(before, |limit| before % limit)
    }

    /// Returns the random numbers for one purpose of one turn. A client stores no generator from one turn to the next.
    fn rng(&self, slot: u32, turn: u64, purpose: u64) -> Rng {
        Rng::new(
            self.seed,
            &[u64::from(self.workload), u64::from(slot), turn, purpose],
        )
    }
}

/// Whether this request of a client is in flight.
fn unanswered(clients: &[Client]) -> impl Fn(u32, u32) -> bool + '_ {
    |slot, turn| {
        let client = clients[slot as usize];
        client.next == IN_FLIGHT && client.turn == turn
    }
}

fn mean_think_ns(think: &ThinkSpec) -> Nanos {
    match think {
        ThinkSpec::None => 0,
        ThinkSpec::Constant { ns } | ThinkSpec::Uniform { ns, .. } => *ns,
        ThinkSpec::Exponential { mean_ns } => *mean_ns,
        ThinkSpec::List { ns } => ns.iter().sum::<u64>() / ns.len().max(1) as u64,
    }
}
