//! Merges the workers' intervals of equal index into one sequence of intervals.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::machine::open_files::open_files;
use crate::record::histogram::histogram;
use crate::record::interval::{Interval, Rows, Series, ThreadState, WorkloadState};
use crate::record::worker_interval::WorkerInterval;
use crate::record::{head_of_line, journeys, pings, ports, streams};

/// How many intervals are kept if nobody fetches them. Beyond that, the two oldest are merged into one.
const MAX_WAITING: usize = 64;
/// How many rows an interval may hold after merging. Further rows are dropped and counted.
const MAX_WAITING_ROWS: usize = 1_000_000;

/// Intervals waiting to be fetched.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<OutboxState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct OutboxState {
    waiting: VecDeque<Interval>,
    /// How many intervals have been fetched.
    fetched: u64,
    closed: bool,
}

/// What [`Run::next_interval`](crate::Run::next_interval) found.
#[derive(Debug)]
pub enum Poll {
    Interval(Box<Interval>),
    /// No interval is ready yet.
    Pending,
    /// The last interval has already been fetched.
    Finished,
}

impl Outbox {
    pub fn next(&self, timeout: Duration) -> Poll {
        let until = Instant::now().checked_add(timeout); // None: beyond the end of time
        let mut state = self.lock();
        loop {
            if let Some(mut interval) = state.waiting.pop_front() {
                interval.index = state.fetched;
                state.fetched += 1;
                return Poll::Interval(Box::new(interval));
            }
            if state.closed {
                return Poll::Finished;
            }
            let left = until.map_or(timeout, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Poll::Pending;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .0;
        }
    }

    fn put(&self, interval: Interval) {
        let mut state = self.lock();
        state.waiting.push_back(interval);
        if state.waiting.len() > MAX_WAITING {
            let first = state
                .waiting
                .pop_front()
                .expect("more than MAX_WAITING are waiting");
            let second = &mut state.waiting[0];
            *second = joined(first, std::mem::replace(second, Interval::empty(0)));
        }
        self.changed.notify_all();
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Merges until all workers have handed over their last interval or died, and returns emptied intervals to each
/// worker. Runs in its own thread.
pub fn collect(
    incoming: &Receiver<WorkerInterval>,
    emptied: &[Sender<WorkerInterval>],
    gone: &dyn Fn(usize) -> bool,
    outbox: &Arc<Outbox>,
) {
    let _closing = Closing(outbox);
    let mut merger = Merger::new(emptied.len());
    while !merger.complete() {
        match incoming.recv_timeout(Duration::from_millis(200)) {
            Ok(interval) => merger.take(interval, emptied),
            Err(RecvTimeoutError::Timeout) => {
                // Who has ended has sent everything before, but perhaps only since the timeout.
                let ended: Vec<bool> = (0..emptied.len()).map(gone).collect();
                for interval in incoming.try_iter() {
                    merger.take(interval, emptied);
                }
                merger.drop_gone(&|worker| ended[worker]);
            }
            Err(RecvTimeoutError::Disconnected) => merger.drop_gone(&|_| true),
        }
        while let Some(interval) = merger.next() {
            outbox.put(interval);
        }
    }
}

/// Closes the outbox however the collector ends, so that nobody waits for an interval that will never come.
struct Closing<'a>(&'a Outbox);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Intervals of which some workers' parts are still missing.
struct Merger {
    parts: BTreeMap<u64, Interval>,
    /// For each worker, the index of the next interval that it owes; `u64::MAX` after its last.
    owes: Vec<u64>,
    lost: u32,
}

impl Merger {
    fn new(workers: usize) -> Self {
        Self {
            parts: BTreeMap::new(),
            owes: vec![0; workers],
            lost: 0,
        }
    }

    /// Adds a worker's part, and returns it emptied to its worker.
    fn take(&mut self, mut part: WorkerInterval, emptied: &[Sender<WorkerInterval>]) {
        self.add(&mut part);
        part.empty();
        // Fails if the worker has ended, and no longer needs it.
        let _ = emptied[part.worker].send(part);
    }

    fn add(&mut self, part: &mut WorkerInterval) {
        let workers = self.owes.len();
        self.owes[part.worker] = if part.last { u64::MAX } else { part.index + 1 };
        self.parts
            .entry(part.index)
            .or_insert_with(|| Interval::empty(workers))
            .add_part(part);
    }

    /// Stops expecting intervals from workers that are gone.
    fn drop_gone(&mut self, gone: &dyn Fn(usize) -> bool) {
        for (worker, owes) in self.owes.iter_mut().enumerate() {
            if *owes != u64::MAX && gone(worker) {
                *owes = u64::MAX;
                self.lost += 1;
            }
        }
    }

    /// Returns the next interval of which no part is missing. It is the last one if no worker owes any further interval
    /// and no other one is waiting for parts.
    fn next(&mut self) -> Option<Interval> {
        let owed = *self.owes.iter().min()?;
        let index = *self.parts.keys().next()?;
        if index >= owed {
            return None;
        }
        let mut interval = self.parts.remove(&index)?;
        interval.last = owed == u64::MAX && self.parts.is_empty();
        interval.open_files = open_files();
        interval.workers_lost = self.lost;
        Some(interval)
    }

    fn complete(&self) -> bool {
        self.owes.iter().all(|owes| *owes == u64::MAX) && self.parts.is_empty()
    }
}

impl Interval {
    /// An interval in which nothing has happened yet, for a generator with this many threads.
    #[must_use]
    pub fn empty(threads: usize) -> Self {
        Self {
            index: 0,
            start_ns: u64::MAX,
            end_ns: 0,
            last: false,
            series: Vec::new(),
            journeys: Vec::new(),
            streams: Vec::new(),
            pings: Vec::new(),
            head_of_line: Vec::new(),
            traces: Vec::new(),
            workloads: Vec::new(),
            threads: vec![ThreadState::default(); threads],
            loop_lag_us: histogram(),
            open_files: 0,
            ports: Vec::new(),
            rows: Rows::default(),
            rows_lost: 0,
            workers_lost: 0,
        }
    }

    /// Adds one worker's part.
    fn add_part(&mut self, part: &mut WorkerInterval) {
        self.start_ns = self.start_ns.min(part.start_ns);
        self.end_ns = self.end_ns.max(part.end_ns);
        self.add_series(part.series.iter().map(AsRef::as_ref));
        journeys::append(&mut self.journeys, &part.journeys);
        streams::append(&mut self.streams, &part.streams);
        pings::append(&mut self.pings, &part.pings);
        head_of_line::append(&mut self.head_of_line, part.head_of_line.drain(..));
        self.traces.append(&mut part.traces);
        ports::add(&mut self.ports, std::mem::take(&mut part.ports));
        self.workloads
            .resize(part.workloads.len(), WorkloadState::default());
        for (sum, state) in self.workloads.iter_mut().zip(&part.workloads) {
            sum.add_flows(state);
            sum.in_flight += state.in_flight;
            sum.clients += state.clients;
            sum.connections += state.connections;
            sum.waiting += state.waiting;
        }
        self.threads[part.worker] = part.thread;
        self.loop_lag_us += &part.loop_lag_us;
        self.rows.append(std::mem::take(&mut part.rows));
        self.rows_lost += part.rows_lost;
    }

    fn add_series<'a>(&mut self, others: impl IntoIterator<Item = &'a Series>) {
        for other in others {
            let key = |series: &Series| (series.workload, series.request, series.phase);
            match self.series.binary_search_by_key(&key(other), key) {
                Ok(place) => self.series[place].add(other),
                Err(place) => self.series.insert(place, other.clone()),
            }
        }
    }
}

/// Joins two successive intervals into one that covers both.
fn joined(first: Interval, mut second: Interval) -> Interval {
    second.start_ns = first.start_ns;
    second.add_series(&first.series);
    journeys::append(&mut second.journeys, &first.journeys);
    streams::append(&mut second.streams, &first.streams);
    pings::append(&mut second.pings, &first.pings);
    let later = std::mem::replace(&mut second.head_of_line, first.head_of_line);
    head_of_line::append(&mut second.head_of_line, later);
    second.traces.splice(..0, first.traces);
    for (sum, state) in second.workloads.iter_mut().zip(&first.workloads) {
        sum.add_flows(state);
    }
    for (sum, state) in second.threads.iter_mut().zip(&first.threads) {
        sum.cpu_ns += state.cpu_ns;
        sum.wall_ns += state.wall_ns;
    }
    second.loop_lag_us += &first.loop_lag_us;
    second.rows_lost += first.rows_lost;
    let mut rows = first.rows;
    if rows.end_ns.len() + second.rows.end_ns.len() <= MAX_WAITING_ROWS {
        rows.append(std::mem::take(&mut second.rows));
    } else {
        second.rows_lost += second.rows.end_ns.len() as u64;
    }
    second.rows = rows;
    second
}

impl Series {
    fn add(&mut self, other: &Self) {
        for (sum, histogram) in self.histograms.iter_mut().zip(&other.histograms) {
            if !histogram.is_empty() {
                *sum += histogram;
            }
        }
        for (sum, count) in self.outcomes.iter_mut().zip(other.outcomes) {
            *sum += count;
        }
        self.statuses.append(&other.statuses);
        self.failures.append(&other.failures);
        if self.refused.is_none() {
            self.refused.clone_from(&other.refused);
        }
        self.service_sum_ns += other.service_sum_ns;
        self.response_sum_ns += other.response_sum_ns;
        self.busy_sum_ns += other.busy_sum_ns;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }
}

impl WorkloadState {
    /// Adds what accumulates over time. Levels, by contrast, only add up over workers.
    fn add_flows(&mut self, other: &Self) {
        self.due += other.due;
        self.sent += other.sent;
        self.in_flight_ns += other.in_flight_ns;
        self.connects += other.connects;
        self.backoffs += other.backoffs;
        self.redirects += other.redirects;
        self.resent += other.resent;
        self.stream_waits += other.stream_waits;
        self.stream_wait_ns += other.stream_wait_ns;
        self.duplicate_responses += other.duplicate_responses;
        self.late_responses += other.late_responses;
        self.overtaken_responses += other.overtaken_responses;
        self.stray_responses += other.stray_responses;
        self.resumed += other.resumed;
        self.excess.append(&other.excess);
        self.dismissals.append(&other.dismissals);
        self.passed_over.append(&other.passed_over);
    }
}

impl Rows {
    fn append(&mut self, mut other: Self) {
        self.workload.append(&mut other.workload);
        self.request.append(&mut other.request);
        self.client.append(&mut other.client);
        self.intended_ns.append(&mut other.intended_ns);
        self.sent_ns.append(&mut other.sent_ns);
        self.headers_ns.append(&mut other.headers_ns);
        self.end_ns.append(&mut other.end_ns);
        self.outcome.append(&mut other.outcome);
        self.status.append(&mut other.status);
        self.bytes.append(&mut other.bytes);
    }
}

#[cfg(test)]
mod tests;
