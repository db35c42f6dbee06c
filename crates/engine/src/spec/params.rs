//! The parameters that a request is filled with.

use serde::{Deserialize, Serialize};

use crate::spec::error::StartError;
use crate::spec::{RequestSpec, WorkloadSpec};

/// Where a parameter's values come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamSpec {
    /// Uniform over the whole numbers `from..=to`.
    Range { from: i64, to: i64 },
    /// One of these at random.
    Choice(Vec<String>),
    /// Each of these in turn, dealt out over all clients (rows of a CSV file).
    InTurn(Vec<String>),
    /// The number of the request among those of its client, from 0, as this many bytes (1 to 8), big-endian.
    Serial { bytes: u8 },
    /// For steps only: the value in this slot of the client.
    Slot {
        slot: usize,
        #[serde(default)]
        written: Written,
    },
    /// For steps only: a random UUID.
    Uuid,
    /// For steps only: the Unix time in milliseconds.
    Now,
    /// For steps only: the number of the client, from 1.
    Client,
    /// For steps only: the number of the client's journey, from 1.
    Iteration,
}

/// How the value of a slot is written into a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// Escaped as its place needs it.
    #[default]
    Escaped,
    /// As it is, but on one line in a header. In a path it must have only what a path can have.
    Raw,
    /// As it is, if it is a JSON number.
    Number,
    /// As it is, if it is a JSON value.
    Json,
}

pub(super) fn check(workload: &WorkloadSpec, request: &RequestSpec) -> Result<(), StartError> {
    check_values(&workload.name, request)?;
    check_kinds(workload, request)
}

fn check_values(workload: &str, request: &RequestSpec) -> Result<(), StartError> {
    for (name, param) in &request.params {
        let problem = match param {
            ParamSpec::Range { from, to } if from > to => {
                format!("from {from} is greater than to {to}")
            }
            ParamSpec::Choice(values) | ParamSpec::InTurn(values) if values.is_empty() => {
                "it has no values".into()
            }
            _ => continue,
        };
        let field = format!("request {:?}, parameter {name:?}", request.name);
        return Err(StartError::invalid(workload, &field, problem));
    }
    Ok(())
}

/// Checks that parameters are of a kind that goes with the request.
///
/// Ranges and choices go with any request, `InTurn` with single requests only, `Serial` with raw bytes and datagrams,
/// and all others with steps only.
fn check_kinds(workload: &WorkloadSpec, request: &RequestSpec) -> Result<(), StartError> {
    let step = !workload.journeys.is_empty();
    let kept = request.params.values().any(|param| match param {
        ParamSpec::Range { .. } | ParamSpec::Choice(_) => false,
        ParamSpec::InTurn(_) => step,
        ParamSpec::Serial { bytes } => {
            let raw = request.raw.is_some() || request.datagram.is_some();
            !raw || !(1..=8).contains(bytes)
        }
        ParamSpec::Slot { slot, .. } => !step || *slot >= workload.slots,
        ParamSpec::Uuid | ParamSpec::Now | ParamSpec::Client | ParamSpec::Iteration => !step,
    });
    if kept || (!step && (request.cookies || request.fill.is_some())) {
        let field = format!("request {:?}", request.name);
        let problem = "a parameter is not of the kind that a step, or a single request, can have";
        return Err(StartError::invalid(&workload.name, &field, problem));
    }
    Ok(())
}
