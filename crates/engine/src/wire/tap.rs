//! Taps: what looks at a body while it passes by.

use crate::scenario::capture::{BodySearch, InBody, Missing};
use crate::wire::verify::{BodyState, BodyVerifier};

/// Prepared once for a request, and shared by all clients.
#[derive(Debug)]
pub enum Tap {
    /// Is it the right body?
    Check(BodyVerifier),
    /// Something of it is kept.
    Keep(InBody),
}

/// What one client remembers of the body that passes by, for each tap of its request.
#[derive(Debug, Default)]
pub struct TapStates(Vec<TapState>);

#[derive(Debug)]
enum TapState {
    Check(BodyState),
    Keep(BodySearch),
}

impl TapStates {
    /// A new body begins.
    pub fn begin(&mut self, taps: &[Tap]) {
        let fresh = || TapState::Check(BodyState::default());
        if self.0.len() < taps.len() {
            self.0.resize_with(taps.len(), fresh);
        }
        for (tap, state) in taps.iter().zip(&mut self.0) {
            match tap {
                Tap::Check(verifier) => {
                    if let TapState::Keep(_) = state {
                        *state = fresh();
                    }
                    if let TapState::Check(state) = state {
                        verifier.begin(state);
                    }
                }
                Tap::Keep(source) => *state = TapState::Keep(source.begin()),
            }
        }
    }

    /// The next bytes of the body.
    pub fn feed(&mut self, taps: &[Tap], bytes: &[u8]) {
        for (tap, state) in taps.iter().zip(&mut self.0) {
            match (tap, state) {
                (Tap::Check(verifier), TapState::Check(state)) => verifier.feed(state, bytes),
                (Tap::Keep(source), TapState::Keep(search)) => source.feed(search, bytes),
                _ => unreachable!("a body begins with the taps that it ends with"),
            }
        }
    }

    /// The body is whole. False if a check says that it is a wrong one.
    pub fn end(&mut self, taps: &[Tap]) -> bool {
        let mut right = true;
        for (tap, state) in taps.iter().zip(&mut self.0) {
            if let (Tap::Check(verifier), TapState::Check(state)) = (tap, state) {
                right &= verifier.end(state);
            }
        }
        right
    }

    /// After the end of a body: what the tap of this number has kept of it.
    pub fn kept(&mut self, taps: &[Tap], number: usize) -> Result<Vec<u8>, Missing> {
        match (&taps[number], &mut self.0[number]) {
            (Tap::Keep(source), TapState::Keep(search)) => source.end(search),
            _ => unreachable!("only a tap that keeps something is asked for it"),
        }
    }

    /// Between two requests nothing is remembered that takes memory.
    pub fn forget(&mut self) {
        self.0 = Vec::new();
    }
}
