//! Journeys as scripts (Luau), for what a sequence of steps cannot express.
//!
//! ```text
//!  source ─► lexer ─► sites ─► (requests by number) ─► vm ─► request, pause, end ─► the traveller
//!                                                       ▲                              │
//!                                                       └─────────── reply ◄───────────┘
//! ```
//!
//! There is one virtual machine per worker, and one coroutine per client. A script has no files, no sockets and no
//! clock but `now`; the time and memory that it may take are bounded ([`guard`], [`vm`]).

mod answer;
mod collector;
mod coroutines;
mod edit;
mod guard;
mod json;
mod lexer;
mod natives;
mod options;
mod request;
mod sites;
mod stack;
mod vm;

pub use sites::{Site, is_unseen, reads_headers};
pub use vm::{Start, Vm, Walk};

use super::capture::Missing;
use crate::record::interval::Outcome;

/// The number of the tap that keeps the body, among those of a script's request.
pub const SCRIPT_TAP: usize = 0;

/// One script of a run.
#[derive(Debug, Clone)]
pub struct Script {
    /// File name, as errors show it.
    pub file: String,
    /// The source, with the numbers of its requests written into it.
    pub source: String,
    /// The methods of its requests, by number.
    pub methods: Vec<String>,
    /// What goes into `Host`.
    pub authority: String,
    /// The value of `Authorization` for requests that set none.
    pub authorization: Option<String>,
    pub cookies: bool,
    /// Names of the feeds' columns, and the slots of their values.
    pub columns: Vec<(String, usize)>,
    /// Whether its pauses are as long as it asks for; when it is only tried out, they are cut to the shortest.
    pub sleeps: bool,
}

/// How a request of a script has ended.
#[derive(Debug)]
pub struct Reply {
    pub outcome: Outcome,
    /// 0 if there was no answer.
    pub status: u16,
    pub head: Option<Box<[u8]>>,
    /// `None` if there was no complete answer.
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

/// Returns the requests of a script, and its source with their numbers.
///
/// The error says what is wrong, and in which line.
pub fn outline(file: &str, source: &str) -> Result<(Vec<Site>, String), String> {
    compile(file, source)?;
    sites::find(file, source)
}

/// Loads a script, and returns its requests in the order of their numbers.
///
/// The error says what is wrong, and in which line.
pub fn requests(file: &str, source: &str) -> Result<Vec<Site>, String> {
    let (sites, source) = outline(file, source)?;
    let methods = sites.iter().map(|site| site.method.clone());
    let script = Script {
        file: file.into(),
        source,
        methods: methods.collect(),
        authority: String::new(),
        authorization: None,
        cookies: false,
        columns: Vec::new(),
        sleeps: true,
    };
    Vm::new(&[script], 1, false)?;
    Ok(sites)
}

fn compile(file: &str, source: &str) -> Result<(), String> {
    match mlua::chunk::Compiler::new().compile(source) {
        Ok(_) => Ok(()),
        Err(mlua::Error::SyntaxError { message, .. }) => Err(format!("{file}:{message}")),
        Err(error) => Err(format!("{file}: {error}")),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
