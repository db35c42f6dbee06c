//! HTTP/2 and the connections that clients share.

use serde::{Deserialize, Serialize};

use crate::spec::WorkloadSpec;
use crate::spec::error::StartError;
use crate::spec::load::MAX_CLIENTS;

/// A client uses one stream at a time, or one for each step that is sent together with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http2Spec {
    /// The number of connections that the clients of all threads share evenly; a multiple of the number of threads.
    /// Each client has a connection of its own when `None`.
    #[serde(default)]
    pub connections: Option<u64>,
}

/// Clients can share connections evenly only if every thread has the same number of them.
pub(super) fn check(workload: &WorkloadSpec, threads: u64) -> Result<(), StartError> {
    let field = "target.http2.connections";
    let Some(http2) = &workload.target.http2 else {
        return check_upgrade(workload);
    };
    let Some(connections) = http2.connections else {
        return Ok(());
    };
    let problem = if connections == 0 || connections > MAX_CLIENTS {
        format!("{connections} is not between 1 and {MAX_CLIENTS}")
    } else if connections % threads != 0 {
        format!(
            "{connections} connections cannot be shared evenly by {threads} threads: give a multiple of {threads}, or \
             fewer threads"
        )
    } else if workload.load.requests_per_connection().is_some() {
        "requests_per_connection does not go with connections that clients share: leave out one of them".into()
    } else {
        return Ok(());
    };
    Err(StartError::invalid(&workload.name, field, problem))
}

/// Rejects an upgrade to h2c, which RFC 9113 section 3.1 has abolished and servers no longer support.
fn check_upgrade(workload: &WorkloadSpec) -> Result<(), StartError> {
    let upgrades = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("upgrade") && value.trim().eq_ignore_ascii_case("h2c")
    };
    for request in &workload.requests {
        if request.headers.iter().any(upgrades) {
            let field = format!("request {:?}", request.name);
            let problem = "no connection is upgraded to HTTP/2 in mid-course (RFC 9113 section 3.1): leave out the \
                           header Upgrade, and let the target speak http2 from the start";
            return Err(StartError::invalid(&workload.name, &field, problem));
        }
    }
    Ok(())
}
