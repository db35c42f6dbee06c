//! Requests that are datagrams.

use serde::{Deserialize, Serialize};

use crate::spec::{RequestSpec, WorkloadSpec};

/// What fits into one datagram over IPv4: 65,535 bytes less the headers of IP and UDP.
const MAX_BYTES: usize = 65_507;

/// The request's body is sent as one UDP datagram; the response is one as well. Method and path have no meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatagramSpec {
    #[serde(default, rename = "match")]
    pub matched: DatagramMatch,
}

/// Which datagram is the response. All but `Order` also recognise responses that are duplicate, late, or to no request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatagramMatch {
    /// The next one.
    #[default]
    Order,
    /// The next one that is equal to what was sent.
    Echo,
    /// The next one that has the same bytes at `from..to` as what was sent; `from < to`.
    Bytes { from: usize, to: usize },
    /// The next one in which this regular expression finds the same as in what was sent: its first group, or the whole
    /// match if it has no groups.
    Regex(String),
}

/// Returns why the request cannot be sent like this, if so.
///
/// A client has one socket, which carries either datagrams or a connection.
pub(super) fn problem(workload: &WorkloadSpec, request: &RequestSpec) -> Option<&'static str> {
    let first = workload.requests[0].datagram.as_ref();
    let (datagram, target) = (request.datagram.as_ref(), &workload.target);
    let body = request.body_base64.as_deref().unwrap_or_default();
    let bytes = body.trim_end_matches('=').len() * 3 / 4;
    if datagram.is_some() != first.is_some() {
        Some("a workload has requests of one kind: all of them datagrams, or none")
    } else if datagram.is_none() {
        None
    } else if datagram != first {
        Some(
            "responses of a workload are known in one way: match must be the same for all requests",
        )
    } else if !workload.journeys.is_empty() {
        Some("steps of journeys are no datagrams yet")
    } else if target.http2.is_some() || workload.redirects.is_some() {
        Some("datagrams are no HTTP: leave out http2 and redirects")
    } else if target.tls.is_some() {
        Some("datagrams go without TLS: leave out tls")
    } else if target.connect_to.iter().any(|to| to.starts_with("unix:")) {
        Some("datagrams go over UDP, and not over a unix socket")
    } else if request.websocket.is_some() || request.raw.is_some() {
        Some("it is a datagram, or goes over a connection")
    } else if request.stream.is_some() {
        Some("a response of one datagram is no stream of events")
    } else if !request.headers.is_empty() || !request.expect.status.is_empty() {
        Some("a datagram has no headers and no status")
    } else if bytes == 0 {
        Some("nothing is sent, so that nothing answers it")
    } else if bytes > MAX_BYTES {
        Some("a datagram has at most 65,507 bytes")
    } else {
        None
    }
}
