//! The exact specification of a run.
//!
//! A [`RunSpec`] is pure data. Python builds it from a plan and sends it as JSON, and the record contains it as it ran.
//! All times are whole nanoseconds, all rates are per second, and every random choice follows from `seed`.

mod datagram;
pub(crate) mod error;
mod grpc;
mod http2;
mod journey;
mod load;
mod params;
mod raw;
mod rows;
mod steer;
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
pub use params::{ParamSpec, Written};
pub use raw::{RawSpec, UntilSpec};
pub use rows::FeedRows;
use serde::{Deserialize, Serialize};
pub use steer::{Change, Continuation, SteerError, Steered};
pub use stream::{EventPattern, StreamBounds, StreamFormat, StreamSpec};
pub use websocket::{Match, MessageKind, WebSocketSpec};

/// One run of the engine: one or more workloads, side by side.
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
    /// Thread `i` is pinned to `cores[i % cores.len()]`; threads are not pinned when this is empty.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// Whether threads take precedence over ordinary ones on their core (`SCHED_RR`, lowest priority), so that a paced
    /// load is sent on time. The system must allow it.
    #[serde(default)]
    pub real_time: bool,
    /// Whether threads busy-poll instead of sleeping while a response or a due time is near.
    ///
    /// A wake-up by the kernel takes longer than a fast server's response; the price is a core for each thread. Must
    /// not be combined with `real_time`: the kernel takes 50 ms of every second from a real-time thread that never
    /// sleeps.
    #[serde(default)]
    pub busy_poll: bool,
    /// The run ends after this time; when `None`, once every measured workload has made all of its requests.
    pub duration_ns: Option<u64>,
    /// The length of an interval of the record, 10 ms to 60 s.
    pub interval_ns: u64,
    /// Whether to record a row for every request of the measured workloads; rows are delivered with each interval.
    #[serde(default)]
    pub rows: bool,
    /// Whether to record every request of a journey and its response, delivered with each interval. Meant for trying a
    /// journey, not for a load.
    #[serde(default)]
    pub trace: bool,
    /// The wall-clock time at which to start, so that several generators start together; at once when `None`.
    #[serde(default)]
    pub start_unix_ns: Option<u64>,
    /// This generator's share, if several generate the load together; the whole load when `None`.
    #[serde(default)]
    pub share: Option<ShareSpec>,
    pub workloads: Vec<WorkloadSpec>,
}

/// Generator `index` (from 0) of `of` equal ones, whose specifications differ only in this and in `cores`.
///
/// Everything that is dealt to worker threads in turn is dealt to the threads of all generators, so that together they
/// act as one generator with that many threads: same clients, same arrivals, same parameters.
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
    /// If there are any, clients go on journeys, chosen by weight, whose steps make the `requests`. Numbers of requests
    /// in the load are then numbers of journeys.
    #[serde(default)]
    pub journeys: Vec<JourneySpec>,
    /// The number of values that a client on journeys can keep.
    #[serde(default)]
    pub slots: usize,
    pub load: LoadSpec,
    pub timeouts: TimeoutSpec,
    /// A longer body is not read to its end, and counted as `too_large`. No limit when `None`.
    #[serde(default)]
    pub body_limit: Option<u64>,
    /// How redirects are followed, and where the URLs that journeys ask for may lead; when `None`, redirects are
    /// responses like any other.
    #[serde(default)]
    pub redirects: Option<RedirectSpec>,
}

/// How redirects are followed, and where the URLs that journeys ask for may lead.
///
/// Followed are the statuses 301, 302, 303, 307 and 308; each redirect is a request of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedirectSpec {
    /// Redirects of one request; one more is a failure. When 0, redirects are responses like any other.
    #[serde(rename = "most")]
    pub max_redirects: u32,
    /// Hosts to which a redirect or a URL may lead, besides that of the target.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// Whether a workload is measured. A background workload ends with the run and never keeps it alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Measured,
    Background,
}

/// How the next request is chosen if there are several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// At random, by weight.
    #[default]
    Weighted,
    /// Each client makes them one after another and then begins again.
    Sequence,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// The host, in ASCII: for the `Host` header, name resolution and SNI. The zone of an IPv6 address (`fe80::1%eth0`)
    /// is for connecting only.
    pub host: String,
    pub port: u16,
    /// Where to connect instead of resolving `host`: each is `IP:PORT`, `unix:/path` or `unix:@name` (of the abstract
    /// namespace); used in turn. An IPv6 address may have a zone: `[fe80::1%eth0]:80`.
    #[serde(default)]
    pub connect_to: Vec<String>,
    /// Whether to resolve the host for every connection rather than once before the run.
    #[serde(default)]
    pub resolve_each: bool,
    /// Local addresses to bind to, in turn; each has a range of ports of its own.
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
    /// Whether not to verify the server's certificate.
    #[serde(default)]
    pub insecure: bool,
    /// PEM text of the certificate authorities to trust instead of the built-in ones.
    #[serde(default)]
    pub ca_pem: Option<String>,
    /// PEM text of the client's certificate chain; its private key is in `client_key_pem`.
    #[serde(default)]
    pub client_cert_pem: Option<String>,
    #[serde(default)]
    pub client_key_pem: Option<String>,
    /// The name for SNI and verification, if it is not `host`.
    #[serde(default)]
    pub server_name: Option<String>,
    #[serde(default)]
    pub alpn: Vec<String>,
    /// The only TLS version to use, `"1.2"` or `"1.3"`; both are allowed when `None`.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether each client resumes its own sessions if the server allows it, like a returning visitor. Otherwise every
    /// handshake is a full one, like that of a new visitor.
    #[serde(default)]
    pub resume: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// The request's name in the results.
    pub name: String,
    #[serde(default = "one")]
    pub weight: u32,
    pub method: String,
    /// Path and query, as on the request line. `{name}` is filled from `params`; in requests that are WebSocket
    /// messages, raw bytes or datagrams, it is filled in the body that is sent.
    pub path: String,
    /// Sent as given; `Host`, `Content-Length` and `User-Agent` are added unless they are here.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Names of headers that are not sent, not even where they would be added.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The body's bytes in base64.
    #[serde(default)]
    pub body_base64: Option<String>,
    #[serde(default)]
    pub expect: ExpectSpec,
    #[serde(default)]
    pub params: std::collections::BTreeMap<String, ParamSpec>,
    /// For steps only: `{name}` is also filled in header values and in the body if `params` has the name, and every
    /// value is escaped for its place. This says what the body is.
    #[serde(default)]
    pub fill: Option<Fill>,
    /// For steps only: whether the client's cookies are sent, and those of the response kept.
    #[serde(default)]
    pub cookies: bool,
    /// Set if a right response is a stream of events.
    #[serde(default)]
    pub stream: Option<StreamSpec>,
    /// Set if it is a WebSocket message: `path` and `headers` are those of the upgrade, and the body is what is sent.
    #[serde(default)]
    pub websocket: Option<WebSocketSpec>,
    /// Set if it is raw bytes without a protocol: the body is what is sent.
    #[serde(default)]
    pub raw: Option<RawSpec>,
    /// Set if it is a UDP datagram: the body is what is sent.
    #[serde(default)]
    pub datagram: Option<DatagramSpec>,
    /// Set if it is a gRPC call: the body is its message, or its messages.
    #[serde(default)]
    pub grpc: Option<GrpcSpec>,
}

/// What a body is, and so how values are escaped in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Values are not escaped.
    Text,
    Json,
    Form,
}

/// What a right response is. Anything else is counted as `wrong_status` or `wrong_body`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// The accepted statuses; 200 to 399 when empty.
    #[serde(default)]
    pub status: Vec<u16>,
    #[serde(default)]
    pub body: Option<BodyCheck>,
    /// What the body must not contain, whatever else it must be.
    #[serde(default)]
    pub lacks: Option<String>,
}

impl ExpectSpec {
    /// Everything that is checked of the body.
    pub fn checks(&self) -> impl Iterator<Item = BodyCheck> {
        let lacks = self.lacks.clone().map(BodyCheck::Lacks);
        self.body.clone().into_iter().chain(lacks)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyCheck {
    Exact(String),
    Contains(String),
    Lacks(String),
    Length(u64),
    /// The SHA-256 of the body in lower-case hexadecimal.
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
    /// From the actual send to the first byte of the response.
    #[serde(default)]
    pub first_byte_ns: Option<u64>,
    /// From the actual send to the last byte of the response.
    pub total_ns: u64,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}
