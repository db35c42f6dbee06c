//! Taps: what looks at a body while it passes by.

use crate::wire::verify::{BodyState, BodyVerifier};

/// Prepared once for a request, and shared by all clients.
#[derive(Debug)]
pub enum Tap {
    /// Is it the right body?
    Check(BodyVerifier),
}

/// What one client remembers of the body that passes by, for each tap of its request.
#[derive(Debug, Default)]
pub struct TapStates(Vec<BodyState>);

impl TapStates {
    /// A new body begins.
    pub fn begin(&mut self, taps: &[Tap]) {
        if self.0.len() < taps.len() {
            self.0.resize_with(taps.len(), BodyState::default);
        }
        for (Tap::Check(verifier), state) in taps.iter().zip(&mut self.0) {
            verifier.begin(state);
        }
    }

    /// The next bytes of the body.
    pub fn feed(&mut self, taps: &[Tap], bytes: &[u8]) {
        for (Tap::Check(verifier), state) in taps.iter().zip(&mut self.0) {
            verifier.feed(state, bytes);
        }
    }

    /// The body is whole. False if a check says that it is a wrong one.
    pub fn end(&mut self, taps: &[Tap]) -> bool {
        let mut right = true;
        for (Tap::Check(verifier), state) in taps.iter().zip(&mut self.0) {
            right &= verifier.end(state);
        }
        right
    }
}
