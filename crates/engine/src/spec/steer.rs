//! Changes of a load while it runs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::load::{MAX_CLIENTS, MAX_RATE};

/// What is changed of a load. Each holds until the next change, or the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// An open load: requests are due at this rate per second.
    Rate(f64),
    /// A closed load: so many clients. They come and go as in a ramp.
    Clients(u64),
    /// So many times the rate or the number of clients at that moment; of clients at least one more or less.
    Scale(f64),
    /// The rate, or the number of clients, stays as it is at that moment.
    Hold,
    /// The next phase, or the next of the rates, begins at that moment.
    NextPhase,
}

impl Change {
    pub(crate) fn check(self) -> Result<(), SteerError> {
        match self {
            Self::Rate(rate) if !(rate > 0.0 && rate <= MAX_RATE) => Err(SteerError::Rate(rate)),
            Self::Clients(clients) if !(1..=MAX_CLIENTS).contains(&clients) => {
                Err(SteerError::Clients(clients))
            }
            Self::Scale(factor) if !(factor > 0.0 && factor.is_finite()) => {
                Err(SteerError::Scale(factor))
            }
            _ => Ok(()),
        }
    }
}

/// What was changed of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steered {
    /// From when on, in ns from t = 0.
    pub at_ns: u64,
    pub continuation: Continuation,
}

/// What a load does from some moment on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Continuation {
    Clients(u64),
    /// Per second.
    Rate(f64),
    /// The phase of this number, from its beginning, and those after it.
    Phase(usize),
}

/// Why a load is not changed. Every message says what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SteerError {
    #[error("the load is over: nothing can be changed any more")]
    Over,
    #[error("there is no workload of number {0}")]
    NoWorkload(usize),
    #[error("a rate of {0} per second cannot be sent: give more than 0 and at most {MAX_RATE}")]
    Rate(f64),
    #[error("a load cannot be {0} times what it is")]
    Scale(f64),
    #[error("{0} clients are not possible: give at least 1 and at most {MAX_CLIENTS}")]
    Clients(u64),
    #[error("its load is closed, clients wait for their responses: change the number of clients")]
    Closed,
    #[error("its load is open, requests are due at a rate: change the rate")]
    Open,
    #[error("its arrivals are those of a trace, which cannot be changed")]
    Trace,
    #[error("it stays as it is anyway: there is nothing to hold")]
    Constant,
    #[error("it is at 0 at that moment, and would stay there: give a number")]
    IsZero,
    #[error("no phase of it is left")]
    NoNextPhase,
    #[error(
        "{clients} clients need {needed} open files and a process may have {limit} here: at most {most} clients"
    )]
    OpenFiles {
        clients: u64,
        needed: u64,
        limit: u64,
        most: u64,
    },
    #[error(
        "it began with {0}, fewer than there are threads of generators, and all that it may send was dealt to them: \
         begin with more clients"
    )]
    AllDealt(u64),
}
