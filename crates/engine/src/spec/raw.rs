//! Requests that are raw bytes, without a protocol.

use serde::{Deserialize, Serialize};

use crate::spec::{RequestSpec, WorkloadSpec};

/// The request's body is sent as it is, over a connection that carries one exchange after another.
///
/// `until` says where the response ends. Method and path have no meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSpec {
    pub until: UntilSpec,
}

/// Where a response ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntilSpec {
    /// After this many bytes, at least 1.
    Length(u64),
    /// After these bytes, in base64; at least one.
    DelimiterBase64(String),
    /// After the first match of this regular expression, at the earliest end of any match. It must not contain
    /// look-around assertions (`^`, `$`, `\b`), and must not match the empty text.
    Regex(String),
    /// When the server closes the connection.
    Close,
}

/// Returns why the request cannot be sent like this, if so.
///
/// A client has one connection, which either speaks HTTP or carries raw bytes.
pub(super) fn problem(workload: &WorkloadSpec, request: &RequestSpec) -> Option<&'static str> {
    let first = &workload.requests[0];
    let problem = match &request.raw {
        None if first.raw.is_none() => return None,
        None => "a workload has requests of one kind: all of them raw bytes, or none",
        Some(_) if first.raw.is_none() => {
            "a workload has requests of one kind: all of them raw bytes, or none"
        }
        Some(_) if !workload.journeys.is_empty() => "steps of journeys are no raw bytes yet",
        Some(_) if workload.target.http2.is_some() => "raw bytes are no HTTP: leave out http2",
        Some(_) if workload.redirects.is_some() => "raw bytes are no HTTP: leave out redirects",
        Some(_) if !request.headers.is_empty() => "raw bytes have no headers",
        Some(_) if request.websocket.is_some() => "it is raw bytes, or goes over a WebSocket",
        Some(_) if request.stream.is_some() => "a response of raw bytes is no stream of events",
        Some(_) if !request.expect.status.is_empty() => "a response of raw bytes has no status",
        Some(_)
            if request
                .body_base64
                .as_deref()
                .unwrap_or_default()
                .is_empty() =>
        {
            "nothing is sent, so that nothing answers it"
        }
        Some(raw) => match (&raw.until, workload.body_limit) {
            (UntilSpec::Length(length), Some(limit)) if *length > limit => {
                "until: a length beyond body_limit can never be reached"
            }
            _ => return None,
        },
    };
    Some(problem)
}
