//! The server: a discipline, and what each request demands of it.

use jostle_engine::schedule::random::Rng;
use jostle_engine::schedule::think::pause;

use crate::spec::{ServerSpec, ServiceSpec, TimeSpec, drawing};
use jostle_discipline::{Delay, Discipline, Done, Nanos};

/// A request at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub workload: u16,
    pub request: u16,
    /// The client, or the connection of an open loop.
    pub slot: u32,
    /// Counts the client's requests, so that a response that comes after the client gave up is recognised.
    pub turn: u32,
}

/// Keeps the random numbers of services apart from those of clients.
const SERVICES: u64 = 0x5e51_11ce;

pub struct Server {
    discipline: Box<dyn Discipline<Job> + Send>,
    /// Requests that wait without holding a worker or a core.
    waiting: Delay<Job>,
    services: Vec<Vec<ServiceSpec>>,
    seed: u64,
}

impl Server {
    pub fn new(spec: ServerSpec, seed: u64) -> Self {
        Self {
            discipline: spec.discipline.make(drawing(seed)),
            waiting: Delay::default(),
            services: spec.services,
            seed,
        }
    }

    pub fn next_event(&self) -> Option<Nanos> {
        match (self.discipline.next_event(), self.waiting.next_event()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    pub fn advance(&mut self, now: Nanos, done: &mut Vec<Done<Job>>) {
        self.discipline.advance(now, done);
        self.waiting.advance(now, done);
    }

    /// Takes a request. Its demand depends on who sends it, not on when, so that every discipline gets the same work.
    pub fn arrive(&mut self, now: Nanos, job: Job) {
        let service = &self.services[usize::from(job.workload)][usize::from(job.request)];
        let who = [
            u64::from(job.workload),
            u64::from(job.slot),
            u64::from(job.turn),
        ];
        let demand = demand(&service.time, &mut Rng::new(self.seed ^ SERVICES, &who));
        if service.waits {
            self.waiting.arrive(now, demand, job.slot.into(), job);
        } else {
            self.discipline.arrive(now, demand, job.slot.into(), job);
        }
    }
}

fn demand(time: &TimeSpec, random: &mut Rng) -> Nanos {
    match time {
        TimeSpec::Measured { ns } => ns[random.below(ns.len() as u64) as usize],
        TimeSpec::Drawn(as_think_time) => pause(as_think_time, 1, random),
    }
}
