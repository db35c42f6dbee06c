//! The exchanges between client and server, step by step, for trying out a journey.

use crate::outcome::Outcome;

/// How many bytes are shown of a request, of a response's head, and of a response's body.
const MAX_SHOWN_BYTES: usize = 16 * 1024;

/// One request of a journey and its response.
#[derive(Debug, Clone)]
pub struct Trace {
    pub workload: u32,
    pub journey: u32,
    pub step: u32,
    pub intended_ns: u64,
    pub end_ns: u64,
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub why: String,
    pub transcript: Transcript,
    /// Captured values, by name.
    pub captured: Vec<(String, Vec<u8>)>,
}

/// The first bytes of an exchange, as they went over the connection.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    pub request: Vec<u8>,
    pub head: Vec<u8>,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// Length of the whole body, including what is not shown.
    pub body_bytes: u64,
    /// What became of cookies, where that may not be expected.
    pub notes: Vec<String>,
}

impl Transcript {
    pub fn add_request(&mut self, bytes: &[u8]) {
        append(&mut self.request, bytes);
    }

    pub fn add_body(&mut self, body: &[u8]) {
        append(&mut self.body, body);
        self.body_bytes += body.len() as u64;
    }

    pub fn add_head(&mut self, bytes: &[u8]) {
        append(&mut self.head, bytes);
    }
}

fn append(shown: &mut Vec<u8>, bytes: &[u8]) {
    let free = MAX_SHOWN_BYTES - shown.len();
    shown.extend_from_slice(&bytes[..bytes.len().min(free)]);
}
