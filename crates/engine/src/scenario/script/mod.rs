//! Journeys that are scripts (Luau): what no row of steps can say.
//!
//! ```text
//!  source ─► lexer ─► sites ─► (requests by number) ─► vm ─► request, pause, end ─► the traveller
//!                                                       ▲                              │
//!                                                       └─────────── reply ◄───────────┘
//! ```
//!
//! One machine per worker, one coroutine per client. A script has no files, no sockets and no clock but `now`; what it
//! may take of time and memory is bounded ([`guard`], [`vm`]).

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

pub use natives::MOST_BODY_BYTES;
pub use sites::{Site, is_unseen, reads_headers};
pub use vm::{Start, Vm, Walk};

use super::capture::Missing;
use crate::record::interval::Outcome;

/// Of the request of a script: its tap that keeps the body.
pub const SCRIPT_TAP: usize = 0;

/// One script of a run.
#[derive(Debug, Clone)]
pub struct Script {
    /// As errors name it.
    pub file: String,
    /// With the numbers of its requests.
    pub source: String,
    /// Of its requests, by number.
    pub methods: Vec<String>,
    /// What goes into `Host`.
    pub authority: String,
    pub cookies: bool,
    /// Names of the feeds' columns, and the slots of their values.
    pub columns: Vec<(String, usize)>,
    /// Its pauses are made; where it is only tried, they are not.
    pub sleeps: bool,
}

/// How a request of a script has ended.
#[derive(Debug)]
pub struct Reply {
    pub outcome: Outcome,
    /// 0 without an answer.
    pub status: u16,
    pub head: Option<Box<[u8]>>,
    /// `None` without a whole answer.
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

/// Requests of a script, and its source with their numbers. An error says what is wrong, in which line.
pub fn outline(file: &str, source: &str) -> Result<(Vec<Site>, String), String> {
    compile(file, source)?;
    sites::find(file, source)
}

/// The requests of a script that can be run, in the order of their numbers. An error says what is wrong, in which line.
pub fn requests(file: &str, source: &str) -> Result<Vec<Site>, String> {
    let (sites, source) = outline(file, source)?;
    let methods = sites.iter().map(|site| site.method.clone());
    let script = Script {
        file: file.into(),
        source,
        methods: methods.collect(),
        authority: String::new(),
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
