//! Open loops: requests are due at times that do not depend on the responses.

use std::collections::VecDeque;

use jostle_engine::outcome::Outcome;
use jostle_engine::schedule::arrivals::{Schedule, seed_of};
use jostle_engine::schedule::mix::Mix;
use jostle_engine::schedule::partition::Partition;
use jostle_engine::schedule::random::Rng;
use jostle_engine::spec::{Arrivals, OpenSpec};

use crate::recorder::Ended;
use crate::server::Job;
use crate::simulation::Environment;
use crate::timeouts::Timeouts;
use jostle_discipline::Nanos;

/// One connection of the open.
#[derive(Debug, Clone, Copy, Default)]
struct Connection {
    intended: Nanos,
    sent: Nanos,
    request: u16,
    busy: bool,
    /// How many requests it has carried.
    turn: u32,
}

pub struct OpenLoop {
    workload: u16,
    spec: OpenSpec,
    mix: Mix,
    schedule: Schedule,
    connections: Vec<Connection>,
    free: Vec<u32>,
    /// Intended starts of the requests that wait for a connection.
    waiting: VecDeque<Nanos>,
    timeouts: Timeouts,
    in_flight: u64,
    sent: u64,
    random: Rng,
}

impl OpenLoop {
    pub fn new(workload: u16, spec: OpenSpec, mix: Mix, timeout: Nanos, seed: u64) -> Self {
        let all = Partition::new(spec.max_connections, 0, 1);
        let schedule = Schedule::new(&spec, seed_of(seed, usize::from(workload)), all);
        Self {
            workload,
            mix,
            schedule,
            connections: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            timeouts: Timeouts::new(timeout),
            in_flight: 0,
            sent: 0,
            random: Rng::new(seed, &[u64::from(workload)]),
            spec,
        }
    }

    pub fn is_done(&self) -> bool {
        self.schedule.peek().is_none() && self.in_flight == 0 && self.waiting.is_empty()
    }

    /// Whether the load ends by itself.
    pub fn is_bounded(&self) -> bool {
        self.spec.requests.is_some() || matches!(self.spec.arrivals, Arrivals::Trace(_))
    }

    pub fn next_event(&mut self) -> Option<Nanos> {
        let timeout = self.timeouts.first(unanswered(&self.connections));
        [self.schedule.peek(), timeout].into_iter().flatten().min()
    }

    /// Does everything that is due now.
    pub fn advance(&mut self, environment: &mut Environment) {
        while let Some(slot) = self
            .timeouts
            .pop_due(environment.now, unanswered(&self.connections))
        {
            self.ended(slot, environment.now, Outcome::ResponseTimeout, environment);
        }
        while let Some(due) = self.schedule.take_due(environment.now) {
            environment.recorder.due(self.workload);
            self.waiting.push_back(due);
            self.send(environment);
        }
    }

    /// Takes a response from the server, unless its request has timed out.
    pub fn receive(&mut self, job: Job, at: Nanos, environment: &mut Environment) {
        if unanswered(&self.connections)(job.slot, job.turn) {
            self.ended(job.slot, at, Outcome::Ok, environment);
        }
    }

    /// Ends the run: requests in flight are recorded as unfinished, and waiting ones as never sent.
    pub fn stop(&mut self, environment: &mut Environment) {
        for slot in 0..self.connections.len() as u32 {
            if self.connections[slot as usize].busy {
                self.record(slot, environment.now, Outcome::Unfinished, environment);
            }
        }
        for intended in std::mem::take(&mut self.waiting) {
            let request = self.mix.player(self.sent).next(&mut self.random) as u16;
            self.sent += 1;
            environment.recorder.ended(&Ended {
                workload: self.workload,
                request,
                phase: self.schedule.phase_at(intended),
                intended,
                sent: None,
                at: environment.now,
                outcome: Outcome::NeverSent,
            });
        }
    }

    /// Gives the first waiting request a connection, if one is free or may be opened.
    fn send(&mut self, environment: &mut Environment) {
        if self.free.is_empty() && (self.connections.len() as u64) < self.spec.max_connections {
            self.free.push(self.connections.len() as u32);
            self.connections.push(Connection::default());
            environment
                .recorder
                .clients(self.workload, self.connections.len() as u64);
        }
        if let Some(slot) = self.free.pop() {
            if let Some(intended) = self.waiting.pop_front() {
                self.send_on(slot, intended, environment);
            } else {
                self.free.push(slot);
            }
        }
        environment
            .recorder
            .set_waiting(self.workload, self.waiting.len() as u64);
    }

    fn send_on(&mut self, slot: u32, intended: Nanos, environment: &mut Environment) {
        let request = self.mix.player(self.sent).next(&mut self.random) as u16;
        self.sent += 1;
        self.in_flight += 1;
        let connection = &mut self.connections[slot as usize];
        *connection = Connection {
            intended,
            sent: environment.now,
            request,
            busy: true,
            turn: connection.turn + 1,
        };
        let job = Job {
            workload: self.workload,
            request,
            slot,
            turn: connection.turn,
        };
        environment.recorder.sent(self.workload, environment.now);
        let busy = unanswered(&self.connections);
        self.timeouts
            .sent(environment.now, slot, job.turn, self.in_flight, busy);
        environment.server.arrive(environment.now, job);
    }

    fn ended(&mut self, slot: u32, at: Nanos, outcome: Outcome, environment: &mut Environment) {
        self.record(slot, at, outcome, environment);
        self.connections[slot as usize].busy = false;
        self.in_flight -= 1;
        self.free.push(slot);
        self.send(environment);
    }

    fn record(&mut self, slot: u32, at: Nanos, outcome: Outcome, environment: &mut Environment) {
        let connection = self.connections[slot as usize];
        environment.recorder.ended(&Ended {
            workload: self.workload,
            request: connection.request,
            phase: self.schedule.phase_at(connection.intended),
            intended: connection.intended,
            sent: Some(connection.sent),
            at,
            outcome,
        });
    }
}

/// Whether this request of a connection is in flight.
fn unanswered(connections: &[Connection]) -> impl Fn(u32, u32) -> bool + '_ {
    |slot, turn| {
        let connection = connections[slot as usize];
        connection.busy && connection.turn == turn
    }
}
