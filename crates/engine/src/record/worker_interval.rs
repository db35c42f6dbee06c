//! An interval of one worker, and how requests are recorded in it.

use hdrhistogram::Histogram;

use crate::outcome::{OUTCOMES, Outcome};
use crate::record::head_of_line::HeadOfLine;
use crate::record::histogram::{histogram, record};
use crate::record::interval::{Failures, Measure, Rows, Series, ThreadState, WorkloadState};
use crate::record::journeys::JourneySeries;
use crate::record::pings::PingSeries;
use crate::record::ports::PortUse;
use crate::record::sample::Sample;
use crate::record::statuses::Statuses;
use crate::record::streams::StreamSeries;
use crate::record::trace::Trace;

/// What a worker saw in one interval.
#[derive(Debug)]
pub struct WorkerInterval {
    pub worker: usize,
    pub index: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub last: bool,
    #[expect(clippy::vec_box, reason = "they go from list to list, and are large")]
    pub series: Vec<Box<Series>>,
    pub journeys: Vec<JourneySeries>,
    pub streams: Vec<StreamSeries>,
    pub pings: Vec<PingSeries>,
    pub head_of_line: Vec<HeadOfLine>,
    pub traces: Vec<Trace>,
    pub workloads: Vec<WorkloadState>,
    pub thread: ThreadState,
    pub ports: Vec<PortUse>,
    pub loop_lag_us: Histogram<u64>,
    pub rows: Rows,
    pub rows_lost: u64,
}

impl Series {
    #[inline]
    pub fn add_sample(&mut self, sample: &Sample) {
        self.outcomes[sample.outcome as usize] += 1;
        self.bytes_in += sample.bytes_in;
        self.bytes_out += sample.bytes_out;
        if let Some(ran) = sample.ran {
            self.record(Measure::Pacing, ran.saturating_sub(sample.intended));
        }
        if let Some(connect) = &sample.connect {
            self.record(Measure::Connect, connect.total);
            connect
                .tcp
                .into_iter()
                .for_each(|tcp| self.record(Measure::Tcp, tcp));
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
            Outcome::Ok => self.statuses.add(sample.status, 1),
            outcome if outcome.is_censored() => self.record(Measure::Censored, response),
            _ => self.record(Measure::Failed, response),
        }
        if let Outcome::WrongStatus = sample.outcome {
            let status = sample.status.to_string();
            self.failures.add(sample.outcome, &status, 1);
        } else if let Some(why) = &sample.why {
            self.failures.add(sample.outcome, why, 1);
        }
    }

    /// Adds a time in nanoseconds.
    #[inline]
    pub fn record(&mut self, measure: Measure, ns: u64) {
        record(&mut self.histograms[measure as usize], ns);
    }
}

impl Default for Series {
    fn default() -> Self {
        Self {
            workload: 0,
            request: 0,
            phase: 0,
            histograms: std::array::from_fn(|_| histogram()),
            outcomes: [0; OUTCOMES],
            statuses: Statuses::default(),
            failures: Failures::default(),
            refused: None,
            service_sum_ns: 0,
            response_sum_ns: 0,
            busy_sum_ns: 0,
            bytes_in: 0,
            bytes_out: 0,
        }
    }
}

impl WorkerInterval {
    pub fn new(worker: usize) -> Self {
        Self {
            worker,
            index: 0,
            start_ns: 0,
            end_ns: 0,
            last: false,
            series: Vec::new(),
            journeys: Vec::new(),
            streams: Vec::new(),
            pings: Vec::new(),
            head_of_line: Vec::new(),
            traces: Vec::new(),
            workloads: Vec::new(),
            thread: ThreadState::default(),
            ports: Vec::new(),
            loop_lag_us: histogram(),
            rows: Rows::default(),
            rows_lost: 0,
        }
    }

    /// Clears what its worker will refill. Histograms keep the memory that they have grown to.
    pub fn empty(&mut self) {
        for series in &mut self.series {
            let used = |histogram: &&mut Histogram<u64>| !histogram.is_empty();
            let histograms = series.histograms.iter_mut();
            histograms.filter(used).for_each(Histogram::reset);
            series.outcomes = [0; OUTCOMES];
            series.statuses.clear();
            series.failures.clear();
            series.refused = None;
            (series.service_sum_ns, series.response_sum_ns) = (0, 0);
            series.busy_sum_ns = 0;
            (series.bytes_in, series.bytes_out) = (0, 0);
        }
        self.loop_lag_us.reset();
    }
}

impl Rows {
    #[inline]
    pub fn push(&mut self, sample: &Sample) {
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
