//! What a run is: the load, stated exactly.
//!
//! A [`RunSpec`] is data only. Python builds it from a plan, sends it as JSON, and it stands in the record as
//! it ran. All times are whole nanoseconds, all rates are per second, every random choice follows from `seed`.

mod datagram;
pub(crate) mod error;
mod grpc;
mod http2;
mod journey;
mod load;
mod params;
mod raw;
mod rows;
mod stream;
pub(crate) mod validate;
mod websocket;

pub use datagram::{DatagramMatch, DatagramSpec};
pub use grpc::GrpcSpec;
pub use http2::Http2Spec;
pub use journey::{
    CaptureSpec, ConditionSpec, FeedEach, FeedOrder, FeedSpec, JourneySpec, OnCaptureFailed,
    OnFailure, ScriptSpec, SourceSpec, StepSpec, TestSpec, UrlSpec,
};
pub use load::{Arrivals, ClosedSpec, LoadSpec, OpenSpec, PhaseSpec, RateSpec, ThinkSpec};
pub use params::ParamSpec;
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
    /// Redirects are followed, and where journeys may ask for URLs; without it redirects are answers like any other.
    #[serde(default)]
    pub redirects: Option<RedirectSpec>,
}

/// How redirects are followed, as `curl -L` does: each is a request of its own; and where URLs may lead for which
/// journeys ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedirectSpec {
    /// Of one request; one more is a failure. 0: they are answers like any other.
    pub most: u32,
    /// Hosts to which a redirect or a URL may lead, beside that of the target.
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
