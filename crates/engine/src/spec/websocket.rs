//! Requests that are messages over a WebSocket.

use serde::{Deserialize, Serialize};

use crate::spec::{RequestSpec, WorkloadSpec};

/// The request is a message over a WebSocket, which is opened with a GET of its path.
///
/// The socket carries one message after another. With a `stream` of the format `messages`, the response is several
/// messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSocketSpec {
    /// What the request's body is sent as; when `None`, nothing is sent and the client only listens.
    pub message: Option<MessageKind>,
    #[serde(default, rename = "match")]
    pub matched: Match,
    /// The interval at which the client sends pings. It gives the socket up if a pong takes longer than this.
    #[serde(default)]
    pub ping_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    Text,
    Binary,
}

/// Which message is the response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// The next one.
    #[default]
    Order,
    /// The next one that is equal to what was sent; others are ignored.
    Echo,
    /// The next one that has the same value at this JSON pointer (RFC 6901, not empty) as what was sent; others are
    /// ignored.
    Field(String),
}

/// Returns why the request cannot be sent like this, if so.
///
/// A client has one WebSocket, which is its only connection, or an additional one if it goes on journeys.
pub(super) fn problem(workload: &WorkloadSpec, request: &RequestSpec) -> Option<&'static str> {
    let steps = !workload.journeys.is_empty();
    let mut all = workload.requests.iter();
    let first = if steps {
        all.find(|request| request.websocket.is_some())
    } else {
        all.next()
    };
    let first = first.unwrap_or(request);
    let ping = |request: &RequestSpec| request.websocket.as_ref().and_then(|socket| socket.ping_ns);
    let problem = match &request.websocket {
        None if steps || first.websocket.is_none() => return None,
        None => "a workload has requests of one kind: all of them over a WebSocket, or none",
        Some(_) if first.websocket.is_none() => {
            "a workload has requests of one kind: all of them over a WebSocket, or none"
        }
        Some(_) if (&request.path, &request.headers) != (&first.path, &first.headers) => {
            "messages of a workload go over the same WebSocket: path and headers must be equal"
        }
        Some(_) if ping(request) != ping(first) => {
            "messages of a workload go over the same WebSocket: ping_ns must be equal"
        }
        Some(_) if ping(request) == Some(0) => "ping_ns is 0: no pong comes in no time",
        Some(_) if workload.target.http2.is_some() => {
            "a WebSocket is opened over HTTP/1.1 only: leave out http2"
        }
        Some(_) if request.method != "GET" => "a WebSocket is opened with GET",
        Some(_) if !request.expect.status.is_empty() => "a message has no status",
        Some(socket) if socket.message.is_none() && request.stream.is_none() => {
            "nothing is sent, so that nothing answers it: read a stream of messages"
        }
        Some(socket) if socket.message.is_none() && request.body_base64.is_some() => {
            "it has a message, and sends none"
        }
        Some(socket) if socket.matched == Match::Echo => {
            if request.stream.is_none() && request.expect.checks().next().is_none() {
                return None;
            }
            "an echo is one message, and equal to the one that was sent"
        }
        Some(socket) if matches!(&socket.matched, Match::Field(pointer) if !pointer.starts_with('/')) => {
            "the JSON pointer of its match does not begin with '/'"
        }
        Some(WebSocketSpec {
            matched: Match::Field(_),
            message,
            ..
        }) if message.is_none() || request.stream.is_some() => {
            "a response with the same value is one message, and to one that was sent"
        }
        Some(_) => return None,
    };
    Some(problem)
}
