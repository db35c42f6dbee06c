//! Answers that are streams of events.

use serde::{Deserialize, Serialize};

use super::RequestSpec;

/// The answer's body is a stream of events. It is whole when it has ended, or with `events` or `until` before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    pub format: StreamFormat,
    /// The client leaves after so many events, at least 1; a stream that ends with fewer has failed.
    #[serde(default)]
    pub events: Option<u64>,
    /// The event whose data is exactly this text ends the stream and does not count; without it the stream has failed.
    #[serde(default)]
    pub until: Option<String>,
    /// From the first event on, the next one must come within this time.
    #[serde(default)]
    pub stall_ns: Option<u64>,
    /// The first match of this regular expression in the body, or its first group, is the number of tokens that were sent.
    #[serde(default)]
    pub usage: Option<String>,
    /// What a stream has to keep to be counted as one that met its bounds.
    #[serde(default)]
    pub bounds: Option<StreamBounds>,
}

/// Whatever is left out is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamBounds {
    /// From the intended start to the first event, less than this.
    #[serde(default)]
    pub first_ns: Option<u64>,
    /// Gaps that are not shorter than this are late.
    #[serde(default)]
    pub gap_ns: Option<u64>,
    /// The share of a stream's gaps that may be late, 0 to 1.
    #[serde(default)]
    pub late: f64,
    /// Round trips that are not shorter than this are late.
    #[serde(default)]
    pub round_trip_ns: Option<u64>,
    /// The share of a stream's round trips that may be late, 0 to 1.
    #[serde(default)]
    pub late_round_trips: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamFormat {
    /// Server-sent events. Source: WHATWG HTML, section 9.2.
    Sse,
    /// Every line that is not empty is an event.
    Lines,
    /// Every message of a WebSocket, or of the answer to a call of gRPC, is an event.
    Messages,
}

/// Why the answer cannot be such a stream.
pub(super) fn problem(request: &RequestSpec) -> Option<&'static str> {
    let stream = request.stream.as_ref()?;
    let problem = if stream.events == Some(0) {
        "stream.events is 0: wait for at least one"
    } else if stream.until.as_deref() == Some("") {
        "stream.until is empty: give the text of the event that ends the stream"
    } else if stream.stall_ns == Some(0) {
        "stream.stall_ns is 0: no event follows another in no time"
    } else if stream.bounds.is_some_and(|bounds| {
        let shares = [bounds.late, bounds.late_round_trips];
        shares.iter().any(|share| !(0.0..=1.0).contains(share))
    }) {
        "stream.bounds: late and late_round_trips are shares from 0 to 1"
    } else if request.method == "HEAD" {
        "the answer to HEAD has no body, so it is no stream"
    } else if (request.websocket.is_some() || request.grpc.is_some())
        != (stream.format == StreamFormat::Messages)
    {
        "a stream of messages comes over a WebSocket or from a gRPC method, one of another format over HTTP"
    } else {
        return None;
    };
    Some(problem)
}
