//! A request, ready to be sent.

use std::sync::Arc;

use crate::scenario::traveller::Source;
use crate::scenario::turns::Turns;
use crate::scenario::values::escape;
use crate::schedule::random::Stream;
use crate::spec::{ParamSpec, StreamSpec};
use crate::wire::grpc::Method;
use crate::wire::h1::codec::{Gap, Template};
use crate::wire::raw::Until;
use crate::wire::tap::Tap;
use crate::wire::udp::{Matching, write_serial};
use crate::wire::ws::Upgrade;

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is wanted of a request, each by itself"
)]
pub struct Request {
    /// For a connection that stays open afterwards, and for one that does not; of a WebSocket, and of raw
    /// bytes, both are what is sent.
    pub keep_alive: Template,
    pub close: Template,
    /// In the order of their names, as the templates want them.
    pub params: Vec<ParamSpec>,
    pub turns: Turns,
    /// Accepted statuses; 200 to 399 when empty.
    pub statuses: Vec<u16>,
    pub taps: Vec<Tap>,
    /// The client's cookies are sent, and those of the answer kept.
    pub cookies: bool,
    /// It says which content codings it accepts: what looks at the body of its answer sees it decoded.
    pub decodes: bool,
    /// Its path is wanted when the answer is there: for cookies, or for a URL that is relative to it.
    pub reads_path: bool,
    /// Something is wanted of the head of its answer.
    pub reads_head: bool,
    /// A right answer is a stream of events. Where it says how many tokens it had, the last tap keeps that.
    pub stream: Option<StreamSpec>,
    /// It is a message over a WebSocket that is opened so.
    pub websocket: Option<Box<Upgrade>>,
    /// It is raw bytes, and its answer ends so.
    pub raw: Option<Until>,
    /// It is a datagram, and its answer is known so.
    pub datagram: Option<Arc<Matching>>,
    /// It is a call of this method.
    pub grpc: Option<Box<Method>>,
}

/// One use of a request.
pub struct Call<'a> {
    pub request: &'a Request,
    /// What is sent: the request's own, or that of a redirect.
    pub template: &'a Template,
    /// Where its parameters come from.
    pub random: &'a mut Stream,
    /// Of a step: what else its gaps are filled from.
    pub source: Option<Source<'a>>,
    /// So many requests of its client came before it.
    pub before: u64,
    /// No other request follows on this connection.
    pub last: bool,
}

impl Request {
    pub fn template(&self, last: bool) -> &Template {
        if last { &self.close } else { &self.keep_alive }
    }

    /// Within which its answer has to end, by its own word.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.grpc.as_ref().and_then(|method| method.deadline_ns())
    }

    /// Its answer over HTTP is a stream of events.
    pub fn streams_over_http(&self) -> bool {
        self.stream.is_some() && self.websocket.is_none() && self.raw.is_none()
    }

    pub fn accepts(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            [] => (200..400).contains(&status),
            statuses => statuses.contains(&status),
        }
    }

    /// Writes the request with its parameters into `out`. Those that are used in turn take the values of the same row.
    pub fn fill(&self, template: &Template, call: &mut Call<'_>, out: &mut Vec<u8>) {
        match &call.source {
            None => self.fill_plain(template, call.random, call.before, out),
            Some(source) => {
                let traveller = source.traveller.borrow();
                let scope = traveller.scope(source.journeys);
                let random = &mut *call.random;
                template.write(out, |gap, out| match gap {
                    Gap::Param(position, place) => {
                        scope.write(&self.params[position], place, random, out);
                    }
                    Gap::Cookies { begun } => scope.write_cookies(begun, out),
                    Gap::Asked(part) => scope.write_asked(part, out),
                });
            }
        }
    }

    fn fill_plain(&self, template: &Template, random: &mut Stream, before: u64, out: &mut Vec<u8>) {
        let in_turn = |param: &ParamSpec| matches!(param, ParamSpec::InTurn(_));
        let turn = if self.params.iter().any(in_turn) {
            self.turns.take()
        } else {
            0
        };
        template.write(out, |gap, out| {
            let Gap::Param(position, place) = gap else {
                unreachable!("only journeys have other gaps");
            };
            match &self.params[position] {
                ParamSpec::Range { from, to } => {
                    use std::io::Write as _;
                    let value = random.between(*from, *to);
                    write!(out, "{value}").expect("writing into memory does not fail");
                }
                ParamSpec::Choice(values) => {
                    let chosen = &values[random.below(values.len() as u64) as usize];
                    escape(chosen.as_bytes(), place, out);
                }
                ParamSpec::InTurn(values) => {
                    let next = &values[(turn % values.len() as u64) as usize];
                    escape(next.as_bytes(), place, out);
                }
                ParamSpec::Serial { bytes } => write_serial(before, *bytes, out),
                _ => unreachable!("only steps have other parameters"),
            }
        });
    }
}
