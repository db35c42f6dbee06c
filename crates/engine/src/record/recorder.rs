//! What one worker writes down: histograms, counters and rows, cut into intervals.
//!
//! An interval ends where its time ends, not when somebody comes round to look: every event carries its moment,
//! and the first one past the boundary cuts the interval before it is written into the next. The recorder is
//! owned by its worker; it gives each interval away whole.

use std::rc::Rc;
use std::sync::mpsc::Sender;

use hdrhistogram::Histogram;

use crate::plan::{Plan, Workload};
use crate::record::interval::{
    DIGITS, HIGHEST_US, LOWEST_US, MEASURES, Measure, OUTCOMES, Outcome, Rows, Series, Texts,
    ThreadState, WorkloadState, tally,
};
use crate::record::ports::{PortTable, PortUse};
use crate::schedule::arrivals::Schedule;
use crate::schedule::clock::{monotonic_ns, thread_cpu_ns};
use crate::spec::Role;

/// One request, from the moment when it was due. Times are nanoseconds from the start of the run.
#[derive(Debug, Clone)]
pub struct Sample {
    pub workload: usize,
    pub request: usize,
    pub phase: usize,
    pub client: u32,
    pub intended: u64,
    /// When the client's code ran, if it had to be woken for the intended start.
    pub ran: Option<u64>,
    /// Boxed: every client has room for a sample, and most requests open no connection.
    pub connect: Option<Box<ConnectTimes>>,
    pub sent: Option<u64>,
    pub headers: Option<u64>,
    pub end: u64,
    pub outcome: Outcome,
    /// 0 without an answer.
    pub status: u16,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

impl Sample {
    /// A request that has become due, and of which nothing else is known.
    pub fn due(
        workload: &Workload,
        request: usize,
        client: u32,
        intended: u64,
        ran: Option<u64>,
    ) -> Self {
        Self {
            workload: workload.index,
            request,
            phase: workload.phase_at(intended),
            client,
            intended,
            ran,
            connect: None,
            sent: None,
            headers: None,
            end: 0,
            outcome: Outcome::NeverSent,
            status: 0,
            bytes_in: 0,
            bytes_out: 0,
        }
    }
}

/// A new connection, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectTimes {
    pub total: u64,
    pub dns: Option<u64>,
    pub tcp: u64,
    pub tls: Option<u64>,
}

/// What a worker saw in one interval.
#[derive(Debug)]
pub struct WorkerInterval {
    pub worker: usize,
    pub index: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub last: bool,
    pub series: Vec<Series>,
    pub workloads: Vec<WorkloadState>,
    pub thread: ThreadState,
    pub ports: Vec<PortUse>,
    pub loop_lag_us: Histogram<u64>,
    pub tls_failures: Texts,
    pub rows: Rows,
}

#[derive(Debug)]
pub struct Recorder {
    worker: usize,
    interval_ns: u64,
    index: u64,
    start: u64,
    /// End of the current interval; `u64::MAX` in the last one of a run of known length.
    boundary: u64,
    /// The planned end of the run.
    end: u64,
    series: Vec<Option<Box<Series>>>,
    /// Where the series of each workload begin, and its number of phases.
    layout: Vec<(usize, usize)>,
    loads: Vec<Load>,
    loop_lag_us: Histogram<u64>,
    tls_failures: Texts,
    /// Those who connect say here which ports they hold.
    pub ports: Rc<PortTable>,
    rows: Option<Rows>,
    cpu_ns: u64,
    wall_ns: u64,
    out: Sender<WorkerInterval>,
}

/// The counters of one workload.
#[derive(Debug)]
pub struct Load {
    measured: bool,
    state: WorkloadState,
    /// When `state.in_flight` last changed.
    changed: u64,
    /// Open loop: walks along with time and counts what is due.
    arrivals: Option<Schedule>,
    /// Open loop: how many arrivals have been handed to a connection.
    handed_out: u64,
}

impl Recorder {
    pub fn new(worker: usize, plan: &Plan, end: u64, out: Sender<WorkerInterval>) -> Self {
        let mut layout = Vec::with_capacity(plan.workloads.len());
        let mut count = 0;
        for workload in &plan.workloads {
            layout.push((count, workload.phase_count()));
            count += workload.requests.len() * workload.phase_count();
        }
        let load = |measured| Load {
            measured,
            state: WorkloadState::default(),
            changed: 0,
            arrivals: None,
            handed_out: 0,
        };
        let mut recorder = Self {
            worker,
            interval_ns: plan.interval_ns,
            index: 0,
            start: 0,
            boundary: 0,
            end,
            series: std::iter::repeat_with(|| None).take(count).collect(),
            layout,
            loads: plan
                .workloads
                .iter()
                .map(|workload| load(workload.role == Role::Measured))
                .collect(),
            loop_lag_us: histogram(),
            tls_failures: Texts::default(),
            ports: Rc::default(),
            rows: plan.rows.then(Rows::default),
            cpu_ns: 0,
            wall_ns: 0,
            out,
        };
        recorder.set_boundary();
        recorder
    }

    /// The run begins now.
    pub fn begin(&mut self) {
        (self.cpu_ns, self.wall_ns) = (thread_cpu_ns(), monotonic_ns());
    }

    /// The open loop's arrivals, to be counted as they become due.
    pub fn watch_arrivals(&mut self, workload: usize, arrivals: Schedule) {
        self.loads[workload].arrivals = Some(arrivals);
    }

    /// A client, or a connection of the open loop, begins its life.
    pub fn came(&mut self, workload: usize) {
        self.loads[workload].state.clients += 1;
    }

    /// It ends its life.
    pub fn left(&mut self, workload: usize) {
        self.loads[workload].state.clients -= 1;
    }

    /// A connection is asked for.
    pub fn connecting(&mut self, workload: usize) {
        self.loads[workload].state.connects += 1;
    }

    /// It was established.
    pub fn connected(&mut self, workload: usize) {
        self.loads[workload].state.connections += 1;
    }

    /// It is closed.
    pub fn parted(&mut self, workload: usize) {
        self.loads[workload].state.connections -= 1;
    }

    /// A client that could not connect waits before its next request.
    pub fn backed_off(&mut self, workload: usize) {
        self.loads[workload].state.backoffs += 1;
    }

    /// A closed client begins a request.
    pub fn due(&mut self, workload: usize, now: u64) {
        self.roll(now);
        self.loads[workload].state.due += 1;
    }

    /// An arrival of the open loop was handed to a connection.
    pub fn handed_out(&mut self, workload: usize) {
        self.loads[workload].handed_out += 1;
    }

    /// A request's first byte is about to be written.
    pub fn sent(&mut self, workload: usize, now: u64) {
        self.roll(now);
        let load = &mut self.loads[workload];
        load.advance(now);
        load.state.sent += 1;
        load.state.in_flight += 1;
    }

    /// A request has ended, in whatever way.
    pub fn ended(&mut self, sample: &Sample) {
        self.roll(sample.end);
        let load = &mut self.loads[sample.workload];
        if sample.sent.is_some() {
            load.advance(sample.end);
            load.state.in_flight -= 1;
        }
        let measured = load.measured;
        let (base, phases) = self.layout[sample.workload];
        self.series[base + sample.request * phases + sample.phase]
            .get_or_insert_with(|| Box::new(empty_series(sample)))
            .add_sample(sample);
        if let Some(rows) = self.rows.as_mut().filter(|_| measured) {
            rows.push(sample);
        }
    }

    /// A timer of the worker itself fired so late.
    pub fn loop_lag(&mut self, late_ns: u64) {
        record(&mut self.loop_lag_us, late_ns);
    }

    /// Why a TLS handshake failed.
    pub fn tls_failed(&mut self, why: &impl ToString) {
        self.tls_failures.add(&why.to_string(), 1);
    }

    /// Cuts all intervals that have ended by `now`.
    pub fn roll(&mut self, now: u64) {
        while now >= self.boundary {
            self.cut(self.boundary, false);
        }
    }

    /// The latest moment up to which requests in flight were counted.
    pub fn latest(&self) -> u64 {
        self.loads
            .iter()
            .map(|load| load.changed)
            .max()
            .unwrap_or(0)
    }

    /// Ends the last interval at `end` and gives it away.
    pub fn finish(&mut self, end: u64) {
        self.cut(end.max(self.start), true);
    }

    fn cut(&mut self, end: u64, last: bool) {
        for load in &mut self.loads {
            load.advance(end);
            load.count_due(end);
        }
        let (cpu, wall) = (thread_cpu_ns(), monotonic_ns());
        let thread = ThreadState {
            cpu_ns: cpu - self.cpu_ns,
            wall_ns: wall - self.wall_ns,
        };
        let interval = WorkerInterval {
            worker: self.worker,
            index: self.index,
            start_ns: self.start,
            end_ns: end,
            last,
            series: self
                .series
                .iter_mut()
                .flatten()
                .filter_map(|series| give_away(series))
                .collect(),
            workloads: self.loads.iter_mut().map(Load::give_away).collect(),
            thread,
            ports: self.ports.in_use(),
            loop_lag_us: give_away_histogram(&mut self.loop_lag_us),
            tls_failures: std::mem::take(&mut self.tls_failures),
            rows: self.rows.as_mut().map(std::mem::take).unwrap_or_default(),
        };
        (self.cpu_ns, self.wall_ns) = (cpu, wall);
        self.index += 1;
        self.start = end;
        self.set_boundary();
        // Nobody listens any more only when the run's handle is gone; then nobody misses it.
        let _ = self.out.send(interval);
    }

    /// An interval that would begin at the run's end is not begun: what comes within the last moments belongs
    /// to the last interval.
    fn set_boundary(&mut self) {
        let boundary = self.start + self.interval_ns;
        self.boundary = if boundary >= self.end {
            u64::MAX
        } else {
            boundary
        };
    }
}

impl Load {
    /// Adds to ∫ in-flight dt up to `now`.
    fn advance(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.changed);
        self.state.in_flight_ns += u128::from(self.state.in_flight) * u128::from(elapsed);
        self.changed = self.changed.max(now);
    }

    fn count_due(&mut self, end: u64) {
        let Some(arrivals) = &mut self.arrivals else {
            return;
        };
        // What was handed out was due, even where the end of the run was set a moment later by another thread.
        while arrivals.taken() < self.handed_out || arrivals.peek().is_some_and(|due| due < end) {
            if arrivals.take_due(u64::MAX).is_none() {
                break;
            }
            self.state.due += 1;
        }
        self.state.backlog = arrivals.taken() - self.handed_out;
    }

    fn give_away(&mut self) -> WorkloadState {
        let given = self.state;
        self.state = WorkloadState {
            in_flight: given.in_flight,
            clients: given.clients,
            connections: given.connections,
            ..WorkloadState::default()
        };
        given
    }
}

impl Series {
    fn add_sample(&mut self, sample: &Sample) {
        self.outcomes[sample.outcome as usize] += 1;
        self.bytes_in += sample.bytes_in;
        self.bytes_out += sample.bytes_out;
        if let Some(ran) = sample.ran {
            self.record(Measure::Pacing, ran.saturating_sub(sample.intended));
        }
        if let Some(connect) = &sample.connect {
            self.record(Measure::Connect, connect.total);
            self.record(Measure::Tcp, connect.tcp);
            connect
                .dns
                .into_iter()
                .for_each(|dns| self.record(Measure::Dns, dns));
            connect
                .tls
                .into_iter()
                .for_each(|tls| self.record(Measure::Tls, tls));
        }
        let response = sample.end.saturating_sub(sample.intended);
        if let Some(sent) = sample.sent {
            let service = sample.end.saturating_sub(sent);
            self.busy_sum_ns += u128::from(service);
            self.record(Measure::Lag, sent.saturating_sub(sample.intended));
            if let (Outcome::Ok, Some(headers)) = (sample.outcome, sample.headers) {
                self.record(Measure::Headers, headers - sent);
                self.record(Measure::Body, sample.end - headers);
                self.record(Measure::Service, service);
                self.record(Measure::Response, response);
                self.service_sum_ns += u128::from(service);
                self.response_sum_ns += u128::from(response);
            }
        }
        match sample.outcome {
            Outcome::Ok => {}
            Outcome::ResponseTimeout
            | Outcome::ConnectTimeout
            | Outcome::NeverSent
            | Outcome::Unfinished => {
                self.record(Measure::Censored, response);
            }
            _ => self.record(Measure::Failed, response),
        }
        if let Outcome::WrongStatus = sample.outcome {
            tally(&mut self.wrong_statuses, sample.status, 1);
        }
    }

    fn record(&mut self, measure: Measure, ns: u64) {
        record(&mut self.histograms[measure as usize], ns);
    }
}

/// Nanoseconds into a histogram of microseconds, rounded; at least 1 µs, at most 1 h.
fn record(histogram: &mut Histogram<u64>, ns: u64) {
    let us = (ns.saturating_add(500) / 1000).clamp(LOWEST_US, HIGHEST_US);
    histogram
        .record(us)
        .expect("histograms grow with their values");
}

/// An empty histogram. It is small and grows with its values.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("3 digits are allowed")
}

fn empty_series(sample: &Sample) -> Series {
    Series {
        workload: sample.workload as u32,
        request: sample.request as u32,
        phase: sample.phase as u32,
        histograms: std::array::from_fn(|_| histogram()),
        outcomes: [0; OUTCOMES],
        wrong_statuses: Vec::new(),
        service_sum_ns: 0,
        response_sum_ns: 0,
        busy_sum_ns: 0,
        bytes_in: 0,
        bytes_out: 0,
    }
}

/// A copy of what was recorded, and the original empty again with its memory kept; `None` if nothing was.
fn give_away(series: &mut Series) -> Option<Series> {
    if series.outcomes.iter().all(|count| *count == 0) {
        return None;
    }
    let histograms: [Histogram<u64>; MEASURES] =
        std::array::from_fn(|measure| give_away_histogram(&mut series.histograms[measure]));
    let given = Series {
        histograms,
        wrong_statuses: std::mem::take(&mut series.wrong_statuses),
        ..*series
    };
    series.outcomes = [0; OUTCOMES];
    (
        series.service_sum_ns,
        series.response_sum_ns,
        series.busy_sum_ns,
    ) = (0, 0, 0);
    (series.bytes_in, series.bytes_out) = (0, 0);
    Some(given)
}

fn give_away_histogram(original: &mut Histogram<u64>) -> Histogram<u64> {
    if original.is_empty() {
        return histogram();
    }
    let copy = original.clone();
    original.reset();
    copy
}

impl Rows {
    fn push(&mut self, sample: &Sample) {
        self.workload.push(sample.workload as u16);
        self.request.push(sample.request as u16);
        self.client.push(sample.client);
        self.intended_ns.push(sample.intended);
        self.sent_ns.push(sample.sent.unwrap_or(0));
        self.headers_ns.push(sample.headers.unwrap_or(0));
        self.end_ns.push(sample.end);
        self.outcome.push(sample.outcome as u8);
        self.status.push(sample.status);
        self.bytes.push(sample.bytes_in);
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
