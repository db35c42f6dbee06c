//! Requests that are bytes, without a protocol.

use serde::{Deserialize, Serialize};

/// The request is its body's bytes, sent over a connection that carries one exchange after another; `until` says where
/// the answer ends. Method and path mean nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSpec {
    pub until: UntilSpec,
}

/// Where an answer ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntilSpec {
    /// After so many bytes, at least 1.
    Length(u64),
    /// After these bytes, base64; at least one.
    DelimiterBase64(String),
    /// Where this regular expression has first matched, at the earliest end of any match. It does not look around, and
    /// does not match the empty text.
    Regex(String),
    /// When the server closes the connection.
    Close,
}
