//! What a run produces: a sequence of [`Interval`]s, the last of which is marked.

use hdrhistogram::Histogram;

use crate::outcome::{OUTCOMES, Outcome};
use crate::record::head_of_line::HeadOfLine;
use crate::record::journeys::JourneySeries;
pub use crate::record::journeys::{JOURNEY_MEASURE_NAMES, JOURNEY_MEASURES, JourneyMeasure};
use crate::record::pings::PingSeries;
use crate::record::ports::PortUse;
use crate::record::statuses::Statuses;
use crate::record::streams::StreamSeries;
pub use crate::record::streams::{STREAM_MEASURE_NAMES, STREAM_MEASURES, StreamMeasure};
use crate::record::trace::Trace;

/// What all workers saw from `start_ns` to `end_ns`, counted from the start of the run.
#[derive(Debug, Clone)]
pub struct Interval {
    /// 0, 1, 2, …, in the order in which intervals are fetched.
    pub index: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    /// No interval follows.
    pub last: bool,
    pub series: Vec<Series>,
    /// Sorted by workload and journey.
    pub journeys: Vec<JourneySeries>,
    /// Requests whose responses are streams of events, sorted by workload and request.
    pub streams: Vec<StreamSeries>,
    /// Requests that open sockets which are pinged, sorted by workload and request.
    pub pings: Vec<PingSeries>,
    /// One per workload in which streams of an HTTP/2 connection waited for one another longer than any before on their
    /// worker.
    pub head_of_line: Vec<HeadOfLine>,
    /// The exchanges with the server, if the run shows them.
    pub traces: Vec<Trace>,
    /// The workloads of the specification, followed by one for each workload with steps that every client takes only
    /// once; it stands for these steps.
    pub workloads: Vec<WorkloadState>,
    pub threads: Vec<ThreadState>,
    /// Loop lag of all workers in microseconds: how late a timer of the worker itself fired.
    pub loop_lag_us: Histogram<u64>,
    /// Open file descriptors of this process at the end of the interval.
    pub open_files: u64,
    /// Local ports that this process holds at the end of the interval.
    pub ports: Vec<PortUse>,
    /// Rows of the measured requests that ended in this interval, if the run asks for rows.
    pub rows: Rows,
    /// Rows that were left out because nobody fetched the intervals, or because several requests were never sent.
    pub rows_lost: u64,
    /// Worker threads that have died; what they had not handed over by then is missing.
    pub workers_lost: u32,
}

/// Texts, and how often each occurred. Peers influence them, so their length is limited and only the first few are kept
/// apart; all others are counted together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts(Vec<(String, u64)>);

impl Texts {
    const MAX_TEXTS: usize = 8;
    const MAX_CHARACTERS: usize = 200;
    const OTHER: &str = "other";

    pub fn add(&mut self, text: &str, count: u64) {
        let text: String = text.chars().take(Self::MAX_CHARACTERS).collect();
        let full =
            self.0.len() >= Self::MAX_TEXTS && self.0.iter().all(|(known, _)| *known != text);
        let text = if full { Self::OTHER.into() } else { text };
        match self.0.iter_mut().find(|(known, _)| *known == text) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((text, count)),
        }
    }

    pub fn append(&mut self, others: &Self) {
        for (text, count) in others.iter() {
            self.add(text, count);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(text, count)| (text.as_str(), *count))
    }
}

/// Why requests failed: texts by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures(Vec<(Outcome, Texts)>);

impl Failures {
    pub fn add(&mut self, outcome: Outcome, text: &str, count: u64) {
        self.texts(outcome).add(text, count);
    }

    pub fn append(&mut self, others: &Self) {
        for (outcome, texts) in others.iter() {
            self.texts(outcome).append(texts);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Outcome, &Texts)> {
        self.0.iter().map(|(outcome, texts)| (*outcome, texts))
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn texts(&mut self, outcome: Outcome) -> &mut Texts {
        let known = self.0.iter().position(|(known, _)| *known == outcome);
        let index = known.unwrap_or_else(|| {
            self.0.push((outcome, Texts::default()));
            self.0.len() - 1
        });
        &mut self.0[index].1
    }
}

/// Everything about one request name of one workload in one phase.
#[derive(Debug, Clone)]
pub struct Series {
    pub workload: u32,
    pub request: u32,
    /// Index into the workload's phases; 0 where there are none.
    pub phase: u32,
    /// Indexed by [`Measure`], in microseconds.
    pub histograms: [Histogram<u64>; MEASURES],
    /// Counts, indexed by [`Outcome`].
    pub outcomes: [u64; OUTCOMES],
    /// The statuses of the successes.
    pub statuses: Statuses,
    /// Why requests failed, where a reason is known. For [`Outcome::WrongStatus`] it is the status.
    pub failures: Failures,
    /// Method and path of one request that was answered with a wrong status, as they were sent.
    pub refused: Option<Box<str>>,
    /// Exact sums of `Service` and `Response` over the successes, for Little's law.
    pub service_sum_ns: u128,
    pub response_sum_ns: u128,
    /// Σ over requests that ended in any way, or were unfinished at the stop, of (end − actual send).
    pub busy_sum_ns: u128,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Measure {
    /// Start of connecting → ready to send, including TLS and a WebSocket's upgrade. Only for requests that opened a
    /// connection.
    Connect,
    /// Actual send → response headers.
    Headers,
    /// Response headers → last byte.
    Body,
    /// Actual send → last byte.
    Service,
    /// Intended start → last byte. In a closed loop the intended start is the end of the think time, before connecting.
    Response,
    /// Intended start → actual send (generator's lateness, waiting for a connection and connecting).
    Lag,
    /// Timed out, unfinished at stop, never sent: intended start → given up. Right-censored response times.
    Censored,
    /// Other failures (reset, malformed, wrong …): intended start → failure.
    Failed,
    /// Parts of `Connect`.
    Dns,
    Tcp,
    Tls,
    /// Generator's own lateness: intended start → the moment when the client's code ran (open loop and think times).
    Pacing,
}
pub const MEASURES: usize = 12;
pub const MEASURE_NAMES: [&str; MEASURES] = [
    "connect", "headers", "body", "service", "response", "lag", "censored", "failed", "dns", "tcp",
    "tls", "pacing",
];

#[derive(Debug, Clone, Default)]
pub struct WorkloadState {
    /// Requests that became due in this interval (open), or that clients began (closed).
    pub due: u64,
    /// Requests actually sent in this interval.
    pub sent: u64,
    /// ∫ (requests sent and not ended) dt over the interval, in request·ns, accumulated independently of the series.
    pub in_flight_ns: u128,
    /// Requests in flight at the end of the interval. The next three fields, too, describe that moment.
    pub in_flight: u64,
    pub clients: u64,
    pub connections: u64,
    /// Requests that are due and wait for a connection (open loop).
    pub waiting: u64,
    /// Attempts to connect in this interval.
    pub connects: u64,
    /// TLS handshakes in this interval that resumed an earlier session of the same client; all others were full.
    pub resumed: u64,
    /// Bytes that came after a complete response and belong to no response.
    pub excess: Texts,
    /// Responses that came on idle connections and closed them, by status: 408 from servers whose idle limit is shorter
    /// than the pause.
    pub dismissals: Texts,
    /// Addresses of the server's name that did not accept in this interval while another one did, with the reason.
    pub passed_over: Texts,
    /// Waits of closed-loop clients after a failed connect: 10 ms, doubled up to 1 s while connecting keeps failing.
    /// They are added to the think time; without them, a closed loop against a dead server would only measure itself.
    pub backoffs: u64,
    /// Redirects that were followed. The request to which each of them led is counted separately.
    pub redirects: u64,
    /// Requests that were sent a second time because the server had announced that it did not process them (HTTP/2).
    /// `sent` counts each request once, when it is first sent.
    pub resent: u64,
    /// Requests that had to wait for a free stream of their connection (HTTP/2) before they were sent, and the sum of
    /// their waits.
    pub stream_waits: u64,
    pub stream_wait_ns: u64,
    /// Datagrams that answered a request already answered (`duplicate`), one already given up (`late`), or no
    /// remembered request (`stray`). `overtaken` counts the late ones that came after the response to a later request
    /// of the same client.
    pub duplicate_responses: u64,
    pub late_responses: u64,
    pub overtaken_responses: u64,
    pub stray_responses: u64,
}

impl WorkloadState {
    /// Lets time pass: adds to ∫ in-flight dt.
    pub fn pass(&mut self, elapsed_ns: u64) {
        self.in_flight_ns += u128::from(self.in_flight) * u128::from(elapsed_ns);
    }

    /// Returns the state of the interval that ends. The next one starts with the current levels.
    #[must_use]
    pub fn give_away(&mut self) -> Self {
        let next = Self {
            in_flight: self.in_flight,
            clients: self.clients,
            connections: self.connections,
            waiting: self.waiting,
            ..Self::default()
        };
        std::mem::replace(self, next)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadState {
    /// CPU time of the thread within the interval (`CLOCK_THREAD_CPUTIME_ID`), without the time spent busy-polling.
    pub cpu_ns: u64,
    pub wall_ns: u64,
}

/// One row per request of the measured workloads, in columns of equal length.
///
/// Times are in ns from the start of the run; 0 if the event did not happen.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    pub workload: Vec<u16>,
    pub request: Vec<u16>,
    pub client: Vec<u32>,
    pub intended_ns: Vec<u64>,
    pub sent_ns: Vec<u64>,
    pub headers_ns: Vec<u64>,
    pub end_ns: Vec<u64>,
    pub outcome: Vec<u8>,
    pub status: Vec<u16>,
    pub bytes: Vec<u64>,
}
