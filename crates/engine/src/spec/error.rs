//! Why a run cannot start.

use std::io;

use thiserror::Error;

/// Every message says where the problem is, what it is, and what to do about it.
#[derive(Debug, Error)]
pub enum StartError {
    #[error("{place}: {problem}")]
    Invalid { place: String, problem: String },
    #[error(
        "cannot resolve the host {host:?}: {error}. Check its spelling and the DNS settings of this machine"
    )]
    Resolve { host: String, error: String },
    #[error(
        "the run needs {needed} open files and this process may have {limit}. Use fewer clients or several \
         generator processes, or raise the limit (ulimit -Hn)"
    )]
    OpenFiles { needed: u64, limit: u64 },
    #[error(
        "cannot pin a thread to core {core}: {error}. This machine lets the process use cores {allowed}"
    )]
    Core {
        core: usize,
        error: io::Error,
        allowed: String,
    },
    #[error("cannot start worker thread {worker}: {error}")]
    Worker { worker: usize, error: io::Error },
    /// What is wrong with a script, and in which line.
    #[error("{0}")]
    Script(String),
}

impl StartError {
    pub(crate) fn invalid(workload: &str, field: &str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            place: format!("workload {workload:?}, {field}"),
            problem: problem.into(),
        }
    }

    pub(super) fn run(field: &str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            place: format!("run, {field}"),
            problem: problem.into(),
        }
    }
}
