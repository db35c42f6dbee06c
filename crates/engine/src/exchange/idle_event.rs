//! What happens on a connection between exchanges.

/// What the server did on a connection while no request was under way on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleEvent {
    Closed,
    /// Sent bytes that belong to no response, as described.
    UnexpectedData(&'static str),
    /// Sent a response with this status, with which it closes the connection.
    Dismissed(u16),
    /// Did not answer a ping.
    PingTimeout,
}
