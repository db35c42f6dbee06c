//! The number of clients over time: a pure function of the plan's phases, in whole numbers.

use crate::spec::{ClosedSpec, PhaseSpec};

/// The number of clients over time, as planned and as changed since.
#[derive(Debug, Clone)]
pub struct Phases {
    planned: Vec<PhaseSpec>,
    pieces: Vec<Piece>,
    end_ns: u64,
}

/// A part of the load in which the number of clients follows one phase.
#[derive(Debug, Clone)]
struct Piece {
    start: u64,
    spec: PhaseSpec,
    /// The number of the phase in which its requests are counted.
    phase: usize,
}

impl Phases {
    #[must_use]
    pub fn new(closed: &ClosedSpec) -> Self {
        let mut phases = Self {
            planned: closed.phases.clone(),
            pieces: Vec::with_capacity(closed.phases.len().max(1)),
            end_ns: u64::MAX,
        };
        if closed.phases.is_empty() {
            phases.pieces.push(constant(0, closed.clients, 0));
        } else {
            phases.append(0, 0);
        }
        phases
    }

    /// Appends what is planned from phase `first` on, to begin at `start`.
    fn append(&mut self, first: usize, mut start: u64) {
        for (phase, spec) in self.planned.iter().enumerate().skip(first) {
            let spec = spec.clone();
            let end = start + spec.duration_ns;
            self.pieces.push(Piece { start, spec, phase });
            start = end;
        }
        self.end_ns = self.end_ns.min(start);
    }

    /// The end of the last phase; `u64::MAX` if the number of clients is the same all the time.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Returns the index of the phase that `now` falls in; after the end, that of the last one.
    #[must_use]
    pub fn phase_at(&self, now: u64) -> usize {
        self.piece_at(now).phase
    }

    /// The number of the phase after that at `now`; `None` if there is none.
    #[must_use]
    pub fn phase_after(&self, now: u64) -> Option<usize> {
        let next = self.phase_at(now) + 1;
        (next < self.planned.len()).then_some(next)
    }

    /// Returns how many clients there are at `now`; 0 after the end.
    #[must_use]
    pub fn clients_at(&self, now: u64) -> u64 {
        if now >= self.end_ns {
            return 0;
        }
        let Piece { start, spec, .. } = self.piece_at(now);
        let moved = moved_at(spec, now - start);
        if spec.to >= spec.from {
            spec.from + moved
        } else {
            spec.from - moved
        }
    }

    /// Returns the next moment after `now` at which the number of clients may change; `None` after the end.
    #[must_use]
    pub fn next_change(&self, now: u64) -> Option<u64> {
        if now >= self.end_ns {
            return None;
        }
        let place = self.place_at(now);
        let next = self.pieces.get(place + 1);
        let piece_end = next.map_or(self.end_ns, |next| next.start.min(self.end_ns));
        let Piece { start, spec, .. } = &self.pieces[place];
        let next = match spec.steps {
            Some(steps) => {
                let steps = u128::from(steps);
                let step = u128::from(now - start) * steps / u128::from(spec.duration_ns) + 1;
                (step * u128::from(spec.duration_ns)).div_ceil(steps)
            }
            None if spec.from == spec.to => {
                return (piece_end < u64::MAX).then_some(piece_end);
            }
            None => {
                let moved = u128::from(moved_at(spec, now - start)) + 1;
                (moved * u128::from(spec.duration_ns))
                    .div_ceil(u128::from(spec.from.abs_diff(spec.to)))
            }
        };
        Some(piece_end.min(start + next as u64))
    }

    /// Whether the number of clients stays as it is from `now` on, up to the end.
    #[must_use]
    pub fn is_constant_from(&self, now: u64) -> bool {
        let clients = self.clients_at(now);
        let mut rest = self.pieces[self.place_at(now)..].iter();
        rest.all(|piece| piece.spec.from == clients && piece.spec.to == clients)
    }

    /// Goes on with this number of clients from `at` on. Whatever was to come after `at` does not.
    pub fn go_on_at(&mut self, at: u64, clients: u64) {
        let piece = constant(at, clients, self.phase_at(at));
        self.pieces.retain(|piece| piece.start < at);
        self.pieces.push(piece);
    }

    /// Goes on at `at` with the beginning of a phase. Whatever else was to come after `at` does not.
    pub fn go_on_with(&mut self, at: u64, phase: usize) {
        self.pieces.retain(|piece| piece.start < at);
        self.append(phase, at);
    }

    fn place_at(&self, now: u64) -> usize {
        self.pieces.partition_point(|piece| piece.start <= now) - 1
    }

    fn piece_at(&self, now: u64) -> &Piece {
        &self.pieces[self.place_at(now)]
    }
}

/// A number of clients that stays from `start` on.
fn constant(start: u64, clients: u64, phase: usize) -> Piece {
    let spec = PhaseSpec {
        name: String::new(),
        duration_ns: u64::MAX - start,
        from: clients,
        to: clients,
        steps: None,
    };
    Piece { start, spec, phase }
}

/// Returns how far the number of clients has moved from `from` towards `to`, `elapsed` after the phase's start.
///
/// Client k of a linear ramp comes (or goes) at k/Δ of the duration. The first of `steps` steps is taken at once, the
/// last one `1/steps` of the duration before the end.
fn moved_at(spec: &PhaseSpec, elapsed: u64) -> u64 {
    let (elapsed, duration) = (u128::from(elapsed), u128::from(spec.duration_ns));
    let delta = u128::from(spec.from.abs_diff(spec.to));
    let moved = match spec.steps {
        None => delta * elapsed / duration,
        Some(steps) => {
            let steps = u128::from(steps);
            delta * (elapsed * steps / duration + 1) / steps
        }
    };
    moved as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn closed(phases: Vec<PhaseSpec>) -> Phases {
        let mut spec: ClosedSpec = serde_json::from_str(r#"{"clients": 7}"#).unwrap();
        spec.phases = phases;
        Phases::new(&spec)
    }

    fn phase(duration_ns: u64, from: u64, to: u64, steps: Option<u32>) -> PhaseSpec {
        PhaseSpec {
            name: "p".into(),
            duration_ns,
            from,
            to,
            steps,
        }
    }

    #[test]
    fn ramp_up_sustain_ramp_down() {
        let phases = closed(vec![
            phase(100, 0, 10, None),
            phase(50, 10, 10, None),
            phase(100, 10, 0, None),
        ]);
        let clients: Vec<u64> = [0, 9, 10, 99, 100, 149, 150, 159, 160, 249, 250]
            .map(|now| phases.clients_at(now))
            .to_vec();
        assert_eq!(clients, [0, 0, 1, 9, 10, 10, 10, 10, 9, 1, 0]);
        assert_eq!(
            [0, 99, 100, 150, 900].map(|now| phases.phase_at(now)),
            [0, 0, 1, 2, 2]
        );
        assert_eq!(phases.next_change(249), Some(250));
        assert_eq!(phases.next_change(250), None);
    }

    #[test]
    fn clients_that_stay_have_no_end() {
        let phases = closed(vec![]);
        assert_eq!(
            (phases.clients_at(0), phases.clients_at(u64::MAX - 1)),
            (7, 7)
        );
        assert_eq!((phases.next_change(0), phases.end_ns()), (None, u64::MAX));
    }

    #[test]
    fn steps_are_equal_in_height_and_length() {
        let phases = closed(vec![phase(90, 0, 30, Some(3))]);
        assert_eq!(
            [0, 29, 30, 59, 60, 89].map(|now| phases.clients_at(now)),
            [10, 10, 20, 20, 30, 30]
        );
        assert_eq!(
            [0, 29, 30, 60, 89].map(|now| phases.next_change(now)),
            [30, 30, 60, 90, 90].map(Some)
        );
    }

    #[test]
    fn a_change_in_the_middle_of_a_ramp_stays_to_the_planned_end_or_the_next_phase() {
        let mut phases = closed(vec![
            phase(100, 0, 10, None),
            phase(50, 10, 10, None),
            phase(100, 10, 0, None),
        ]);
        phases.go_on_at(35, 20);
        let clients = [29, 30, 34, 35, 249, 250].map(|now| phases.clients_at(now));
        assert_eq!(clients, [2, 3, 3, 20, 20, 0]);
        let changes = [20, 34, 35].map(|now| phases.next_change(now));
        assert_eq!(changes, [Some(30), Some(35), Some(250)]);
        assert_eq!(
            (phases.phase_at(200), phases.is_constant_from(35)),
            (0, true)
        );
        assert_eq!(phases.phase_after(200), Some(1));
        phases.go_on_with(60, 1);
        let clients = [59, 60, 109, 120, 209, 210].map(|now| phases.clients_at(now));
        assert_eq!(clients, [20, 10, 10, 9, 1, 0]);
        assert_eq!((phases.end_ns(), phases.phase_at(110)), (210, 2));
        assert_eq!(phases.phase_after(110), None);
    }

    #[test]
    fn a_phase_that_begins_late_is_cut_off_by_the_planned_end() {
        let mut phases = closed(vec![phase(10, 5, 5, None), phase(10, 0, 10, None)]);
        phases.go_on_at(5, 5);
        phases.go_on_with(15, 1);
        assert_eq!(
            (
                phases.end_ns(),
                phases.clients_at(19),
                phases.clients_at(20)
            ),
            (20, 4, 0)
        );
    }

    proptest! {
        /// Going from change to change misses no value, and nothing changes in between.
        #[test]
        fn changes_are_complete(
            specs in prop::collection::vec((1u64..400, 0u64..300, 0u64..300, prop::option::of(1u32..20)), 1..4),
            steered in prop::option::of((0u64..1000, 0u64..300, prop::option::of(0usize..4))),
        ) {
            let specs: Vec<PhaseSpec> = specs.into_iter().map(|(d, f, t, s)| phase(d, f, t, s)).collect();
            let planned = closed(specs.clone());
            let mut phases = planned.clone();
            if let Some((at, clients, with)) = steered {
                match with {
                    Some(with) => phases.go_on_with(at, with % specs.len()),
                    None => phases.go_on_at(at, clients),
                }
                for now in 0..at.min(phases.end_ns()) {
                    prop_assert_eq!(phases.clients_at(now), planned.clients_at(now));
                }
            }
            let mut change = Some(0);
            let mut now = 0;
            while let Some(next) = phases.next_change(now) {
                prop_assert!(next > now);
                for between in now..next {
                    prop_assert_eq!(phases.clients_at(between), phases.clients_at(now));
                }
                now = next;
                change = Some(next);
            }
            prop_assert_eq!(change, Some(phases.end_ns()));
            let most = specs.iter().map(|s| s.from.max(s.to)).max().unwrap();
            let most = most.max(steered.map_or(0, |(_, clients, _)| clients));
            prop_assert!((0..phases.end_ns()).all(|now| phases.clients_at(now) <= most));
        }
    }
}
