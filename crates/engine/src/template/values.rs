//! Values that are written into the placeholders of a request, escaped for the place where they stand.

use std::io::Write as _;

use crate::machine::clock::unix_ns;
use crate::protocol::url::fits_path;
use crate::schedule::random::Rng;
use crate::search::json;
use crate::spec::{ParamSpec, Written};
use crate::template::cookies::{Jar, Site};
use crate::template::escape::{EscapeContext, escape};
use crate::template::request::Part;
use crate::template::scripted_request::ScriptedRequest;
use crate::template::slots::Slots;

/// Everything from which a client on a journey can fill a request.
#[derive(Debug)]
pub struct Scope<'a> {
    pub slots: &'a Slots,
    pub jar: &'a Jar,
    pub site: &'a Site,
    /// Number of the client, from 1.
    pub client: u64,
    /// Number of the client's journey, from 1.
    pub iteration: u64,
    /// The request that a script asks for, if any.
    pub scripted: Option<&'a ScriptedRequest>,
}

impl Scope<'_> {
    /// Appends the value of a parameter. The error says why it does not fit, without the value, which may be a secret.
    pub fn write(
        &self,
        param: &ParamSpec,
        context: EscapeContext,
        random: &mut Rng,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match param {
            ParamSpec::Slot { slot, written } => {
                let value = self.slots.get(*slot).unwrap_or_default();
                check(value, *written, context)?;
                let context = match (written, context) {
                    (Written::Escaped, context) => context,
                    // Even a raw value must not contain a line break here.
                    (_, EscapeContext::Header) => EscapeContext::Header,
                    _ => EscapeContext::Bare,
                };
                escape(value, context, out);
            }
            ParamSpec::Range { from, to } => number(random.between(*from, *to), out),
            ParamSpec::Choice(values) => {
                let chosen = &values[random.below(values.len() as u64) as usize];
                escape(chosen.as_bytes(), context, out);
            }
            ParamSpec::Uuid => uuid(random, out),
            ParamSpec::Now => number(unix_ns() / 1_000_000, out),
            ParamSpec::Client => number(self.client, out),
            ParamSpec::Iteration => number(self.iteration, out),
            ParamSpec::InTurn(_) => unreachable!("a step has feeds for what comes in turn"),
            ParamSpec::Serial { .. } => unreachable!("a step is no raw bytes"),
        }
        Ok(())
    }

    /// Appends a part of the request that a script asks for.
    pub fn write_scripted(&self, part: Part, out: &mut Vec<u8>) {
        let scripted = self
            .scripted
            .expect("who sends the request of a script has asked for something");
        out.extend_from_slice(scripted.part(part));
    }

    /// Appends the `Cookie` header to the request that is being written to `out`, or completes that header if it is
    /// already `begun`.
    pub fn write_cookies(&self, begun: bool, out: &mut Vec<u8>) {
        let path = path_of(out).to_vec();
        self.jar.write(&path, self.site, unix_s(), begun, out);
    }
}

/// Checks that a value can be written unescaped.
fn check(value: &[u8], written: Written, context: EscapeContext) -> Result<(), String> {
    match written {
        Written::Raw if context == EscapeContext::Url => {
            let unfit = value.iter().position(|byte| !fits_path(*byte));
            let Some(at) = unfit else { return Ok(()) };
            Err(format!(
                "its value has byte 0x{:02X} at {at}, which a path cannot have: leave out :raw, or percent-encode it",
                value[at]
            ))
        }
        Written::Escaped | Written::Raw => Ok(()),
        Written::Number if json::is_number(value) => Ok(()),
        Written::Number => Err("its value is no JSON number".into()),
        Written::Json => json::read(value, false, &mut json::Discard)
            .map_err(|problem| format!("its value cannot be read as JSON: {problem}")),
    }
}

pub fn unix_s() -> i64 {
    (unix_ns() / 1_000_000_000).cast_signed()
}

/// Returns the path, with its query, from the request line that `request` begins with.
pub fn path_of(request: &[u8]) -> &[u8] {
    let mut words = request.split(|byte| *byte == b' ');
    words.nth(1).unwrap_or_default()
}

fn number(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("writing into memory does not fail");
}

/// Appends a random UUID (version 4, RFC 9562).
pub fn uuid(random: &mut Rng, out: &mut Vec<u8>) {
    let [high, low] = [0; 2].map(|_| random.below(u64::MAX));
    write!(
        out,
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 48 & 0x3fff),
        low & 0xffff_ffff_ffff
    )
    .expect("writing into memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_form_and_the_version_of_random_ones() {
        let mut out = Vec::new();
        uuid(&mut Rng::new(1, &[]), &mut out);
        let text = String::from_utf8(out).unwrap();
        let lengths: Vec<usize> = text.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(
            text.as_bytes()[14] == b'4' && b"89ab".contains(&text.as_bytes()[19]),
            "{text}"
        );
    }
}
