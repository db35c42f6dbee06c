//! A request, ready to be sent.

use std::sync::Arc;

use crate::body::event_meaning::EventStream;
use crate::body::tap::Tap;
use crate::exchange::grpc::method::Method;
use crate::exchange::raw::until::Until;
use crate::exchange::udp::matching::{Matching, write_serial};
use crate::exchange::ws::upgrade::Upgrade;
use crate::journey::state::ValueSource;
use crate::schedule::random::Rng;
use crate::schedule::turns::Turns;
use crate::spec::ParamSpec;
use crate::template::escape::escape;
use crate::template::request::{Gap, Template};

#[derive(Debug)]
pub struct Request {
    /// For a connection that stays open afterwards; `close` is for one that does not. They are equal for gRPC calls,
    /// WebSocket messages, raw bytes and datagrams.
    pub keep_alive: Template,
    pub close: Template,
    /// With their names, in whose order they are, as the templates expect.
    pub params: Vec<(String, ParamSpec)>,
    pub turns: Turns,
    /// Accepted statuses; 200 to 399 when empty.
    pub statuses: Vec<u16>,
    pub taps: Vec<Tap>,
    /// Whether the client's cookies are sent and those of the response kept.
    pub cookies: bool,
    /// Whether its path is needed once the response is there: for cookies, or for a URL that is relative to it.
    pub reads_path: bool,
    /// Whether something in the head of its response is needed.
    pub reads_head: bool,
    /// Set if a right response is a stream of events.
    pub stream: Option<EventStream>,
    /// Set for a message over a WebSocket: how that is opened.
    pub websocket: Option<Box<Upgrade>>,
    /// Set for raw bytes: where the response ends.
    pub raw: Option<Until>,
    /// Set for a datagram: how its response is recognised.
    pub datagram: Option<Arc<Matching>>,
    /// Set for a gRPC call: its method.
    pub grpc: Option<Box<Method>>,
}

/// One use of a request.
pub struct Call<'a> {
    pub request: &'a Request,
    /// What is sent: the request's own template, or that of a redirect.
    pub template: &'a Template,
    /// Where its random parameters come from.
    pub random: &'a mut Rng,
    /// For a step: where the other values for its gaps come from.
    pub source: Option<ValueSource<'a>>,
    /// How many requests of its client came before it.
    pub before: u64,
    /// Whether no other request follows on this connection.
    pub last: bool,
}

impl Request {
    pub fn template(&self, last: bool) -> &Template {
        if last { &self.close } else { &self.keep_alive }
    }

    /// The time that the request itself allows for its response (a gRPC deadline).
    pub fn deadline_ns(&self) -> Option<u64> {
        self.grpc.as_ref().and_then(|method| method.deadline_ns())
    }

    /// Whether its response is a stream of events over HTTP.
    pub fn streams_over_http(&self) -> bool {
        self.stream.is_some() && self.websocket.is_none() && self.raw.is_none()
    }

    /// Whether a response with this HTTP status may be right. What counts for a call of gRPC is its own status.
    pub fn accepts(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            _ if self.grpc.is_some() => true,
            [] => (200..400).contains(&status),
            statuses => statuses.contains(&status),
        }
    }

    /// Writes the request with its parameters into `out`. Parameters that are used in turn take the values of one row.
    /// The error says why the request cannot be sent: a value that does not fit into its place.
    pub fn fill(
        &self,
        template: &Template,
        call: &mut Call<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match &call.source {
            None => {
                self.fill_plain(template, call.random, call.before, out);
                Ok(())
            }
            Some(source) => {
                let mut filled = Ok(());
                let state = source.state.borrow();
                let scope = state.scope(source.journeys);
                let random = &mut *call.random;
                template.write(out, |gap, out| match gap {
                    Gap::Param(position, context) => {
                        let (name, param) = &self.params[position];
                        if let Err(why) = scope.write(param, context, random, out) {
                            filled = Err(format!("{{{name}}}: {why}"));
                        }
                    }
                    Gap::Cookies { begun } => scope.write_cookies(begun, out),
                    Gap::Scripted(part) => scope.write_scripted(part, out),
                });
                filled
            }
        }
    }

    fn fill_plain(&self, template: &Template, random: &mut Rng, before: u64, out: &mut Vec<u8>) {
        let in_turn = |(_, param): &(String, ParamSpec)| matches!(param, ParamSpec::InTurn(_));
        let turn = if self.params.iter().any(in_turn) {
            self.turns.take()
        } else {
            0
        };
        template.write(out, |gap, out| {
            let Gap::Param(position, context) = gap else {
                unreachable!("only journeys have other gaps");
            };
            match &self.params[position].1 {
                ParamSpec::Range { from, to } => {
                    use std::io::Write as _;
                    let value = random.between(*from, *to);
                    write!(out, "{value}").expect("writing into memory does not fail");
                }
                ParamSpec::Choice(values) => {
                    let chosen = &values[random.below(values.len() as u64) as usize];
                    escape(chosen.as_bytes(), context, out);
                }
                ParamSpec::InTurn(values) => {
                    let next = &values[(turn % values.len() as u64) as usize];
                    escape(next.as_bytes(), context, out);
                }
                ParamSpec::Serial { bytes } => write_serial(before, *bytes, out),
                _ => unreachable!("only steps have other parameters"),
            }
        });
    }
}
