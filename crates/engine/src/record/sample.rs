//! One request as its client knows it: when it was due, what became of it, and when.

use crate::outcome::Outcome;
use crate::record::stream_sample::StreamSample;

/// One request, from the moment when it was due. Times are nanoseconds from the start of the run.
#[derive(Debug, Clone)]
pub struct Sample {
    pub workload: usize,
    pub request: usize,
    pub phase: usize,
    pub client: u32,
    pub intended: u64,
    /// When the client's code ran, if it had to be woken for the intended start.
    pub ran: Option<u64>,
    /// Boxed because every client has room for a sample, and most requests open no connection.
    pub connect: Option<Box<ConnectTimes>>,
    pub sent: Option<u64>,
    pub headers: Option<u64>,
    pub end: u64,
    pub outcome: Outcome,
    /// Why it failed, if there is more to say than its outcome and status.
    pub why: Option<Box<str>>,
    /// 0 if there was no response.
    pub status: u16,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Set once something was found in a stream. Boxed because few responses are streams.
    pub stream: Option<Box<StreamSample>>,
}

impl Sample {
    /// A request that has become due, with nothing else known about it yet.
    pub fn due(
        workload: usize,
        request: usize,
        phase: usize,
        client: u32,
        intended: u64,
        ran: Option<u64>,
    ) -> Self {
        Self {
            workload,
            request,
            phase,
            client,
            intended,
            ran,
            connect: None,
            sent: None,
            headers: None,
            end: 0,
            outcome: Outcome::NeverSent,
            why: None,
            status: 0,
            bytes_in: 0,
            bytes_out: 0,
            stream: None,
        }
    }

    /// Notes that the client's code runs, if it had to be woken for this request.
    pub fn runs(&mut self, now: u64) {
        self.ran = self.ran.map(|_| now);
    }

    /// The outcome of a request that was cut off by the end of the run.
    pub fn given_up(&self) -> Outcome {
        match self.sent {
            Some(_) => Outcome::Unfinished,
            None => Outcome::NeverSent,
        }
    }
}

/// How long opening a connection took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectTimes {
    pub total: u64,
    pub dns: Option<u64>,
    pub tcp: Option<u64>,
    pub tls: Option<u64>,
    /// Whether the TLS handshake resumed an earlier session.
    pub resumed: bool,
}
