//! Requests as they are prepared before the run, and each as it is sent.

use std::sync::Arc;

use crate::body::event_meaning::EventStream;
use crate::body::tap::Tap;
use crate::exchange::grpc::method::Method;
use crate::exchange::raw::until::Until;
use crate::exchange::udp::matching::{Matching, write_serial};
use crate::exchange::ws::upgrade::Upgrade;
use crate::journey::state::ValueSource;
use crate::net::buffers::WorkerBuffers;
use crate::schedule::random::Rng;
use crate::schedule::turns::Turns;
use crate::spec::ParamSpec;
use crate::template::escape::escape;
use crate::template::request::{Placeholder, Template};

/// A request of a workload, prepared once and shared by all clients.
#[derive(Debug)]
pub struct Request {
    pub protocol: Protocol,
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
    /// Set if a right response is a stream of events, whatever the protocol.
    pub stream: Option<EventStream>,
}

/// How a request travels, with what its protocol needs beside the bytes that are sent.
#[derive(Debug)]
pub enum Protocol {
    /// HTTP/1.1 or HTTP/2, as its target says.
    Http,
    /// A call of this method, over HTTP/2.
    Grpc(Box<Method>),
    /// A message over a WebSocket, which is opened like this.
    WebSocket(Box<Upgrade>),
    /// Raw bytes; the response ends here.
    Raw(Until),
    /// A datagram, whose response is recognised like this.
    Datagram(Arc<Matching>),
}

/// A request on its way out: once for every time that it is sent.
pub struct OutgoingRequest<'a> {
    pub request: &'a Request,
    /// What is sent: the request's own template, or that of a redirect.
    pub template: &'a Template,
    /// Where its random parameters come from.
    pub random: &'a mut Rng,
    /// For a step: where the values of its other placeholders come from.
    pub source: Option<ValueSource<'a>>,
    /// How many requests its client has sent before.
    pub earlier_requests: u64,
    /// Whether no other request follows on this connection.
    pub last_on_connection: bool,
}

impl Request {
    pub fn template(&self, last_on_connection: bool) -> &Template {
        if last_on_connection {
            &self.close
        } else {
            &self.keep_alive
        }
    }

    /// The method, if it is a call of gRPC.
    pub fn grpc(&self) -> Option<&Method> {
        match &self.protocol {
            Protocol::Grpc(method) => Some(method),
            _ => None,
        }
    }

    /// The time that the request itself allows for its response (a gRPC deadline).
    pub fn deadline_ns(&self) -> Option<u64> {
        self.grpc().and_then(Method::deadline_ns)
    }

    /// Whether a response with this HTTP status may be right. What counts for a call of gRPC is its own status.
    pub fn accepts(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            _ if self.grpc().is_some() => true,
            [] => (200..400).contains(&status),
            statuses => statuses.contains(&status),
        }
    }

    /// Writes the request with its parameters into `out`. Parameters that are used in turn take the values of one row.
    /// The error says why the request cannot be sent: a value that does not fit into its place.
    pub fn fill(
        &self,
        template: &Template,
        outgoing: &mut OutgoingRequest<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match &outgoing.source {
            None => {
                self.fill_plain(template, outgoing.random, outgoing.earlier_requests, out);
                Ok(())
            }
            Some(source) => {
                let mut filled = Ok(());
                let state = source.state.borrow();
                let scope = state.scope(source.journeys);
                let random = &mut *outgoing.random;
                template.write(out, |placeholder, out| match placeholder {
                    Placeholder::Param(position, context) => {
                        let (name, param) = &self.params[position];
                        if let Err(why) = scope.write(param, context, random, out) {
                            filled = Err(format!("{{{name}}}: {why}"));
                        }
                    }
                    Placeholder::Cookies { begun } => scope.write_cookies(begun, out),
                    Placeholder::Scripted(part) => scope.write_scripted(part, out),
                });
                filled
            }
        }
    }

    fn fill_plain(
        &self,
        template: &Template,
        random: &mut Rng,
        earlier_requests: u64,
        out: &mut Vec<u8>,
    ) {
        let in_turn = |(_, param): &(String, ParamSpec)| matches!(param, ParamSpec::InTurn(_));
        let turn = if self.params.iter().any(in_turn) {
            self.turns.take()
        } else {
            0
        };
        template.write(out, |placeholder, out| {
            let Placeholder::Param(position, context) = placeholder else {
                unreachable!("only journeys have other placeholders");
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
                ParamSpec::Serial { bytes } => write_serial(earlier_requests, *bytes, out),
                _ => unreachable!("only steps have other parameters"),
            }
        });
    }
}

impl<'a> OutgoingRequest<'a> {
    /// Returns the bytes to send: those of the template, if they are always the same, and otherwise what is written into
    /// `filled`, which is then a spare buffer of the worker and to be given back. The error says why it cannot be sent.
    pub fn bytes<'b>(
        &mut self,
        buffers: &WorkerBuffers,
        filled: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], String>
    where
        'a: 'b,
    {
        let template = self.template;
        if let Some(fixed) = template.fixed() {
            return Ok(fixed);
        }
        *filled = buffers.take_spare();
        self.request.fill(template, self, filled)?;
        if let Protocol::Grpc(method) = &self.request.protocol {
            method.finish(filled)?;
        }
        Ok(filled)
    }
}
