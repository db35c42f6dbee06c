//! What one worker records: histograms, counters and rows, cut into intervals.
//!
//! An interval ends exactly at its boundary, not when someone happens to check: every event carries its time, and
//! the first event past the boundary closes the interval before being recorded in the next one. The recorder is
//! owned by its worker. It hands over each interval whole and gets emptied ones back to refill, so that nothing is
//! copied, cleared or allocated between two requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;

use crate::machine::clock::{monotonic_ns, thread_cpu_ns};
use crate::outcome::Outcome;
use crate::record::head_of_line::{self, HeadOfLine, Longest, Wait};
use crate::record::histogram::{histogram, microseconds, record};
use crate::record::interval::{Measure, Rows, Series, ThreadState, WorkloadState};
use crate::record::journeys::{self, JourneySample, JourneySeries};
use crate::record::pings::{self, PingSeries};
use crate::record::ports::PortTable;
use crate::record::sample::{ConnectTimes, Sample};
use crate::record::stream_sample::StreamSample;
use crate::record::streams::{self, StreamSeries};
use crate::record::trace::Trace;
use crate::record::worker_interval::WorkerInterval;
use crate::schedule::queue::{Arrival, Queue};

/// A longer request line is cut.
const MAX_SHOWN_BYTES: usize = 2048;

/// What a recorder needs to know about its run.
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

/// The channels over which intervals are handed over and come back emptied.
#[derive(Debug)]
pub struct Delivery {
    pub out: Sender<WorkerInterval>,
    pub emptied: Receiver<WorkerInterval>,
}

#[derive(Debug)]
pub struct Recorder {
    worker: usize,
    interval_ns: u64,
    /// The number of the current interval, and when it began.
    index: u64,
    start: u64,
    /// The latest time of all that was recorded.
    latest: u64,
    /// End of the current interval; `u64::MAX` for the last one of a run of known length.
    boundary: u64,
    /// The planned end of the run.
    end: u64,
    /// What was recorded in this interval, ordered by workload, request and phase.
    series: Vec<Option<Box<Series>>>,
    /// Emptied series, ready for reuse.
    #[expect(clippy::vec_box, reason = "they go from list to list, and are large")]
    spare: Vec<Box<Series>>,
    /// For each workload, the index of its first series and its number of phases.
    layout: Vec<(usize, usize)>,
    counters: Vec<WorkloadCounters>,
    journeys: Vec<JourneySeries>,
    streams: Vec<StreamSeries>,
    pings: Vec<PingSeries>,
    head_of_line: Vec<HeadOfLine>,
    traces: Vec<Trace>,
    loop_lag_us: Histogram<u64>,
    /// The local ports in use, kept up to date by the code that connects.
    pub ports: Rc<PortTable>,
    rows: Option<Rows>,
    rows_lost: u64,
    cpu_ns: u64,
    wall_ns: u64,
    /// Time that the worker spent busy-polling in this interval. It is not reported as CPU time.
    pub waited_ns: Rc<Cell<u64>>,
    delivery: Delivery,
}

/// The counters of one workload.
#[derive(Debug)]
pub struct WorkloadCounters {
    measured: bool,
    state: WorkloadState,
    longest_wait: Longest,
    /// What still has to be subtracted from `state.in_flight_ns`; see `WorkloadCounters::take_back`.
    excess_ns: u128,
    /// The moment up to which `state.in_flight_ns` has been accumulated.
    accumulated_until: u64,
    /// Numbers of clients and connections at the end of the run, before they all left.
    at_end: Option<(u64, u64)>,
    /// The arrivals of an open loop; `None` for a closed loop.
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
        let counters = |measured| WorkloadCounters {
            measured,
            state: WorkloadState::default(),
            longest_wait: Longest::default(),
            excess_ns: 0,
            accumulated_until: 0,
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
            counters: outline
                .workloads
                .iter()
                .map(|workload| counters(workload.measured))
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

    /// Starts counting CPU and wall time; called when the run begins.
    pub fn begin(&mut self) {
        (self.cpu_ns, self.wall_ns) = (thread_cpu_ns(), monotonic_ns());
    }

    /// Registers the queue of an open loop, so that arrivals still waiting at the end of an interval are counted in it.
    pub fn watch_queue(&mut self, workload: usize, queue: Rc<RefCell<Queue>>) {
        self.counters[workload].queue = Some(queue);
    }

    /// Counts a client, or a connection of an open loop, that starts.
    pub fn client_came(&mut self, workload: usize) {
        self.counters[workload].state.clients += 1;
    }

    /// Counts a client, or a connection of an open loop, that ends.
    pub fn client_left(&mut self, workload: usize) {
        self.counters[workload].state.clients -= 1;
    }

    /// Counts an attempt to connect.
    pub fn connecting(&mut self, workload: usize) {
        self.counters[workload].state.connects += 1;
    }

    /// Counts an established connection.
    pub fn connected(&mut self, workload: usize, times: &ConnectTimes) {
        let state = &mut self.counters[workload].state;
        state.connections += 1;
        state.resumed += u64::from(times.resumed);
    }

    /// Notes that the server ended an idle connection with a response of this status.
    pub fn dismissed(&mut self, workload: usize, status: u16) {
        self.counters[workload]
            .state
            .dismissals
            .add(&status.to_string(), 1);
    }

    /// Counts bytes after a complete response that belong to no response; `what` describes them.
    pub fn excess(&mut self, workload: usize, what: &str) {
        self.counters[workload].state.excess.add(what, 1);
    }

    /// Counts an address of the server's name that did not accept while another one did.
    pub fn passed_over(&mut self, workload: usize, what: &str) {
        self.counters[workload].state.passed_over.add(what, 1);
    }

    /// Counts a request that had to wait for a free stream of its connection.
    pub fn waited_for_stream(&mut self, workload: usize, ns: u64) {
        let state = &mut self.counters[workload].state;
        state.stream_waits += 1;
        state.stream_wait_ns += ns;
    }

    /// Records that a stream waited for others on its connection, which has this number among all that were opened.
    /// `line` builds the picture of a wait worth showing.
    pub fn blocked(
        &mut self,
        workload: usize,
        connection: u64,
        wait: Wait,
        line: impl FnOnce(Wait) -> HeadOfLine,
    ) {
        if let Some(shown) = self.counters[workload].longest_wait.shown(connection, wait) {
            head_of_line::append(&mut self.head_of_line, [line(shown)]);
        }
    }

    /// Counts a datagram that answers a request already answered.
    pub fn duplicate_response(&mut self, workload: usize) {
        self.counters[workload].state.duplicate_responses += 1;
    }

    /// Counts a datagram that answers a request already given up; `overtaken` if a later request was answered first.
    pub fn late_response(&mut self, workload: usize, overtaken: bool) {
        let state = &mut self.counters[workload].state;
        state.late_responses += 1;
        state.overtaken_responses += u64::from(overtaken);
    }

    /// Counts a datagram that answers no remembered request.
    pub fn stray_response(&mut self, workload: usize) {
        self.counters[workload].state.stray_responses += 1;
    }

    /// Counts a closed connection.
    pub fn connection_closed(&mut self, workload: usize) {
        self.counters[workload].state.connections -= 1;
    }

    /// Counts a client's wait after a failed connect.
    pub fn backed_off(&mut self, workload: usize) {
        self.counters[workload].state.backoffs += 1;
    }

    /// Counts a followed redirect, and the request that it leads to, which begins at `now`.
    pub fn redirected(&mut self, workload: usize, now: u64) {
        self.due(workload, now);
        self.counters[workload].state.redirects += 1;
    }

    /// Counts a request that became due at `now`.
    pub fn due(&mut self, workload: usize, now: u64) {
        self.roll(now);
        self.counters[workload].state.due += 1;
    }

    /// Records that a journey's script failed at `now`, after a request that has already been counted.
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

    /// Counts an arrival that was handed to a connection, unless it was already counted while waiting.
    pub fn handed_out(&mut self, workload: usize, arrival: &Arrival) {
        if !arrival.counted {
            self.due(workload, arrival.due);
        }
    }

    /// Whether any request has been sent and has not ended.
    pub fn any_in_flight(&self) -> bool {
        self.counters
            .iter()
            .any(|counters| counters.state.in_flight > 0)
    }

    /// Counts the arrivals that were due before `now` and are still waiting.
    pub fn count_waiting(&mut self, now: u64) {
        for counters in &mut self.counters {
            counters.count_waiting(now);
        }
    }

    /// Records that a request's first byte is about to be written.
    pub fn sent(&mut self, workload: usize, now: u64) {
        self.roll(now);
        let counters = &mut self.counters[workload];
        counters.advance(now);
        counters.state.sent += 1;
        counters.state.in_flight += 1;
    }

    /// Keeps what a request asked for whose response has a wrong status: one of each interval is enough to be shown.
    /// `request`: all that was sent.
    pub fn refused(&mut self, sample: &Sample, request: &[u8]) {
        self.roll(sample.end);
        let series = self.series(sample.workload, sample.request, sample.phase);
        if series.refused.is_none() {
            let line = request
                .split(|byte| *byte == b'\r')
                .next()
                .unwrap_or_default();
            let words = line.strip_suffix(b" HTTP/1.1").unwrap_or(line);
            let shown = &words[..words.len().min(MAX_SHOWN_BYTES)];
            series.refused = Some(String::from_utf8_lossy(shown).into());
        }
    }

    /// Counts a request that is sent once more because the server had not processed it (HTTP/2).
    pub fn sent_again(&mut self, workload: usize, now: u64) {
        self.roll(now);
        self.counters[workload].state.resent += 1;
    }

    /// Records a request that has ended, in whatever way.
    pub fn ended(&mut self, sample: &Sample) {
        self.roll(sample.end);
        let counters = &mut self.counters[sample.workload];
        if sample.sent.is_some() {
            counters.advance(sample.end);
            counters.state.in_flight -= 1;
            counters.take_back(counters.accumulated_until - sample.end);
        }
        self.series(sample.workload, sample.request, sample.phase)
            .add_sample(sample);
        if let Some(stream) = &sample.stream {
            streams::add_ended(&mut self.streams, sample, stream);
        }
        if self.has_rows(sample.workload) {
            self.rows.get_or_insert_default().push(sample);
        }
    }

    /// Records `count` requests that were not sent before the end; `first` stands for all of them. A row is written
    /// only if `count` is 1; otherwise all `count` rows are lost.
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

    /// Records an event of a stream, with the gap before it unless it is the first.
    pub fn event(&mut self, sample: &Sample, stream: &StreamSample, gap: Option<u64>) {
        self.roll(stream.last);
        streams::add_event(&mut self.streams, sample, stream, gap);
    }

    /// Records that a message of a stream was answered at `at`, `ns` after it was due.
    pub fn round_trip(&mut self, sample: &Sample, at: u64, ns: u64) {
        self.roll(at);
        streams::add_round_trip(&mut self.streams, sample, ns);
    }

    /// Counts the messages that were still unanswered when their stream ended at `at`.
    pub fn unanswered(&mut self, sample: &Sample, at: u64, messages: u64) {
        self.roll(at);
        streams::add_unanswered(&mut self.streams, sample, messages);
    }

    /// Counts a ping sent at `at` over a socket that the request opened.
    pub fn ping_sent(&mut self, workload: u32, request: u32, at: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).sent += 1;
    }

    /// Records a pong that came at `at`, `ns` after its ping was due.
    pub fn ponged(&mut self, workload: u32, request: u32, at: u64, ns: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).answered(ns);
    }

    /// Counts a ping whose pong had not come by `at`, so that the socket is given up.
    pub fn ping_unanswered(&mut self, workload: u32, request: u32, at: u64) {
        self.roll(at);
        pings::find(&mut self.pings, workload, request).unanswered += 1;
    }

    /// Records a journey that has ended, in whatever way.
    pub fn journey_ended(&mut self, sample: &JourneySample) {
        self.roll(sample.end);
        journeys::add_sample(&mut self.journeys, sample);
    }

    /// Keeps an exchange to be shown.
    pub fn trace(&mut self, trace: Trace) {
        self.traces.push(trace);
    }

    fn has_rows(&self, workload: usize) -> bool {
        self.rows.is_some() && self.counters[workload].measured
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

    /// Records that a timer of the worker itself fired `late_ns` late.
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

    /// The latest time of all that was recorded.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Keeps the numbers of clients and connections as the state at the end of the run, before they all leave.
    pub fn keep_state(&mut self) {
        for counters in &mut self.counters {
            counters.at_end = Some((counters.state.clients, counters.state.connections));
        }
    }

    /// Ends the last interval at `end`, but no earlier than 1 ns after its start, and hands it over.
    pub fn finish(&mut self, end: u64) {
        self.cut(end.max(self.start + 1), true);
    }

    fn cut(&mut self, end: u64, last: bool) {
        for counters in &mut self.counters {
            counters.advance(end);
            // What was due before the end of the run has been counted; the last interval may end a little later.
            counters.count_waiting(if last { 0 } else { end });
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
        interval.workloads = self
            .counters
            .iter_mut()
            .map(WorkloadCounters::give_away)
            .collect();
        interval.thread = thread;
        interval.ports = self.ports.in_use();
        interval.rows = self.rows.as_mut().map(std::mem::take).unwrap_or_default();
        interval.rows_lost = std::mem::take(&mut self.rows_lost);
        (self.cpu_ns, self.wall_ns) = (cpu, wall);
        self.index += 1;
        self.start = end;
        self.set_boundary();
        // Sending fails only once the run's handle has been dropped, and then nobody wants the interval.
        let _ = self.delivery.out.send(interval);
    }

    /// Sets the end of the current interval. No interval begins at the run's planned end: whatever still comes in the
    /// last moments belongs to the last interval.
    fn set_boundary(&mut self) {
        let boundary = self.start + self.interval_ns;
        self.boundary = if boundary >= self.end {
            u64::MAX
        } else {
            boundary
        };
    }
}

impl WorkloadCounters {
    /// Accumulates ∫ in-flight dt up to `now`.
    fn advance(&mut self, now: u64) {
        self.state.pass(now.saturating_sub(self.accumulated_until));
        self.accumulated_until = self.accumulated_until.max(now);
        self.take_back(0);
    }

    /// Subtracts the time for which a request was counted as in flight after its end. This happens because responses
    /// that arrive together on one connection are processed one by one. What exceeds this interval's total is carried
    /// over.
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
            self.state.waiting = queue.len();
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
mod tests;
