//! How a load goes on over time, as planned and as changed since.

use std::sync::Arc;

use crate::schedule::phases::Phases;
use crate::schedule::rate_curve::RateCurve;
use crate::spec::{Arrivals, Change, Continuation, LoadSpec, SteerError};

/// The clients of a closed load or the rate of an open one, over time.
#[derive(Debug, Clone)]
pub enum Course {
    Clients(Phases),
    Rate(Arc<RateCurve>),
    Trace,
}

impl Course {
    pub fn new(load: &LoadSpec) -> Self {
        match load {
            LoadSpec::Closed(closed) => Self::Clients(Phases::new(closed)),
            LoadSpec::Open(open) => match open.arrivals {
                Arrivals::Trace(_) => Self::Trace,
                _ => Self::Rate(Arc::new(RateCurve::new(&open.rates))),
            },
        }
    }

    /// The phase in which a request with this intended start is counted.
    pub fn phase_at(&self, intended: u64) -> usize {
        match self {
            Self::Clients(phases) => phases.phase_at(intended),
            Self::Rate(curve) => curve.phase_at(intended),
            Self::Trace => 0,
        }
    }

    /// When all that is planned is over; `u64::MAX` if the load goes on for ever.
    pub fn end_ns(&self) -> u64 {
        match self {
            Self::Clients(phases) => phases.end_ns(),
            Self::Rate(curve) => curve.end_ns(),
            Self::Trace => u64::MAX,
        }
    }

    /// What a change at `at` means for this load, which nothing has changed after `at`.
    pub fn continuation(&self, at: u64, change: Change) -> Result<Continuation, SteerError> {
        change.check()?;
        match self {
            Self::Trace => Err(SteerError::Trace),
            Self::Clients(phases) => clients_after(phases, at, change),
            Self::Rate(curve) => rate_after(curve, at, change),
        }
    }

    /// Goes on so from `at` on. Whatever was to come after `at` does not, earlier changes included.
    pub fn go_on(&mut self, at: u64, continuation: Continuation) {
        match (self, continuation) {
            (Self::Clients(phases), Continuation::Clients(clients)) => phases.go_on_at(at, clients),
            (Self::Clients(phases), Continuation::Phase(phase)) => phases.go_on_with(at, phase),
            (Self::Rate(curve), Continuation::Rate(rate)) => {
                Arc::make_mut(curve).go_on_at(at, rate);
            }
            (Self::Rate(curve), Continuation::Phase(phase)) => {
                Arc::make_mut(curve).go_on_with(at, phase);
            }
            (course, other) => unreachable!("{other:?} is no continuation of {course:?}"),
        }
    }
}

fn clients_after(phases: &Phases, at: u64, change: Change) -> Result<Continuation, SteerError> {
    let clients = phases.clients_at(at);
    let clients = match change {
        Change::Rate(_) => return Err(SteerError::Closed),
        Change::NextPhase => return next_phase(phases.phase_after(at)),
        Change::Clients(clients) => clients,
        Change::Hold if phases.is_constant_from(at) => return Err(SteerError::Constant),
        Change::Hold | Change::Scale(_) if clients == 0 => return Err(SteerError::IsZero),
        Change::Hold => clients,
        Change::Scale(factor) => {
            let scaled = (clients as f64 * factor).round() as u64;
            let one_more_or_less = if factor > 1.0 {
                clients + 1
            } else {
                clients - 1
            };
            if scaled == clients {
                one_more_or_less
            } else {
                scaled
            }
        }
    };
    Change::Clients(clients).check()?;
    Ok(Continuation::Clients(clients))
}

fn rate_after(curve: &RateCurve, at: u64, change: Change) -> Result<Continuation, SteerError> {
    let rate = curve.rate_at(at);
    let rate = match change {
        Change::Clients(_) => return Err(SteerError::Open),
        Change::NextPhase => return next_phase(curve.phase_after(at)),
        Change::Rate(rate) => rate,
        Change::Hold if curve.is_constant_from(at) => return Err(SteerError::Constant),
        Change::Hold | Change::Scale(_) if rate <= 0.0 => return Err(SteerError::IsZero),
        Change::Hold => rate,
        Change::Scale(factor) => rate * factor,
    };
    Change::Rate(rate).check()?;
    Ok(Continuation::Rate(rate))
}

fn next_phase(next: Option<usize>) -> Result<Continuation, SteerError> {
    next.map(Continuation::Phase).ok_or(SteerError::NoNextPhase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(load: serde_json::Value) -> Course {
        Course::new(&serde_json::from_value(load).unwrap())
    }

    fn closed() -> Course {
        let phases = serde_json::json!([
            {"name": "up", "duration_ns": 100, "from": 0, "to": 10},
            {"name": "there", "duration_ns": 100, "from": 10, "to": 10},
        ]);
        course(serde_json::json!({"closed": {"clients": 10, "phases": phases}}))
    }

    fn open() -> Course {
        let rates = serde_json::json!([
            {"duration_ns": 100, "from": 0.0, "to": 50.0}, {"duration_ns": 100, "from": 50.0, "to": 50.0},
        ]);
        course(
            serde_json::json!({"open": {"arrivals": "constant", "rates": rates, "max_connections": 9}}),
        )
    }

    #[test]
    fn what_a_change_means_follows_from_the_load_at_that_moment() {
        use Change::{Clients, Hold, NextPhase, Rate, Scale};
        let (closed, open) = (closed(), open());
        let rounded = |meant| match meant {
            Ok(Continuation::Rate(rate)) => Ok(Continuation::Rate(f64::round(rate))),
            other => other,
        };
        let meant = |change| {
            let open = rounded(open.continuation(50, change));
            (closed.continuation(50, change), open)
        };
        let clients = |n| Ok(Continuation::Clients(n));
        let rate = |r| Ok(Continuation::Rate(r));
        assert_eq!(meant(Hold), (clients(5), rate(25.0)));
        assert_eq!(meant(Scale(2.0)), (clients(10), rate(50.0)));
        assert_eq!(closed.continuation(50, Scale(1.01)), clients(6));
        assert_eq!(closed.continuation(50, Scale(0.99)), clients(4));
        let phase = || Ok(Continuation::Phase(1));
        assert_eq!(meant(NextPhase), (phase(), phase()));
        assert_eq!(meant(Clients(3)), (clients(3), Err(SteerError::Open)));
        assert_eq!(meant(Rate(3.0)), (Err(SteerError::Closed), rate(3.0)));
    }

    #[test]
    fn a_change_that_changes_nothing_or_cannot_be_is_refused() {
        let (mut closed, open) = (closed(), open());
        for course in [&closed, &open] {
            let refused = |at, change| course.continuation(at, change).unwrap_err();
            assert_eq!(refused(0, Change::Hold), SteerError::IsZero);
            assert_eq!(refused(0, Change::Scale(2.0)), SteerError::IsZero);
            assert_eq!(refused(150, Change::Hold), SteerError::Constant);
            assert_eq!(refused(150, Change::NextPhase), SteerError::NoNextPhase);
            for factor in [0.0, -1.0, f64::INFINITY] {
                assert_eq!(
                    refused(150, Change::Scale(factor)),
                    SteerError::Scale(factor)
                );
            }
        }
        assert!(matches!(
            open.continuation(9, Change::Rate(f64::NAN)),
            Err(SteerError::Rate(_))
        ));
        for rate in [0.0, -1.0, 1.1e9] {
            assert_eq!(
                open.continuation(9, Change::Rate(rate)),
                Err(SteerError::Rate(rate))
            );
        }
        for clients in [0, 1 << 32] {
            let refused = closed.continuation(9, Change::Clients(clients));
            assert_eq!(refused, Err(SteerError::Clients(clients)));
        }
        let trace =
            course(serde_json::json!({"open": {"arrivals": {"trace": [1]}, "max_connections": 1}}));
        assert_eq!(trace.continuation(0, Change::Hold), Err(SteerError::Trace));
        closed.go_on(50, Continuation::Clients(1));
        assert_eq!(
            closed.continuation(60, Change::Scale(0.5)),
            Err(SteerError::Clients(0))
        );
    }
}
