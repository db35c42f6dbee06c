//! Responses that are streams of events.

use serde::{Deserialize, Serialize};

use crate::spec::RequestSpec;

/// The response is a stream of events. It is complete when it ends, or earlier as `events` and `until` say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    pub format: StreamFormat,
    /// The number of events, at least 1, after which the client leaves; a stream that ends with fewer has failed.
    #[serde(default)]
    pub events: Option<u64>,
    /// The event whose data is exactly this text ends the stream and is not counted; a stream that ends without it has
    /// failed.
    #[serde(default)]
    pub until: Option<String>,
    /// After each event, the next one must come within this time.
    #[serde(default)]
    pub stall_ns: Option<u64>,
    /// The first event that counts; those before it are passed over, and a stream without it has failed.
    #[serde(default)]
    pub first: Option<EventPattern>,
    /// The events that are errors: with one of them the stream fails. Otherwise those of server-sent events that have the
    /// name "error", or whose data is a JSON object with an `error` that is an object or a text.
    #[serde(default)]
    pub fails: Option<EventPattern>,
    /// What the last event in which it is found tells by it is the number of tokens that were sent.
    #[serde(default)]
    pub usage: Option<EventPattern>,
    /// The bounds that a stream must keep to be counted as having met them.
    #[serde(default)]
    pub bounds: Option<StreamBounds>,
}

/// Something to look for in the data of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventPattern {
    /// The last match of this regular expression: its first group, if it has one.
    Regex(String),
    /// The value at this JSON pointer (RFC 6901), unless it is null, false or empty.
    Json(String),
}

/// Bounds on the timing of a stream. Those that are left out are not checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamBounds {
    /// The time from the intended start to the first event must be less than this.
    #[serde(default)]
    pub first_ns: Option<u64>,
    /// Gaps of at least this length are late.
    #[serde(default)]
    pub gap_ns: Option<u64>,
    /// The highest share of a stream's gaps that may be late, 0 to 1.
    #[serde(default)]
    pub late: f64,
    /// Round trips of at least this length are late.
    #[serde(default)]
    pub round_trip_ns: Option<u64>,
    /// The highest share of a stream's round trips that may be late, 0 to 1.
    #[serde(default)]
    pub late_round_trips: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamFormat {
    /// Server-sent events. Source: WHATWG HTML, section 9.2.
    Sse,
    /// Every non-empty line is an event.
    Lines,
    /// Every message of a WebSocket, or of the response to a gRPC call, is an event.
    Messages,
}

/// Returns why the response cannot be such a stream, if so.
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
        "the response to HEAD has no body, so it is no stream"
    } else if (request.websocket.is_some() || request.grpc.is_some())
        != (stream.format == StreamFormat::Messages)
    {
        "a stream of messages comes over a WebSocket or from a gRPC method, one of another format over HTTP"
    } else {
        return None;
    };
    Some(problem)
}
