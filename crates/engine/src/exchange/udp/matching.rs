//! How a response is recognised.

use std::hash::{DefaultHasher, Hash, Hasher};

use regex::bytes::Regex;

use crate::spec::{DatagramMatch, ParamSpec, RequestSpec};
use crate::template::request::{Placeholder, Template};

/// How many requests are written to see whether they differ.
const TRIES: u64 = 32;

/// How the response is recognised, prepared once for a request and shared by all clients.
#[derive(Debug)]
pub enum Matching {
    /// The first datagram that comes.
    Order,
    Echo,
    Bytes {
        from: usize,
        to: usize,
    },
    Regex(Regex),
}

impl Matching {
    /// The error says why no response could be recognised this way.
    pub fn new(
        spec: &DatagramMatch,
        request: &RequestSpec,
        template: &Template,
    ) -> Result<Self, String> {
        let matching = match spec {
            DatagramMatch::Order => return Ok(Self::Order),
            DatagramMatch::Echo => Self::Echo,
            DatagramMatch::Bytes { from, to } if from < to => Self::Bytes {
                from: *from,
                to: *to,
            },
            DatagramMatch::Bytes { from, to } => {
                return Err(format!("match: there are no bytes {from}..{to}"));
            }
            DatagramMatch::Regex(pattern) => {
                let regex = Regex::new(pattern).map_err(|error| {
                    format!("match: {pattern:?} is not a regular expression: {error}")
                })?;
                Self::Regex(regex)
            }
        };
        matching.check(request, template)?;
        Ok(matching)
    }

    /// A hash of what only a request and its response have in common; `None` if a datagram has no such part. Different
    /// parts have the same hash in one of 2⁶⁴ cases.
    pub fn key(&self, datagram: &[u8]) -> Option<u64> {
        let key_part = match self {
            Self::Order => return None,
            Self::Echo => datagram,
            Self::Bytes { from, to } => datagram.get(*from..*to)?,
            Self::Regex(regex) => {
                let captures = regex.captures(datagram)?;
                captures.get(1).or_else(|| captures.get(0))?.as_bytes()
            }
        };
        let mut hasher = DefaultHasher::new();
        key_part.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Why no response was found. `strays`: whether datagrams came that answer nothing.
    pub fn missed(&self, key: Option<u64>, strays: bool) -> &'static str {
        match self {
            Self::Order => "no response came in time",
            _ if key.is_none() => "what was sent has nothing by which its response could be known",
            _ if strays => "no response came in time, but datagrams that answer nothing did",
            _ => "no response came in time",
        }
    }

    /// Checks that requests differ in the part that is compared, as their responses cannot be told apart otherwise.
    fn check(&self, request: &RequestSpec, template: &Template) -> Result<(), String> {
        let mut keys = Vec::new();
        for number in 0..TRIES {
            let mut sent = Vec::new();
            template.write(&mut sent, |placeholder, out| {
                fill(request, placeholder, number, out);
            });
            let Some(key) = self.key(&sent) else {
                return Err(match self {
                    Self::Bytes { from, to } => {
                        let length = sent.len();
                        format!("match: what is sent has {length} bytes, and none at {from}..{to}")
                    }
                    _ => "match: the regular expression finds nothing in what is sent".into(),
                });
            };
            keys.push(key);
        }
        if keys.iter().all(|key| *key == keys[0]) {
            return Err("match: all requests are the same there, so that their responses cannot be told apart: \
                 write {id:u16} where two bytes are to differ"
                .into());
        }
        Ok(())
    }
}

/// Fills in the values for request `number`. Instead of drawing at random it takes one value after another.
fn fill(request: &RequestSpec, placeholder: Placeholder, number: u64, out: &mut Vec<u8>) {
    let Placeholder::Param(position, _) = placeholder else {
        return;
    };
    match request.params.values().nth(position) {
        Some(ParamSpec::Range { from, to }) => {
            let value = from.saturating_add_unsigned(number).min(*to);
            out.extend_from_slice(value.to_string().as_bytes());
        }
        Some(ParamSpec::Choice(values) | ParamSpec::InTurn(values)) => {
            out.extend_from_slice(values[number as usize % values.len()].as_bytes());
        }
        Some(ParamSpec::Serial { bytes }) => write_serial(number, *bytes, out),
        _ => unreachable!("only steps have other parameters"),
    }
}

/// Writes the lowest `bytes` bytes of a number in big-endian order.
pub fn write_serial(number: u64, bytes: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes()[8 - usize::from(bytes)..]);
}
