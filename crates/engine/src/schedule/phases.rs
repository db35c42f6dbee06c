//! The number of clients over time: a pure function of the plan's phases, in whole numbers.

use crate::spec::PhaseSpec;

#[derive(Debug, Clone)]
pub struct Phases {
    /// The start of each phase, and its specification.
    phases: Vec<(u64, PhaseSpec)>,
    end_ns: u64,
}

impl Phases {
    pub fn new(specs: &[PhaseSpec]) -> Self {
        let mut end_ns = 0;
        let phases = specs
            .iter()
            .map(|spec| {
                let start = end_ns;
                end_ns += spec.duration_ns;
                (start, spec.clone())
            })
            .collect();
        Self { phases, end_ns }
    }

    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Returns the index of the phase that `now` falls in; after the end, that of the last one.
    pub fn phase_at(&self, now: u64) -> usize {
        self.phases
            .partition_point(|(start, _)| *start <= now)
            .saturating_sub(1)
    }

    /// Returns how many clients there are at `now`; 0 after the end.
    pub fn clients_at(&self, now: u64) -> u64 {
        if now >= self.end_ns {
            return 0;
        }
        let (start, spec) = &self.phases[self.phase_at(now)];
        let moved = moved_at(spec, now - start);
        if spec.to >= spec.from {
            spec.from + moved
        } else {
            spec.from - moved
        }
    }

    /// Returns the next moment after `now` at which the number of clients may change; `None` after the end.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        if now >= self.end_ns {
            return None;
        }
        let (start, spec) = &self.phases[self.phase_at(now)];
        let phase_end = start + spec.duration_ns;
        let next = match spec.steps {
            Some(steps) => {
                let steps = u128::from(steps);
                let step = u128::from(now - start) * steps / u128::from(spec.duration_ns) + 1;
                (step * u128::from(spec.duration_ns)).div_ceil(steps)
            }
            None if spec.from == spec.to => return Some(phase_end),
            None => {
                let moved = u128::from(moved_at(spec, now - start)) + 1;
                (moved * u128::from(spec.duration_ns))
                    .div_ceil(u128::from(spec.from.abs_diff(spec.to)))
            }
        };
        Some(phase_end.min(start + next as u64))
    }
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
        let phases = Phases::new(&[
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
    fn steps_are_equal_in_height_and_length() {
        let phases = Phases::new(&[phase(90, 0, 30, Some(3))]);
        assert_eq!(
            [0, 29, 30, 59, 60, 89].map(|now| phases.clients_at(now)),
            [10, 10, 20, 20, 30, 30]
        );
        assert_eq!(
            [0, 29, 30, 60, 89].map(|now| phases.next_change(now)),
            [30, 30, 60, 90, 90].map(Some)
        );
    }

    proptest! {
        /// Going from change to change misses no value, and nothing changes in between.
        #[test]
        fn changes_are_complete(
            specs in prop::collection::vec((1u64..400, 0u64..300, 0u64..300, prop::option::of(1u32..20)), 1..4)
        ) {
            let specs: Vec<PhaseSpec> = specs.into_iter().map(|(d, f, t, s)| phase(d, f, t, s)).collect();
            let phases = Phases::new(&specs);
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
            prop_assert!((0..phases.end_ns()).all(|now| phases.clients_at(now) <= most));
        }
    }
}
