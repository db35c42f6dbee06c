//! What a run is: the load, stated exactly.
//!
//! A [`RunSpec`] is data only. Python builds it from a plan, sends it as JSON, and it stands in the record as
//! it ran. All times are whole nanoseconds, all rates are per second, every random choice follows from `seed`.

mod datagram;
mod grpc;
mod journey;
mod raw;
mod rows;
mod stream;
pub(crate) mod validate;
mod websocket;

pub use datagram::{DatagramMatch, DatagramSpec};
pub use grpc::GrpcSpec;
pub use journey::{
    CaptureSpec, ConditionSpec, FeedEach, FeedOrder, FeedSpec, JourneySpec, OnCaptureFailed,
    OnFailure, ScriptSpec, SourceSpec, StepSpec, TestSpec,
};
pub use raw::{RawSpec, UntilSpec};
pub use rows::FeedRows;
use serde::{Deserialize, Serialize};
pub use stream::{StreamBounds, StreamFormat, StreamSpec};
pub use websocket::{Match, MessageKind, WebSocketSpec};

/// One run of the engine: some workloads, side by side, for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own, as it stands in the record"
)]
pub struct RunSpec {
    pub seed: u64,
    /// Worker threads, at least 1. Clients and arrivals are dealt to them in turn.
    pub threads: usize,
    /// Thread `i` is pinned to `cores[i % cores.len()]`; not pinned when empty.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// Threads run before all others of their core (`SCHED_RR`, lowest priority), so that a paced load is
    /// sent on time. The system must allow it.
    #[serde(default)]
    pub real_time: bool,
    /// Threads wait awake while an answer or a due time is near, instead of sleeping until the kernel wakes them up. A
    /// wake-up takes longer than a fast server does; the price is a core for each thread. Not together with
    /// `real_time`: the kernel takes 50 ms of every second from such a thread if it never sleeps.
    #[serde(default)]
    pub attentive: bool,
    /// The run ends after this time; `None`: when every measured workload has had all of its requests.
    pub duration_ns: Option<u64>,
    /// Length of an interval of the record, 10 ms to 60 s.
    pub interval_ns: u64,
    /// Keep a row for every request of the measured workloads, streamed out with each interval.
    #[serde(default)]
    pub rows: bool,
    /// Show every request of a journey and its answer, streamed out with each interval: for trying a journey, not for a
    /// load.
    #[serde(default)]
    pub trace: bool,
    /// Start at this wall-clock time, so that several generators start together; at once when `None`.
    #[serde(default)]
    pub start_unix_ns: Option<u64>,
    /// This generator's share of the load, where several bear it together; all of it when `None`.
    #[serde(default)]
    pub share: Option<ShareSpec>,
    pub workloads: Vec<WorkloadSpec>,
}

/// Generator `index` (from 0) of `of` equal ones, which have the same specification but for this and `cores`.
/// Everything that is dealt to worker threads in turn is dealt to the threads of all of them, so that together
/// they are one generator with that many threads: same clients, same arrivals, same parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareSpec {
    pub index: usize,
    pub of: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    pub name: String,
    pub role: Role,
    pub target: TargetSpec,
    /// At least one.
    pub requests: Vec<RequestSpec>,
    #[serde(default)]
    pub order: Order,
    /// Where there are any, clients go on journeys, chosen by weight, whose steps make the `requests`. Numbers of
    /// requests in the load then are numbers of journeys.
    #[serde(default)]
    pub journeys: Vec<JourneySpec>,
    /// Values that a client on journeys keeps.
    #[serde(default)]
    pub slots: usize,
    pub load: LoadSpec,
    pub timeouts: TimeoutSpec,
    /// A longer body is not read to its end: `too_large`. No limit when `None`.
    #[serde(default)]
    pub body_limit: Option<u64>,
    /// Redirects are followed; without it they are answers like any other.
    #[serde(default)]
    pub redirects: Option<RedirectSpec>,
}

/// How redirects are followed, as `curl -L` does: each is a request of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedirectSpec {
    /// Of one request, at least 1; one more is a failure.
    pub most: u32,
    /// Hosts to which a redirect may lead, beside that of the target.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// A background workload ends with the run and never keeps it alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Measured,
    Background,
}

/// How the next request is chosen where there are several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// At random, by weight.
    #[default]
    Weighted,
    /// Each client takes them one after another and begins again.
    Sequence,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// Host as written in the URL: for the `Host` header, name resolution and SNI.
    pub host: String,
    pub port: u16,
    /// Where to connect instead of resolving `host`: `IP:PORT` or `unix:/path`, used in turn.
    #[serde(default)]
    pub connect_to: Vec<String>,
    /// Resolve the host for every connection, and not once before the run.
    #[serde(default)]
    pub resolve_each: bool,
    /// Local addresses to bind to, in turn: each brings its own range of ports.
    #[serde(default)]
    pub source_addresses: Vec<std::net::IpAddr>,
    #[serde(default)]
    pub tls: Option<TlsSpec>,
    /// HTTP/2, by ALPN over TLS and with prior knowledge without; HTTP/1.1 when `None`.
    #[serde(default)]
    pub http2: Option<Http2Spec>,
    #[serde(default = "yes")]
    pub nodelay: bool,
}

/// A client is one stream at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http2Spec {
    /// Connections that the clients of all threads share, as many streams on each; a multiple of the number of
    /// threads. Each client has a connection of its own when `None`.
    #[serde(default)]
    pub connections: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSpec {
    /// Do not verify the server's certificate.
    #[serde(default)]
    pub insecure: bool,
    /// PEM text of the authorities to trust instead of the built-in ones.
    #[serde(default)]
    pub ca_pem: Option<String>,
    /// PEM text of the client's certificate chain and private key.
    #[serde(default)]
    pub client_cert_pem: Option<String>,
    #[serde(default)]
    pub client_key_pem: Option<String>,
    /// Name for SNI and verification when it is not `host`.
    #[serde(default)]
    pub server_name: Option<String>,
    #[serde(default)]
    pub alpn: Vec<String>,
    /// `"1.2"` or `"1.3"` only; both when `None`.
    #[serde(default)]
    pub version: Option<String>,
    /// Each client resumes its own sessions where the server lets it, as a returning visitor; else every handshake is
    /// a full one, as a new visitor's.
    #[serde(default)]
    pub resume: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// Its own name in the results.
    pub name: String,
    #[serde(default = "one")]
    pub weight: u32,
    pub method: String,
    /// Path and query, as on the request line. `{name}` is filled from `params`; over a WebSocket, and of raw bytes, it
    /// is filled in what is sent.
    pub path: String,
    /// As given; `Host`, `Content-Length` and `User-Agent` are added unless they are here.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body's bytes, base64.
    #[serde(default)]
    pub body_base64: Option<String>,
    #[serde(default)]
    pub expect: ExpectSpec,
    #[serde(default)]
    pub params: std::collections::BTreeMap<String, ParamSpec>,
    /// Of a step: `{name}` is filled in header values and in the body, too, where `params` has the name, and every value
    /// is escaped for its place. This says what the body is.
    #[serde(default)]
    pub fill: Option<Fill>,
    /// Of a step: the client's cookies are sent.
    #[serde(default)]
    pub cookies: bool,
    /// A right answer is a stream of events.
    #[serde(default)]
    pub stream: Option<StreamSpec>,
    /// It is a message over a WebSocket: `path` and `headers` are those of its upgrade, the body is what is sent.
    #[serde(default)]
    pub websocket: Option<WebSocketSpec>,
    /// It is bytes without a protocol: the body is what is sent.
    #[serde(default)]
    pub raw: Option<RawSpec>,
    /// It is a UDP datagram: the body is what is sent.
    #[serde(default)]
    pub datagram: Option<DatagramSpec>,
    /// It is a call of gRPC: the body is its message, or its messages.
    #[serde(default)]
    pub grpc: Option<GrpcSpec>,
}

/// How values are escaped in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Not at all.
    Text,
    Json,
    Form,
}

/// What a right answer is. Anything else is counted as `wrong_status` or `wrong_body`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// Accepted statuses; 200 to 399 when empty.
    #[serde(default)]
    pub status: Vec<u16>,
    #[serde(default)]
    pub body: Option<BodyCheck>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyCheck {
    Exact(String),
    Contains(String),
    Length(u64),
    /// Lower-case hexadecimal SHA-256 of the body.
    Sha256(String),
    /// The value at a JSON pointer (RFC 6901).
    Json {
        pointer: String,
        value: serde_json::Value,
    },
}

/// Where a path parameter's values come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamSpec {
    /// Uniform over the whole numbers `from..=to`.
    Range { from: i64, to: i64 },
    /// One of these at random.
    Choice(Vec<String>),
    /// These in turn, dealt out over all clients (rows of a CSV file).
    InTurn(Vec<String>),
    /// The number of the request among those of its client, from 0, in so many bytes (1 to 8), the highest first.
    Serial { bytes: u8 },
    /// Of a step: what the client keeps in this slot; `raw`: as it is, without escapes.
    Slot {
        slot: usize,
        #[serde(default)]
        raw: bool,
    },
    /// Of a step: a random UUID.
    Uuid,
    /// Of a step: Unix time in milliseconds.
    Now,
    /// Of a step: the number of the client, from 1.
    Client,
    /// Of a step: the number of the client's journey, from 1.
    Iteration,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LoadSpec {
    Closed(ClosedSpec),
    Open(OpenSpec),
}

/// N clients; each sends, waits for the answer, thinks, and sends again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedSpec {
    /// The most clients at any time.
    pub clients: u64,
    #[serde(default)]
    pub think: ThinkSpec,
    /// Requests of all clients together; unlimited when `None`.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Requests of one client; then it ends (and is replaced when `renew`).
    #[serde(default)]
    pub requests_per_client: Option<u64>,
    /// A client that has had its requests ends, and a new one takes its place.
    #[serde(default)]
    pub renew: bool,
    /// Requests on one connection: unlimited when `None`; 1 is "no keep-alive" (`Connection: close` is sent).
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
    /// Number of clients over time; empty: all of `clients` from the start to the end.
    #[serde(default)]
    pub phases: Vec<PhaseSpec>,
}

/// The number of clients goes from `from` to `to`: linearly, or in `steps` equal steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    pub name: String,
    pub duration_ns: u64,
    pub from: u64,
    pub to: u64,
    #[serde(default)]
    pub steps: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThinkSpec {
    #[default]
    None,
    Constant {
        ns: u64,
    },
    /// Uniform in `ns · (1 ± spread)`, 0 ≤ spread ≤ 1.
    Uniform {
        ns: u64,
        spread: f64,
    },
    Exponential {
        mean_ns: u64,
    },
    /// These in turn.
    List {
        ns: Vec<u64>,
    },
}

/// Requests are due at times that do not depend on the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSpec {
    pub arrivals: Arrivals,
    /// Rate over time; the last one holds to the end of the run. Unused with `Arrivals::Trace`.
    #[serde(default)]
    pub rates: Vec<RateSpec>,
    /// Requests in all; unlimited when `None`.
    #[serde(default)]
    pub requests: Option<u64>,
    /// The pool of connections grows to this; what is due and finds none free waits in order.
    pub max_connections: u64,
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
}

impl OpenSpec {
    /// The piece of the rate in which a request with this intended start is counted.
    #[must_use]
    pub fn phase_at(&self, intended: u64) -> usize {
        let mut start = 0_u64;
        for (index, rate) in self.rates.iter().enumerate() {
            match rate.duration_ns {
                Some(duration) if intended >= start + duration => start += duration,
                _ => return index,
            }
        }
        self.rates.len().saturating_sub(1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    Constant,
    Poisson,
    /// Intended starts, nanoseconds from the start of the run, ascending.
    Trace(Vec<u64>),
}

/// Requests per second, from `from` linearly to `to` in `duration_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSpec {
    #[serde(default)]
    pub name: String,
    pub duration_ns: Option<u64>,
    pub from: f64,
    pub to: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeoutSpec {
    /// For the name, the TCP handshake and the TLS handshake together.
    pub connect_ns: u64,
    /// From the actual send to the first byte of the answer.
    #[serde(default)]
    pub first_byte_ns: Option<u64>,
    /// From the actual send to the last byte of the answer.
    pub total_ns: u64,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}
