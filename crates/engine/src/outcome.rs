//! How a request can end.

use std::fmt::Display;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Outcome {
    Ok,
    ConnectRefused,
    ConnectTimeout,
    /// Host unreachable, no local port, no descriptor, …
    ConnectFailed,
    DnsFailed,
    TlsFailed,
    Reset,
    /// The peer closed before the response was whole.
    ClosedEarly,
    ResponseTimeout,
    Malformed,
    /// Header or body limit exceeded.
    TooLarge,
    WrongStatus,
    WrongBody,
    /// Due, but not sent before the end of the run.
    NeverSent,
    /// Sent, but not answered before the end of the run.
    Unfinished,
    /// The peer closed a reused connection before any byte of this request's response came. Neither side need be at
    /// fault.
    Stale,
    /// The response was a redirect that could not be followed: too many in a row, or to a host that may not be loaded.
    RedirectFailed,
    /// The response was right, but a value to be captured was not found in it.
    CaptureFailed,
    /// The next event of a stream did not come within the allowed time.
    StreamStalled,
    /// A stream ended without all of its events.
    StreamEnded,
    /// The response is not a stream of events.
    NoStream,
    /// The server did not change to the protocol that was asked for (WebSocket).
    UpgradeRefused,
    /// The script of a journey failed: a check did not hold, or an error occurred. After a request, it is reported in
    /// addition to the outcome of that request.
    ScriptFailed,
    /// A gRPC call ended with a status other than the expected one.
    GrpcStatus,
    /// An event of a stream was an error.
    StreamError,
    /// A value that was filled in makes a request that cannot be sent. Nothing was sent.
    Unsendable,
}

impl Outcome {
    /// Whether such a request was given up before a response or a failure came, so that it is only known to take
    /// longer.
    pub fn is_censored(self) -> bool {
        matches!(
            self,
            Self::ConnectTimeout
                | Self::ResponseTimeout
                | Self::StreamStalled
                | Self::NeverSent
                | Self::Unfinished
        )
    }
}

pub const OUTCOMES: usize = 26;
pub const OUTCOME_NAMES: [&str; OUTCOMES] = [
    "ok",
    "connect_refused",
    "connect_timeout",
    "connect_failed",
    "dns_failed",
    "tls_failed",
    "reset",
    "closed_early",
    "response_timeout",
    "malformed",
    "too_large",
    "wrong_status",
    "wrong_body",
    "never_sent",
    "unfinished",
    "stale",
    "redirect_failed",
    "capture_failed",
    "stream_stalled",
    "stream_ended",
    "no_stream",
    "upgrade_refused",
    "script_failed",
    "grpc_status",
    "stream_error",
    "unsendable",
];

/// How a failed request is counted, and why it failed.
#[derive(Debug, Clone)]
pub struct Failure {
    pub outcome: Outcome,
    pub why: String,
}

impl Failure {
    pub fn new(outcome: Outcome, why: impl Display) -> Self {
        let why = why.to_string();
        Self { outcome, why }
    }

    /// Counts a lost connection as stale if it had carried requests before and nothing of this response had come: the
    /// server may have closed it before it saw the request.
    #[must_use]
    pub fn if_unseen(mut self, reused: bool, answered: bool) -> Self {
        if reused && !answered && matches!(self.outcome, Outcome::ClosedEarly | Outcome::Reset) {
            self.outcome = Outcome::Stale;
        }
        self
    }
}
