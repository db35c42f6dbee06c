//! A request, ready to be sent.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::schedule::partition::Partition;
use crate::schedule::random::Stream;
use crate::spec::{LoadSpec, ParamSpec, ShareSpec};
use crate::wire::h1::codec::Template;
use crate::wire::tap::Tap;

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
    pub taps: Vec<Tap>,
}

/// One use of a request.
pub struct Call<'a> {
    pub request: &'a Request,
    /// What is sent: the request's own, or that of a redirect.
    pub template: &'a Template,
    /// Where its parameters come from.
    pub random: &'a mut Stream,
    /// No other request follows on this connection.
    pub last: bool,
}

impl Request {
    pub fn template(&self, last: bool) -> &Template {
        if last { &self.close } else { &self.keep_alive }
    }

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
                let value = random.between(*from, *to);
                write!(out, "{value}").expect("writing into memory does not fail");
            }
            ParamSpec::Choice(values) => {
                out.extend_from_slice(
                    values[random.below(values.len() as u64) as usize].as_bytes(),
                );
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
