//! What one worker writes down: histograms, counters and rows, cut into intervals.
//!
//! An interval ends where its time ends, not when somebody comes round to look: every event carries its moment,
//! and the first one past the boundary cuts the interval before it is written into the next. The recorder is
//! owned by its worker; it gives each interval away whole, and gets emptied ones back to fill again, so that
//! nothing is copied, cleared or allocated between two requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;

use crate::record::filling::{WorkerInterval, histogram, microseconds, record};
use crate::record::head_of_line::{self, HeadOfLine, Longest, Wait};
use crate::record::interval::{Measure, Outcome, Rows, Series, ThreadState, WorkloadState};
use crate::record::journeys::{self, JourneySample, JourneySeries};
use crate::record::pings::{self, PingSeries};
use crate::record::ports::PortTable;
use crate::record::sample::{ConnectTimes, Sample};
use crate::record::streams::{self, StreamSample, StreamSeries};
use crate::record::trace::Trace;
use crate::schedule::clock::{monotonic_ns, thread_cpu_ns};
use crate::schedule::queue::{Arrival, Queue};

/// What there is to be recorded.
#[derive(Debug)]
pub struct Outline {
    pub interval_ns: u64,
    /// The planned end of the run.
    pub end_ns: u64,
    pub rows: bool,
    pub workloads: Vec<WorkloadOutline>,
}

#[derive(Debug)]
pub struct WorkloadOutline {
    pub measured: bool,
    pub requests: usize,
    pub phases: usize,
}

/// Where the intervals go, and where they come back from.
#[derive(Debug)]
pub struct Delivery {
    pub out: Sender<WorkerInterval>,
    pub emptied: Receiver<WorkerInterval>,
}

#[derive(Debug)]
pub struct Recorder {
    worker: usize,
    interval_ns: u64,
    index: u64,
    start: u64,
    latest: u64,
    /// End of the current interval; `u64::MAX` in the last one of a run of known length.
    boundary: u64,
    /// The planned end of the run.
    end: u64,
    /// What was recorded in this interval, by workload, request and phase.
    series: Vec<Option<Box<Series>>>,
    /// Emptied ones.
    #[expect(clippy::vec_box, reason = "they go from list to list, and are large")]
    spare: Vec<Box<Series>>,
    /// Where the series of each workload begin, and its number of phases.
    layout: Vec<(usize, usize)>,
    loads: Vec<Load>,
    journeys: Vec<JourneySeries>,
    streams: Vec<StreamSeries>,
    pings: Vec<PingSeries>,
    head_of_line: Vec<HeadOfLine>,
    traces: Vec<Trace>,
    loop_lag_us: Histogram<u64>,
    /// Those who connect say here which ports they hold.
    pub ports: Rc<PortTable>,
    rows: Option<Rows>,
    rows_lost: u64,
    cpu_ns: u64,
    wall_ns: u64,
    /// Time of this interval that the worker spent waiting awake.
    pub waited_ns: Rc<Cell<u64>>,
    delivery: Delivery,
}

/// The counters of one workload.
#[derive(Debug)]
pub struct Load {
    measured: bool,
    state: WorkloadState,
    longest_wait: Longest,
    /// Of `state.in_flight_ns`, what still has to be taken back.
    excess_ns: u128,
    /// When `state.in_flight` last changed.
    changed: u64,
    /// Clients and connections when the run ended, before everybody left.
    at_end: Option<(u64, u64)>,
    /// Of an open loop.
    queue: Option<Rc<RefCell<Queue>>>,
}

impl Recorder {
    pub fn new(worker: usize, outline: &Outline, delivery: Delivery) -> Self {
        let mut layout = Vec::with_capacity(outline.workloads.len());
        let mut count = 0;
        for workload in &outline.workloads {
            layout.push((count, workload.phases));
            count += workload.requests * workload.phases;
        }
        let load = |measured| Load {
            measured,
            state: WorkloadState::default(),
            longest_wait: Longest::default(),
            excess_ns: 0,
            changed: 0,
            at_end: None,
            queue: None,
        };
        let mut recorder = Self {
            worker,
            interval_ns: outline.interval_ns,
            index: 0,
            start: 0,
            latest: 0,
            boundary: 0,
            end: outline.end_ns,
            series: std::iter::repeat_with(|| None).take(count).collect(),
            spare: Vec::new(),
            layout,
            loads: outline
                .workloads
                .iter()
                .map(|workload| load(workload.measured))
                .collect(),
            journeys: Vec::new(),
            streams: Vec::new(),
            pings: Vec::new(),
            head_of_line: Vec::new(),
            traces: Vec::new(),
            loop_lag_us: histogram(),
            ports: Rc::default(),
            rows: outline.rows.then(Rows::default),
            rows_lost: 0,
            cpu_ns: 0,
            wall_ns: 0,
            waited_ns: Rc::default(),
            delivery,
        };
        recorder.set_boundary();
        recorder
    }

    /// The run begins now.
    pub fn begin(&mut self) {
        (self.cpu_ns, self.wall_ns) = (thread_cpu_ns(), monotonic_ns());
    }

    /// The queue of an open loop: what waits in it when an interval ends is counted then.
    pub fn watch_queue(&mut self, workload: usize, queue: Rc<RefCell<Queue>>) {
        self.loads[workload].queue = Some(queue);
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
    pub fn connected(&mut self, workload: usize, times: &ConnectTimes) {
        let state = &mut self.loads[workload].state;
        state.connections += 1;
        state.resumed += u64::from(times.resumed);
    }

    /// After a whole answer came bytes that belong to none.
    pub fn excess(&mut self, workload: usize, what: &str) {
        self.loads[workload].state.excess.add(what, 1);
    }

    /// An address of the server's name did not accept, and another one did.
    pub fn passed_over(&mut self, workload: usize, what: &str) {
        self.loads[workload].state.passed_over.add(what, 1);
    }

    /// A request had to wait for a free stream of its connection.
    pub fn waited_for_stream(&mut self, workload: usize, ns: u64) {
        let state = &mut self.loads[workload].state;
        state.stream_waits += 1;
        state.stream_wait_ns += ns;
    }

    /// A stream of a connection waited for others of it. `line`: what is to be seen of them.
    pub fn blocked(
        &mut self,
        workload: usize,
        connection: u32,
        wait: Wait,
        line: impl FnOnce(Wait) -> HeadOfLine,
    ) {
        if let Some(shown) = self.loads[workload].longest_wait.shown(connection, wait) {
            head_of_line::append(&mut self.head_of_line, [line(shown)]);
        }
    }

    /// A datagram answered a request that had been answered.
    pub fn duplicate_answer(&mut self, workload: usize) {
        self.loads[workload].state.duplicate_answers += 1;
    }

    /// A datagram answered a request that had been given up, perhaps after the answer to a later one.
    pub fn late_answer(&mut self, workload: usize, overtaken: bool) {
        let state = &mut self.loads[workload].state;
        state.late_answers += 1;
        state.overtaken_answers += u64::from(overtaken);
    }

    /// A datagram answered no request that is remembered.
    pub fn stray_answer(&mut self, workload: usize) {
        self.loads[workload].state.stray_answers += 1;
    }

    /// It is closed.
    pub fn parted(&mut self, workload: usize) {
        self.loads[workload].state.connections -= 1;
    }

    /// A client that could not connect waits before its next request.
    pub fn backed_off(&mut self, workload: usize) {
        self.loads[workload].state.backoffs += 1;
    }

    /// A redirect led to a request that is begun now.
    pub fn redirected(&mut self, workload: usize, now: u64) {
        self.due(workload, now);
        self.loads[workload].state.redirects += 1;
    }

    /// A closed client begins a request.
    pub fn due(&mut self, workload: usize, now: u64) {
        self.roll(now);
        self.loads[workload].state.due += 1;
    }

    /// After a request that has been counted, its journey's script failed at `now`.
    pub fn script_failed(
        &mut self,
        workload: usize,
        request: usize,
        phase: usize,
        now: u64,
        why: &str,
    ) {
        self.roll(now);
        self.series(workload, request, phase)
            .failures
            .add(Outcome::ScriptFailed, why, 1);
    }

    /// An arrival of an open loop was handed to a connection.
    pub fn handed_out(&mut self, workload: usize, arrival: &Arrival) {
        if !arrival.counted {
            self.due(workload, arrival.due);
        }
    }

    /// Some request has been sent and has not ended.
    pub fn any_in_flight(&self) -> bool {
        self.loads.iter().any(|load| load.state.in_flight > 0)
    }

    /// Counts the arrivals that were due before `now` and wait.
    pub fn count_waiting(&mut self, now: u64) {
        for load in &mut self.loads {
            load.count_waiting(now);
        }
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
            load.take_back(load.changed - sample.end);
        }
        self.series(sample.workload, sample.request, sample.phase)
            .add_sample(sample);
        if let Some(seen) = &sample.stream {
            streams::add_ended(&mut self.streams, sample, seen);
        }
        if self.has_rows(sample.workload) {
            self.rows.get_or_insert_default().push(sample);
        }
    }

    /// `count` requests were not sent until the end; `first` stands for all of them. Only where it is alone has it
    /// a row; the other rows are lost.
    pub fn never_sent(&mut self, first: &Sample, count: u64) {
        self.roll(first.end);
        let series = self.series(first.workload, first.request, first.phase);
        series.outcomes[Outcome::NeverSent as usize] += count;
        let waited = first.end.saturating_sub(first.intended);
        series.histograms[Measure::Censored as usize]
            .record_n(microseconds(waited), count)
            .expect("histograms grow with their values");
        if self.has_rows(first.workload) {
            if count == 1 {
                self.rows.get_or_insert_default().push(first);
            } else {
                self.rows_lost += count;
            }
        }
    }

    /// An event of a stream has come, after a gap unless it is the first one.
    pub fn event(&mut self, sample: &Sample, seen: &StreamSample, gap: Option<u64>) {
        self.roll(seen.last);
        streams::add_event(&mut self.streams, sample, seen, gap);
    }

    /// A message of a stream has its answer at `at`, so long after it was due.
    pub fn round_trip(&mut self, sample: &Sample, at: u64, ns: u64) {
        self.roll(at);
        streams::add_round_trip(&mut self.streams, sample, ns);
    }

    /// A stream ended before so many of its messages were answered.
    pub fn unanswered(&mut self, sample: &Sample, at: u64, messages: u64) {
        self.roll(at);
        streams::add_unanswered(&mut self.streams, sample, messages);
    }

    /// A ping has left at `at`, over a socket that the request opened.
    pub fn ping_sent(&mut self, workload: u32, request: u32, at: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).sent += 1;
    }

    /// Its pong came at `at`, so long after it was due.
    pub fn ponged(&mut self, workload: u32, request: u32, at: u64, ns: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).answered(ns);
    }

    /// Its pong had not come by `at`, and the socket is given up.
    pub fn ping_unanswered(&mut self, workload: u32, request: u32, at: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).unanswered += 1;
    }

    /// A journey has ended, in whatever way.
    pub fn journey_ended(&mut self, sample: &JourneySample) {
        self.roll(sample.end);
        journeys::add_sample(&mut self.journeys, sample);
    }

    /// What was said is shown.
    pub fn trace(&mut self, trace: Trace) {
        self.traces.push(trace);
    }

    fn has_rows(&self, workload: usize) -> bool {
        self.rows.is_some() && self.loads[workload].measured
    }

    fn series(&mut self, workload: usize, request: usize, phase: usize) -> &mut Series {
        let (base, phases) = self.layout[workload];
        let spare = &mut self.spare;
        self.series[base + request * phases + phase].get_or_insert_with(|| {
            let mut series = spare.pop().unwrap_or_default();
            (series.workload, series.request, series.phase) =
                (workload as u32, request as u32, phase as u32);
            series
        })
    }

    /// A timer of the worker itself fired so late.
    pub fn loop_lag(&mut self, late_ns: u64) {
        record(&mut self.loop_lag_us, late_ns);
    }

    /// Cuts all intervals that have ended by `now`.
    pub fn roll(&mut self, now: u64) {
        self.latest = self.latest.max(now);
        while now >= self.boundary {
            self.cut(self.boundary, false);
        }
    }

    /// The latest moment of which it knows.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// The run has ended, and everybody will leave: how many there were until then is the state at its end.
    pub fn keep_state(&mut self) {
        for load in &mut self.loads {
            load.at_end = Some((load.state.clients, load.state.connections));
        }
    }

    /// Ends the last interval at `end`, or as soon after it as something happened, and gives it away.
    pub fn finish(&mut self, end: u64) {
        self.cut(end.max(self.start + 1), true);
    }

    fn cut(&mut self, end: u64, last: bool) {
        for load in &mut self.loads {
            load.advance(end);
            load.count_waiting(end);
        }
        let (cpu, wall) = (thread_cpu_ns(), monotonic_ns());
        let thread = ThreadState {
            cpu_ns: (cpu - self.cpu_ns).saturating_sub(self.waited_ns.take()),
            wall_ns: wall - self.wall_ns,
        };
        let emptied = self.delivery.emptied.try_recv();
        let mut interval = emptied.unwrap_or_else(|_| WorkerInterval::new(self.worker));
        self.spare.append(&mut interval.series);
        let filled = self.series.iter_mut().filter_map(Option::take);
        interval.series.extend(filled);
        std::mem::swap(&mut interval.loop_lag_us, &mut self.loop_lag_us);
        interval.index = self.index;
        (interval.start_ns, interval.end_ns, interval.last) = (self.start, end, last);
        interval.journeys = std::mem::take(&mut self.journeys);
        interval.streams = std::mem::take(&mut self.streams);
        interval.pings = std::mem::take(&mut self.pings);
        interval.head_of_line = std::mem::take(&mut self.head_of_line);
        interval.traces = std::mem::take(&mut self.traces);
        interval.workloads = self.loads.iter_mut().map(Load::give_away).collect();
        interval.thread = thread;
        interval.ports = self.ports.in_use();
        interval.rows = self.rows.as_mut().map(std::mem::take).unwrap_or_default();
        interval.rows_lost = std::mem::take(&mut self.rows_lost);
        (self.cpu_ns, self.wall_ns) = (cpu, wall);
        self.index += 1;
        self.start = end;
        self.set_boundary();
        // Nobody listens any more only when the run's handle is gone; then nobody misses it.
        let _ = self.delivery.out.send(interval);
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
        self.state.pass(now.saturating_sub(self.changed));
        self.changed = self.changed.max(now);
        self.take_back(0);
    }

    /// A request was counted as in flight for so long after its end: answers of one connection come together, and each is
    /// taken in in its turn. What this interval has not got is taken from the next.
    fn take_back(&mut self, ns: u64) {
        self.excess_ns += u128::from(ns);
        let now = self.excess_ns.min(self.state.in_flight_ns);
        self.state.in_flight_ns -= now;
        self.excess_ns -= now;
    }

    fn count_waiting(&mut self, end: u64) {
        if let Some(queue) = &self.queue {
            let mut queue = queue.borrow_mut();
            self.state.due += queue.count(end);
            self.state.backlog = queue.len();
        }
    }

    fn give_away(&mut self) -> WorkloadState {
        let mut given = self.state.give_away();
        if let Some(at_end) = self.at_end {
            (given.clients, given.connections) = at_end;
        }
        given
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
