//! Why a document, or a value in it, cannot be read: what follows "cannot be read as JSON: ".

use std::fmt;

use crate::search::json::MAX_DEPTH;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    pub what: What,
    /// The offset of the byte at which it was noticed, counted from the begin of the document.
    pub at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Empty,
    Ends,
    Byte(u8),
    AfterEnd(u8),
    Control(u8),
    Escape,
    Surrogate,
    Utf8,
    Deep,
}

impl Problem {
    pub fn new(what: What, at: u64) -> Self {
        Self { what, at }
    }

    /// The same problem in a document in which the value that was read begins at `begin`.
    pub fn within(self, begin: u64) -> Self {
        Self {
            at: self.at + begin,
            ..self
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.what {
            What::Empty => f.write_str("it is empty"),
            What::Ends => write!(f, "it ends too early, after {at} bytes"),
            What::Byte(byte) => write!(f, "{} at byte {at}", Shown(byte)),
            What::AfterEnd(byte) => {
                write!(f, "{} after its end, at byte {at}", Shown(byte))
            }
            What::Control(byte) => {
                write!(f, "{} unescaped in a string, at byte {at}", Shown(byte))
            }
            What::Escape => write!(f, "an escape that JSON has not, at byte {at}"),
            What::Surrogate => write!(
                f,
                "half of a surrogate pair (\\ud800 to \\udfff), which is no character, at byte {at}"
            ),
            What::Utf8 => write!(f, "not UTF-8 at byte {at}"),
            What::Deep => write!(f, "nested deeper than {MAX_DEPTH} at byte {at}"),
        }
    }
}

/// A byte as it is shown to people.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ b'!'..=b'~' => write!(f, "'{}'", char::from(byte)),
            byte => write!(f, "byte 0x{byte:02X}"),
        }
    }
}
