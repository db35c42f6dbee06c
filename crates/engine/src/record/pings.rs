//! Pings that clients send over a WebSocket.

use hdrhistogram::Histogram;

use crate::record::histogram::{histogram, record};
use crate::record::sorted;

/// The pings over the sockets that one request of one workload opened, within an interval. Sending, answering and
/// giving up are each counted in the interval in which they happen. Pings that are neither answered nor given up were
/// under way when their socket or the load ended.
#[derive(Debug, Clone)]
pub struct PingSeries {
    pub workload: u32,
    pub request: u32,
    /// A ping is due → its pong, microseconds.
    pub round_trips: Histogram<u64>,
    pub sent: u64,
    /// Pings whose pong did not come in time, so that the client gave up its socket.
    pub unanswered: u64,
}

impl PingSeries {
    fn new(workload: u32, request: u32) -> Self {
        Self {
            workload,
            request,
            round_trips: histogram(),
            sent: 0,
            unanswered: 0,
        }
    }

    pub fn answered(&mut self, ns: u64) {
        record(&mut self.round_trips, ns);
    }
}

/// Merges series from another worker or another interval.
pub fn append(series: &mut Vec<PingSeries>, others: &[PingSeries]) {
    for other in others {
        let sum = find(series, other.workload, other.request);
        sum.round_trips += &other.round_trips;
        sum.sent += other.sent;
        sum.unanswered += other.unanswered;
    }
}

pub fn find(series: &mut Vec<PingSeries>, workload: u32, request: u32) -> &mut PingSeries {
    sorted::entry(
        series,
        |one| (one.workload, one.request),
        &(workload, request),
        || PingSeries::new(workload, request),
    )
}
