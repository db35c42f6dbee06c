//! Closed loops: a client sends, waits for the response, thinks, and sends again.

use jostle_engine::outcome::Outcome;
use jostle_engine::schedule::mix::Mix;
use jostle_engine::schedule::phases::Phases;
use jostle_engine::schedule::random::Rng;
use jostle_engine::schedule::think::pause;
use jostle_engine::spec::{ClosedSpec, ThinkSpec};

use crate::recorder::Ended;
use crate::server::Job;
use crate::simulation::Stage;
use crate::thinking::{LAST, Linked, Thinking};
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

pub struct Crowd {
    workload: u16,
    spec: ClosedSpec,
    mix: Mix,
    phases: Phases,
    /// When the number of clients changes next.
    change: Option<Nanos>,
    clients: Vec<Client>,
    thinking: Thinking,
    timeouts: Timeouts,
    /// How many clients there should be: those at lower positions than this.
    wanted: u64,
    alive: u64,
    in_flight: u64,
    /// How many requests may still be begun.
    budget: u64,
    seed: u64,
}

impl Crowd {
    pub fn new(workload: u16, spec: ClosedSpec, mix: Mix, timeout: Nanos, seed: u64) -> Self {
        Self {
            workload,
            mix,
            phases: Phases::new(&spec),
            change: Some(0),
            clients: Vec::new(),
            thinking: Thinking::new(spec.clients as usize, mean(&spec.think)),
            timeouts: Timeouts::new(timeout),
            wanted: 0,
            alive: 0,
            in_flight: 0,
            budget: spec.requests.unwrap_or(u64::MAX),
            seed,
            spec,
        }
    }

    /// Whether all requests have ended, or the last phase is over and all clients have left.
    pub fn is_done(&self) -> bool {
        self.in_flight == 0 && (self.budget == 0 || (self.change.is_none() && self.alive == 0))
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
        let late = self.timeouts.first(unanswered(clients));
        [self.change, thinker, late].into_iter().flatten().min()
    }

    /// Does everything that is due now.
    pub fn act(&mut self, stage: &mut Stage) {
        if self.change.is_some_and(|at| at <= stage.now) {
            self.resize(stage);
        }
        while let Some(slot) = self.timeouts.pop_due(stage.now, unanswered(&self.clients)) {
            let request = self.request_in_flight(slot);
            self.ended(slot, request, stage.now, Outcome::ResponseTimeout, stage);
        }
        while let Some(slot) = self.thinking.pop_due(&mut self.clients, stage.now) {
            self.send(slot, stage);
        }
    }

    /// Takes a response from the server, unless its request has timed out.
    pub fn answered(&mut self, job: Job, at: Nanos, stage: &mut Stage) {
        if unanswered(&self.clients)(job.slot, job.turn) {
            self.ended(job.slot, job.request, at, Outcome::Ok, stage);
        }
    }

    /// Ends the run: requests in flight are recorded as unfinished.
    pub fn stop(&mut self, stage: &mut Stage) {
        for slot in 0..self.clients.len() as u32 {
            if self.clients[slot as usize].next == IN_FLIGHT {
                let request = self.request_in_flight(slot);
                self.record(slot, request, stage.now, Outcome::Unfinished, stage);
            }
        }
    }

    /// Adjusts the number of clients to the plan. The last to come are the first to leave; each finishes the request
    /// that it has in flight.
    fn resize(&mut self, stage: &mut Stage) {
        let count = self.phases.clients_at(stage.now);
        self.change = self.phases.next_change(stage.now);
        let before = std::mem::replace(&mut self.wanted, count);
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
                self.alive += 1;
                self.clients[slot as usize].due = stage.now;
                self.send(slot, stage);
            }
        }
        stage.recorder.clients(self.workload, self.alive);
    }

    fn send(&mut self, slot: u32, stage: &mut Stage) {
        if self.budget == 0 || u64::from(slot) >= self.wanted {
            self.leave(slot);
            stage.recorder.clients(self.workload, self.alive);
            return;
        }
        self.budget -= 1;
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
        stage.recorder.due(self.workload);
        stage.recorder.sent(self.workload, stage.now);
        let in_flight = self.in_flight;
        self.timeouts
            .sent(stage.now, slot, turn, in_flight, unanswered(&self.clients));
        stage.server.arrive(stage.now, job);
    }

    fn ended(&mut self, slot: u32, request: u16, at: Nanos, outcome: Outcome, stage: &mut Stage) {
        self.record(slot, request, at, outcome, stage);
        self.in_flight -= 1;
        let pause = self.pause(slot);
        let client = &mut self.clients[slot as usize];
        client.due = at + pause;
        if pause == 0 || u64::from(slot) >= self.wanted {
            self.send(slot, stage);
        } else {
            self.thinking.insert(&mut self.clients, slot, at + pause);
        }
    }

    fn record(&self, slot: u32, request: u16, at: Nanos, outcome: Outcome, stage: &mut Stage) {
        let client = self.clients[slot as usize];
        stage.recorder.ended(&Ended {
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
        self.alive -= 1;
    }

    /// Which request a client has in flight. It is recomputed because a client has no room to store it.
    fn request_in_flight(&self, slot: u32) -> u16 {
        self.request(slot, self.clients[slot as usize].turn)
    }

    /// Which request a client makes at this turn. If clients end and are replaced, each new one begins from the start.
    fn request(&self, slot: u32, turn: u32) -> u16 {
        let turn = self.turn_of_life(turn);
        let mut random = self.stream(slot, turn, 0);
        self.mix.player(turn - 1).next(&mut random) as u16
    }

    /// Returns the think time after the request that has just ended; 0 between a client and the one that replaces it.
    fn pause(&self, slot: u32) -> Nanos {
        let turn = self.clients[slot as usize].turn;
        let of_life = self.turn_of_life(turn);
        if self.spec.requests_per_client == Some(of_life) {
            return 0;
        }
        pause(
            &self.spec.think,
            of_life,
            &mut self.stream(slot, u64::from(turn), 1),
        )
    }

    fn turn_of_life(&self, turn: u32) -> u64 {
        let before = u64::from(turn) - 1;
        1 + self
            .spec
            .requests_per_client
            .map_or(before, |most| before % most)
    }

    /// Returns the random numbers for one purpose of one turn. A client stores no generator from one turn to the next.
    fn stream(&self, slot: u32, turn: u64, purpose: u64) -> Rng {
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

fn mean(think: &ThinkSpec) -> Nanos {
    match think {
        ThinkSpec::None => 0,
        ThinkSpec::Constant { ns } | ThinkSpec::Uniform { ns, .. } => *ns,
        ThinkSpec::Exponential { mean_ns } => *mean_ns,
        ThinkSpec::List { ns } => ns.iter().sum::<u64>() / ns.len().max(1) as u64,
    }
}
