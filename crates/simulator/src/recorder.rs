//! What the clients saw, cut into the engine's intervals.

use jostle_engine::interval::{Interval, Measure, Series, ThreadState, WorkloadState};
use jostle_engine::outcome::Outcome;

use jostle_discipline::Nanos;

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub workload: u16,
    pub request: u16,
    pub phase: usize,
    pub intended: Nanos,
    /// `None` if it was never sent.
    pub sent: Option<Nanos>,
    pub at: Nanos,
    pub outcome: Outcome,
}

#[derive(Debug)]
pub struct Recorder {
    start: Nanos,
    index: u64,
    /// Ordered by workload, request and phase.
    series: Vec<Option<Box<Series>>>,
    /// For each workload, the index of its first series and its number of phases.
    layout: Vec<(usize, usize)>,
    workloads: Vec<WorkloadCounters>,
}

#[derive(Debug, Default)]
struct WorkloadCounters {
    state: WorkloadState,
    /// The moment up to which `state.in_flight_ns` has been accumulated.
    changed: Nanos,
}

impl Recorder {
    /// `outline`: the number of requests and of phases of each workload.
    pub fn new(outline: &[(usize, usize)]) -> Self {
        let mut layout = Vec::with_capacity(outline.len());
        let mut count = 0;
        for (requests, phases) in outline {
            layout.push((count, *phases));
            count += requests * phases;
        }
        Self {
            start: 0,
            index: 0,
            series: std::iter::repeat_with(|| None).take(count).collect(),
            layout,
            workloads: outline
                .iter()
                .map(|_| WorkloadCounters::default())
                .collect(),
        }
    }

    /// Sets the number of clients, or of connections of an open loop.
    pub fn clients(&mut self, workload: u16, count: u64) {
        let state = &mut self.workloads[usize::from(workload)].state;
        (state.clients, state.connections) = (count, count);
    }

    pub fn set_waiting(&mut self, workload: u16, waiting: u64) {
        self.workloads[usize::from(workload)].state.waiting = waiting;
    }

    pub fn due(&mut self, workload: u16) {
        self.workloads[usize::from(workload)].state.due += 1;
    }

    pub fn sent(&mut self, workload: u16, now: Nanos) {
        let counters = &mut self.workloads[usize::from(workload)];
        counters.advance(now);
        counters.state.sent += 1;
        counters.state.in_flight += 1;
    }

    pub fn ended(&mut self, ended: &Ended) {
        if ended.sent.is_some() {
            let counters = &mut self.workloads[usize::from(ended.workload)];
            counters.advance(ended.at);
            counters.state.in_flight -= 1;
        }
        let (base, phases) = self.layout[usize::from(ended.workload)];
        let position = base + usize::from(ended.request) * phases + ended.phase;
        let series = self.series[position].get_or_insert_with(|| {
            Box::new(Series {
                workload: u32::from(ended.workload),
                request: u32::from(ended.request),
                phase: ended.phase as u32,
                ..Series::default()
            })
        });
        add(series, ended);
    }

    /// Returns the interval that ends at `end`.
    pub fn cut(&mut self, end: Nanos, last: bool) -> Interval {
        for counters in &mut self.workloads {
            counters.advance(end);
        }
        let interval = Interval {
            journeys: Vec::new(),
            streams: Vec::new(),
            traces: Vec::new(),
            index: self.index,
            start_ns: self.start,
            end_ns: end,
            last,
            series: self
                .series
                .iter_mut()
                .filter_map(|series| series.take().map(|series| *series))
                .collect(),
            workloads: self
                .workloads
                .iter_mut()
                .map(|counters| counters.state.give_away())
                .collect(),
            // A simulated generator is never busy and never late.
            threads: vec![ThreadState {
                cpu_ns: 0,
                wall_ns: end - self.start,
            }],
            ..Interval::empty(1)
        };
        self.start = end;
        self.index += 1;
        interval
    }
}

impl WorkloadCounters {
    /// Accumulates ∫ in-flight dt up to `now`.
    fn advance(&mut self, now: Nanos) {
        self.state.pass(now - self.changed);
        self.changed = now;
    }
}

fn add(series: &mut Series, ended: &Ended) {
    series.outcomes[ended.outcome as usize] += 1;
    let response = ended.at - ended.intended;
    if let Some(sent) = ended.sent {
        series.busy_sum_ns += u128::from(ended.at - sent);
        series.record(Measure::Lag, sent - ended.intended);
    }
    match (ended.outcome, ended.sent) {
        (Outcome::Ok, Some(sent)) => {
            let service = ended.at - sent;
            series.service_sum_ns += u128::from(service);
            series.response_sum_ns += u128::from(response);
            series.record(Measure::Service, service);
            series.record(Measure::Response, response);
        }
        _ => series.record(Measure::Censored, response),
    }
}
