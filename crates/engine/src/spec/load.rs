//! When requests are due: closed loads, whose clients wait for their responses, and open loads, which do not wait.

use serde::{Deserialize, Serialize};

use crate::spec::error::StartError;

/// Client numbers have 32 bits.
pub(super) const MAX_CLIENTS: u64 = u32::MAX as u64;
/// Per second: clocks do not tell shorter gaps apart.
pub(super) const MAX_RATE: f64 = 1e9;
/// 400 days: far beyond any run, and far from overflow.
const MAX_NS: u64 = 400 * 24 * 3600 * 1_000_000_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LoadSpec {
    Closed(ClosedSpec),
    Open(OpenSpec),
}

/// N clients; each sends, waits for the response, thinks, and sends again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedSpec {
    /// The highest number of clients at any time.
    pub clients: u64,
    #[serde(default)]
    pub think: ThinkSpec,
    /// The number of requests of all clients together; unlimited when `None`.
    #[serde(default)]
    pub requests: Option<u64>,
    /// The number of requests of one client, which then ends (and is replaced if `renew`); unlimited when `None`.
    #[serde(default)]
    pub requests_per_client: Option<u64>,
    /// Whether a new client takes the place of one that has made all its requests.
    #[serde(default)]
    pub renew: bool,
    /// The number of requests on one connection; unlimited when `None`. 1 means no keep-alive: `Connection: close` is
    /// sent.
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
    /// The number of clients over time; when empty, it is `clients` from the start to the end.
    #[serde(default)]
    pub phases: Vec<PhaseSpec>,
}

/// A phase in which the number of clients goes from `from` to `to`: linearly, or in `steps` equal steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    pub name: String,
    pub duration_ns: u64,
    pub from: u64,
    pub to: u64,
    #[serde(default)]
    pub steps: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThinkSpec {
    #[default]
    None,
    Constant {
        ns: u64,
    },
    /// Uniform in `ns · (1 ± spread)`, 0 ≤ spread ≤ 1.
    Uniform {
        ns: u64,
        spread: f64,
    },
    Exponential {
        mean_ns: u64,
    },
    /// Each of these in turn.
    List {
        ns: Vec<u64>,
    },
}

impl ThinkSpec {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Uniform { spread, .. } if !(0.0..=1.0).contains(spread) => {
                Err("spread is not between 0 and 1")
            }
            Self::List { ns } if ns.is_empty() => Err("the list is empty"),
            _ if self.longest() > MAX_NS => Err("it is longer than 400 days"),
            _ => Ok(()),
        }
    }

    fn longest(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Constant { ns }
            | Self::Uniform { ns, .. }
            | Self::Exponential { mean_ns: ns } => *ns,
            Self::List { ns } => ns.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Requests are due at times that do not depend on the responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSpec {
    pub arrivals: Arrivals,
    /// The rate over time; the last one holds to the end of the run. Unused with `Arrivals::Trace`.
    #[serde(default)]
    pub rates: Vec<RateSpec>,
    /// The number of requests in all; unlimited when `None`.
    #[serde(default)]
    pub requests: Option<u64>,
    /// The pool of connections grows up to this size. Requests that are due and find none free wait in order.
    pub max_connections: u64,
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    Constant,
    Poisson,
    /// Intended starts in nanoseconds from the start of the run, ascending.
    Trace(Vec<u64>),
}

/// A rate in requests per second, which goes linearly from `from` to `to` in `duration_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSpec {
    #[serde(default)]
    pub name: String,
    pub duration_ns: Option<u64>,
    pub from: f64,
    pub to: f64,
}

impl LoadSpec {
    /// Checks the load of the workload of this name.
    pub fn check(&self, workload: &str) -> Result<(), StartError> {
        match self {
            Self::Closed(closed) => check_closed(workload, closed),
            Self::Open(open) => check_open(workload, open),
        }
    }

    /// The most clients, or connections of an open load, that are planned at any time.
    #[must_use]
    pub fn most_clients(&self) -> u64 {
        match self {
            Self::Closed(closed) => closed.clients,
            Self::Open(open) => open.max_connections,
        }
    }

    pub(super) fn requests_per_connection(&self) -> Option<u64> {
        match self {
            Self::Closed(closed) => closed.requests_per_connection,
            Self::Open(open) => open.requests_per_connection,
        }
    }

    /// Whether the load ends by itself.
    pub(super) fn ends(&self) -> bool {
        match self {
            Self::Closed(closed) => {
                closed.requests.is_some()
                    || !closed.phases.is_empty()
                    || (closed.requests_per_client.is_some() && !closed.renew)
            }
            Self::Open(open) => {
                open.requests.is_some() || matches!(open.arrivals, Arrivals::Trace(_))
            }
        }
    }
}

fn check_closed(workload: &str, closed: &ClosedSpec) -> Result<(), StartError> {
    let invalid = |field: &str, problem: &str| Err(StartError::invalid(workload, field, problem));
    count_in_range(closed.clients, MAX_CLIENTS, "client")
        .map_err(|problem| StartError::invalid(workload, "load.clients", problem))?;
    for (field, count) in [
        ("load.requests", closed.requests),
        ("load.requests_per_client", closed.requests_per_client),
        (
            "load.requests_per_connection",
            closed.requests_per_connection,
        ),
    ] {
        if count == Some(0) {
            return invalid(
                field,
                "it is 0: give at least 1, or leave it out for no limit",
            );
        }
    }
    if let Err(problem) = closed.think.check() {
        return invalid("load.think", problem);
    }
    let mut whole = 0_u64;
    for phase in &closed.phases {
        let field = format!("load.phases, {:?}", phase.name);
        duration_in_range(phase.duration_ns)
            .map_err(|problem| StartError::invalid(workload, &field, problem))?;
        whole = whole.saturating_add(phase.duration_ns);
        if phase.from.max(phase.to) > closed.clients {
            return invalid(
                &field,
                "it has more clients than load.clients, the most at any time",
            );
        }
        if phase.steps == Some(0) {
            return invalid(&field, "steps is 0: leave it out for a linear ramp");
        }
    }
    if whole > MAX_NS {
        return invalid("load.phases", "together they are longer than 400 days");
    }
    Ok(())
}

fn check_open(workload: &str, open: &OpenSpec) -> Result<(), StartError> {
    let invalid = |field: &str, problem: &str| Err(StartError::invalid(workload, field, problem));
    count_in_range(open.max_connections, MAX_CLIENTS, "connection")
        .map_err(|problem| StartError::invalid(workload, "load.max_connections", problem))?;
    for (field, count) in [
        ("load.requests", open.requests),
        ("load.requests_per_connection", open.requests_per_connection),
    ] {
        if count == Some(0) {
            return invalid(
                field,
                "it is 0: give at least 1, or leave it out for no limit",
            );
        }
    }
    if let Arrivals::Trace(times) = &open.arrivals {
        if times.is_empty() {
            return invalid("load.arrivals", "the trace has no arrivals");
        }
        if !times.is_sorted() {
            return invalid(
                "load.arrivals",
                "the trace's times are not ascending: sort them",
            );
        }
        return Ok(());
    }
    if open.rates.is_empty() {
        return invalid("load.rates", "give at least one rate");
    }
    let last = open.rates.len() - 1;
    for (index, rate) in open.rates.iter().enumerate() {
        check_rate(rate, index == last).map_err(|problem| {
            StartError::invalid(workload, &format!("load.rates[{index}]"), problem)
        })?;
    }
    if open
        .rates
        .iter()
        .all(|rate| rate.from == 0.0 && rate.to == 0.0)
    {
        return invalid("load.rates", "all are 0: no request would ever be due");
    }
    Ok(())
}

fn check_rate(rate: &RateSpec, last: bool) -> Result<(), String> {
    if ![rate.from, rate.to]
        .iter()
        .all(|rate| (0.0..=MAX_RATE).contains(rate))
    {
        return Err(format!(
            "{} to {} per second is not between 0 and 1e9",
            rate.from, rate.to
        ));
    }
    match rate.duration_ns {
        Some(ns) => duration_in_range(ns),
        None if !last => Err("only the last rate may be without a duration".into()),
        #[expect(
            clippy::float_cmp,
            reason = "a rate without a duration is given as two equal numbers"
        )]
        None if rate.from != rate.to => Err("a ramp needs a duration".into()),
        None => Ok(()),
    }
}

pub(super) fn count_in_range(count: u64, max: u64, thing: &str) -> Result<(), String> {
    match count {
        0 => Err(format!("give at least one {thing}")),
        count if count > max => Err(format!("give at most {max} {thing}s: {count} are too many")),
        _ => Ok(()),
    }
}

pub(super) fn duration_in_range(ns: u64) -> Result<(), String> {
    match ns {
        0 => Err("it is 0: it must be longer".into()),
        ns if ns > MAX_NS => Err("it is longer than 400 days".into()),
        _ => Ok(()),
    }
}
