//! Why a value was not found.

use std::fmt;

use crate::search::json::Problem;

/// The longest value that is captured unless the capture has a limit of its own, in bytes.
pub const MAX_VALUE_BYTES: usize = 16 * 1024;

/// Why nothing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Nothing,
    /// The value is longer than so many bytes.
    TooLong(usize),
    /// No match of at most so many bytes was in a body of more.
    NoMatch {
        max_bytes: usize,
        body: u64,
    },
    /// The document cannot be read.
    Json(Problem),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("found nothing"),
            Self::TooLong(max_bytes) => {
                write!(f, "found more than {max_bytes} bytes, which is its limit")
            }
            Self::NoMatch { max_bytes, body } => write!(
                f,
                "found no match of at most {max_bytes} bytes, which is its limit, in {body} bytes"
            ),
            Self::Json(problem) => write!(f, "cannot be read as JSON: {problem}"),
        }
    }
}
