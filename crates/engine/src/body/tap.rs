//! Taps, which look at a body as it passes by.

use crate::body::capture::{BodyCapture, BodySearch};
use crate::body::verify::{BodyState, BodyVerifier, Verdict};
use crate::search::missing::Missing;

/// A tap, prepared once for a request and shared by all clients.
#[derive(Debug)]
pub enum Tap {
    /// Checks whether it is the right body.
    Check(BodyVerifier),
    /// Keeps a part of it.
    Keep(BodyCapture),
}

/// What one client remembers of the current body, for each tap of its request.
#[derive(Debug, Default)]
pub struct TapStates(Vec<TapState>);

#[derive(Debug)]
enum TapState {
    Check(BodyState),
    Keep(BodySearch),
}

impl TapStates {
    /// Begins a new body.
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

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, taps: &[Tap], bytes: &[u8]) {
        for (tap, state) in taps.iter().zip(&mut self.0) {
            match (tap, state) {
                (Tap::Check(verifier), TapState::Check(state)) => verifier.feed(state, bytes),
                (Tap::Keep(source), TapState::Keep(search)) => source.feed(search, bytes),
                _ => unreachable!("a body begins with the taps that it ends with"),
            }
        }
    }

    /// Ends the body. Returns what the first check that it fails says of it.
    pub fn end(&mut self, taps: &[Tap]) -> Verdict {
        let mut verdict = Verdict::Right;
        for (tap, state) in taps.iter().zip(&mut self.0) {
            if let (Tap::Check(verifier), TapState::Check(state)) = (tap, state)
                && verdict == Verdict::Right
            {
                verdict = verifier.end(state);
            }
        }
        verdict
    }

    /// Returns what tap `number` has kept of the body that has ended.
    pub fn kept(&mut self, taps: &[Tap], number: usize) -> Result<Vec<u8>, Missing> {
        match (&taps[number], &mut self.0[number]) {
            (Tap::Keep(source), TapState::Keep(search)) => source.end(search),
            _ => unreachable!("only a tap that keeps something is asked for it"),
        }
    }

    /// Frees the memory, so that none is held between two requests.
    pub fn forget(&mut self) {
        self.0 = Vec::new();
    }
}
