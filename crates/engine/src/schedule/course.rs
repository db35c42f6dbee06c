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
        let (now, is_constant, next_phase) = match self {
            Self::Trace => return Err(SteerError::Trace),
            Self::Clients(phases) => (
                Change::Clients(phases.clients_at(at)),
                phases.is_constant_from(at),
                phases.phase_after(at),
            ),
            Self::Rate(curve) => (
                Change::Rate(curve.rate_at(at)),
                curve.is_constant_from(at),
                curve.phase_after(at),
            ),
        };
        let new = match (change, now) {
            (Change::NextPhase, _) => {
                let next = next_phase.map(Continuation::Phase);
                return next.ok_or(SteerError::NoNextPhase);
            }
            (Change::Hold, _) if is_constant => return Err(SteerError::Constant),
            (Change::Hold | Change::Scale(_), Change::Clients(0)) => {
                return Err(SteerError::IsZero);
            }
            (Change::Hold | Change::Scale(_), Change::Rate(rate)) if rate <= 0.0 => {
                return Err(SteerError::IsZero);
            }
            (Change::Hold, now) => now,
            (Change::Scale(factor), Change::Clients(clients)) => {
                Change::Clients(scaled(clients, factor))
            }
            (Change::Scale(factor), Change::Rate(rate)) => Change::Rate(rate * factor),
            (stated, _) => stated,
        };
        new.check()?;
        match (new, self) {
            (Change::Clients(clients), Self::Clients(_)) => Ok(Continuation::Clients(clients)),
            (Change::Rate(rate), Self::Rate(_)) => Ok(Continuation::Rate(rate)),
            (_, Self::Clients(_)) => Err(SteerError::Closed),
            _ => Err(SteerError::Open),
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

/// So many times this number of clients: at least one more or less.
fn scaled(clients: u64, factor: f64) -> u64 {
    let scaled = (clients as f64 * factor).round() as u64;
    if factor > 1.0 {
        scaled.max(clients + 1)
    } else {
        scaled.min(clients - 1)
    }
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
        let rounded = |continuation| match continuation {
            Ok(Continuation::Rate(rate)) => Ok(Continuation::Rate(f64::round(rate))),
            other => other,
        };
        let both = |change| {
            let open = rounded(open.continuation(50, change));
            (closed.continuation(50, change), open)
        };
        let clients = |n| Ok(Continuation::Clients(n));
        let rate = |r| Ok(Continuation::Rate(r));
        assert_eq!(both(Hold), (clients(5), rate(25.0)));
        assert_eq!(both(Scale(2.0)), (clients(10), rate(50.0)));
        assert_eq!(closed.continuation(50, Scale(1.01)), clients(6));
        assert_eq!(closed.continuation(50, Scale(0.99)), clients(4));
        let phase = || Ok(Continuation::Phase(1));
        assert_eq!(both(NextPhase), (phase(), phase()));
        assert_eq!(both(Clients(3)), (clients(3), Err(SteerError::Open)));
        assert_eq!(both(Rate(3.0)), (Err(SteerError::Closed), rate(3.0)));
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
