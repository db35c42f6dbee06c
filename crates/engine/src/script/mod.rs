//! Journeys as scripts (Luau), for what a sequence of steps cannot express.
//!
//! ```text
//!  source ─► lexer ─► sites ─► (requests by number) ─► vm ─► request, pause, end ─► the journey
//!                                                       ▲                              │
//!                                                       └─────────── reply ◄───────────┘
//! ```
//!
//! There is one virtual machine per worker, and one coroutine per client. A script has no files, no sockets and no
//! clock but `now`; the time and memory that it may take are bounded ([`guard`], [`vm`]).
//!
//! Values go between the script and the engine by the language's C interface, in `unsafe` code: mlua's safe one takes a
//! reference and a protection for each. So a request of a script takes 0.87 µs more of the processor than a step's
//! (95 %: 0.35 to 1.30; `bench/results/table.md`), where 1 µs is the bar. By the safe interface it would take more still
//! (mlua 0.12, optimised; medians of the differences of 56 rounds, taken in turn in one process, and four fifths of them):
//!
//! ```text
//!  guard       each jump, call and return of a script   + 12 ns (12 to 16)
//!  coroutines  a request or a pause                     +101 ns (99 to 109)
//!  request     a call of http.get with two texts        +126 ns (123 to 132)
//!  response    making it, and reading its status        +210 ns (116 to 318)
//!  json        reading ten objects of four members      +2.3 µs (2.2 to 2.9)
//!  json        writing them                             +4.6 µs (4.5 to 5.4)
//! ```
//!
//! What the collector does has no safe interface, nor have blocks of memory with a tag, of which responses are made.

mod collector;
mod coroutines;
mod edit;
mod guard;
mod json;
mod lexer;
mod natives;
mod options;
pub(crate) mod reply;
mod request;
mod response;
mod sites;
pub(crate) mod source;
mod stack;
mod vm;

pub use sites::{CallSite, is_unseen, reads_headers};
pub use vm::{ScriptStart, ScriptState, Vm};

use crate::script::source::Script;

/// The number of the tap that keeps the body, among those of a script's request.
pub const SCRIPT_TAP: usize = 0;

/// Returns the requests of a script, and its source with their numbers.
///
/// The error says what is wrong, and in which line.
pub fn outline(file: &str, source: &str) -> Result<(Vec<CallSite>, String), String> {
    compile(file, source)?;
    sites::find(file, source)
}

/// Loads a script, and returns its requests in the order of their numbers.
///
/// The error says what is wrong, and in which line.
pub fn requests(file: &str, source: &str) -> Result<Vec<CallSite>, String> {
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
mod tests;
