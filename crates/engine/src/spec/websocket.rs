//! Requests that are messages over a WebSocket.

use serde::{Deserialize, Serialize};

/// The request is a message over a WebSocket, which is opened with a GET of its path and carries one message after
/// another. With `stream`, of the format `messages`, the answer is several messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSocketSpec {
    /// What the request's body is sent as; `None`: nothing is sent, and the client listens.
    pub message: Option<MessageKind>,
    #[serde(default, rename = "match")]
    pub matched: Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    Text,
    Binary,
}

/// Which message is the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// The next one.
    #[default]
    Order,
    /// The next one that is equal to what was sent; others are passed over.
    Echo,
    /// The next one that has the same value as what was sent at this JSON pointer (RFC 6901), which is not empty; others
    /// are passed over.
    Field(String),
}
