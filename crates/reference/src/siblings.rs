//! Several processes behind one port: each has its own socket there, and the kernel distributes connections among them
//! by a hash of their addresses (`SO_REUSEPORT`). Together they can hold more connections than one process may have
//! open files.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::env;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

/// Environment variable that marks a process as started by another one, with which it ends.
const SIBLING: &str = "JOSTLE_REFERENCE_SIBLING";

pub fn is_sibling() -> bool {
    env::var_os(SIBLING).is_some()
}

/// Asks the kernel to terminate this process when the one that started it ends.
pub fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
}

/// Starts `count` more processes with this one's arguments, at the port of `address`; returns when all of them listen.
pub fn start(count: usize, address: SocketAddr) -> Result<(), String> {
    let failed = |why: String| format!("cannot start {count} more processes: {why}");
    let program = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut starting = Vec::with_capacity(count);
    for _ in 0..count {
        let child = Command::new(&program)
            .args(env::args_os().skip(1))
            .args(["--port", &address.port().to_string()])
            .env(SIBLING, "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        starting.push(child);
    }
    for child in &mut starting {
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut line);
        }
        if line.is_empty() {
            return Err(failed("one of them ended at once".into()));
        }
    }
    Ok(())
}
