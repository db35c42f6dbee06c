//! What goes between a script and its client.

use crate::outcome::Outcome;
use crate::search::missing::Missing;

/// What a client does next.
#[derive(Debug)]
pub enum Next {
    Step(usize),
    /// Nanoseconds.
    Pause(u64),
    End,
    /// Its script has failed: the last step it asked for (0 if there was none), and why.
    Failed(usize, String),
}

/// How a request of a script has ended.
#[derive(Debug)]
pub struct Reply {
    pub outcome: Outcome,
    /// 0 if there was no response.
    pub status: u16,
    pub head: Option<Box<[u8]>>,
    /// `None` if there was no complete response.
    pub body: Option<Result<Vec<u8>, Missing>>,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            outcome: Outcome::NeverSent,
            status: 0,
            head: None,
            body: None,
        }
    }
}
