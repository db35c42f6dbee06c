//! The specification made ready to run: requests encoded, checks prepared, addresses known.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::Rng;

use crate::schedule::partition::Partition;
use crate::schedule::phases::Phases;
use crate::schedule::random::Stream;
use crate::spec::{LoadSpec, OpenSpec, Order, ParamSpec, Role, ShareSpec, TimeoutSpec};
use crate::wire::h1::codec::Template;
use crate::wire::resolve::Target;
use crate::wire::verify::BodyVerifier;

/// Shared by all workers, and never changed but for the [`Turns`].
#[derive(Debug)]
pub struct Plan {
    pub seed: u64,
    pub threads: usize,
    pub share: ShareSpec,
    pub interval_ns: u64,
    pub rows: bool,
    /// When the run ends by its plan; `u64::MAX` if only its requests end it.
    pub end_ns: u64,
    pub workloads: Vec<Workload>,
}

#[derive(Debug)]
pub struct Workload {
    pub index: usize,
    pub role: Role,
    pub target: Target,
    pub requests: Vec<Request>,
    pub order: Order,
    /// Sums of the weights up to and including each request.
    pub weights: Vec<u64>,
    pub load: LoadSpec,
    /// Of a closed load that has them.
    pub phases: Option<Phases>,
    pub timeouts: TimeoutSpec,
    pub body_limit: Option<u64>,
}

#[derive(Debug)]
pub struct Request {
    /// For a connection that stays open afterwards, and for one that does not.
    pub keep_alive: Template,
    pub close: Template,
    /// In the order of their names, as the templates want them.
    pub params: Vec<ParamSpec>,
    pub turns: Turns,
    /// Accepted statuses; 200 to 399 when empty.
    pub statuses: Vec<u16>,
    pub body: Option<BodyVerifier>,
}

impl Plan {
    /// Worker threads of all generators.
    pub fn workers(&self) -> usize {
        self.threads * self.share.of
    }

    /// The number of this generator's thread among all of them: generators take turns.
    pub fn worker(&self, thread: usize) -> usize {
        thread * self.share.of + self.share.index
    }
}

impl Workload {
    /// At least 1. Phases of a closed load; of an open one, its pieces of the rate.
    pub fn phase_count(&self) -> usize {
        match &self.load {
            LoadSpec::Closed(closed) => closed.phases.len().max(1),
            LoadSpec::Open(open) => open.rates.len().max(1),
        }
    }

    /// The phase in which a request with this intended start is counted.
    pub fn phase_at(&self, intended: u64) -> usize {
        match (&self.load, &self.phases) {
            (LoadSpec::Closed(_), Some(phases)) => phases.phase_at(intended),
            (LoadSpec::Closed(_), None) => 0,
            (LoadSpec::Open(open), _) => rate_at(open, intended),
        }
    }

    /// Which request comes next; `turn` is how many came before it in the sequence.
    pub fn choose(&self, turn: u64, random: &mut Stream) -> usize {
        let count = self.requests.len();
        match self.order {
            _ if count == 1 => 0,
            Order::Sequence => (turn % count as u64) as usize,
            Order::Weighted => {
                let point = random.random_range(0..self.weights[count - 1]);
                self.weights.partition_point(|sum| *sum <= point)
            }
        }
    }
}

fn rate_at(open: &OpenSpec, intended: u64) -> usize {
    let mut start = 0_u64;
    for (index, rate) in open.rates.iter().enumerate() {
        match rate.duration_ns {
            Some(duration) if intended >= start + duration => start += duration,
            _ => return index,
        }
    }
    open.rates.len().saturating_sub(1)
}

impl Request {
    pub fn accepts(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            [] => (200..400).contains(&status),
            statuses => statuses.contains(&status),
        }
    }

    /// Writes the request with its parameters into `out`. Those that are used in turn take the values of the same row.
    pub fn fill(&self, template: &Template, random: &mut Stream, out: &mut Vec<u8>) {
        let in_turn = |param: &ParamSpec| matches!(param, ParamSpec::InTurn(_));
        let turn = if self.params.iter().any(in_turn) {
            self.turns.take()
        } else {
            0
        };
        template.write(out, |position, out| match &self.params[position] {
            ParamSpec::Range { from, to } => {
                use std::io::Write as _;
                let value = random.random_range(*from..=*to);
                write!(out, "{value}").expect("writing into memory does not fail");
            }
            ParamSpec::Choice(values) => {
                out.extend_from_slice(values[random.random_range(0..values.len())].as_bytes());
            }
            ParamSpec::InTurn(values) => {
                out.extend_from_slice(values[(turn % values.len() as u64) as usize].as_bytes());
            }
        });
    }
}

/// Uses of one request, counted over all workers of this generator. Several generators deal them out among each
/// other by their clients or connections.
#[derive(Debug)]
pub struct Turns {
    taken: AtomicU64,
    part: Partition,
}

impl Turns {
    pub fn new(load: &LoadSpec, share: ShareSpec) -> Self {
        let users = match load {
            LoadSpec::Closed(closed) => closed.clients,
            LoadSpec::Open(open) => open.max_connections,
        };
        Self {
            taken: AtomicU64::new(0),
            part: Partition::new(users, share.index, share.of),
        }
    }

    /// The next one of this generator, by its number among all of the plan.
    fn take(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let number = self.part.nth(taken);
        number.expect("who makes a request is a client or a connection of this generator")
    }
}
