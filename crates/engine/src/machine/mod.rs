//! The machine that the load runs on: clocks, timers, cores, and how a worker waits. What only one system can do stands in
//! a file with that system's name, and nowhere else in the engine.
pub mod busy_polling;
pub mod clock;
pub mod cores;
pub mod open_files;
pub mod prefetch;
#[cfg(target_os = "linux")]
mod socket_option;
pub mod sockets;
pub mod stamps;
pub mod tasks;
pub mod timer;
pub mod timer_queue;
pub mod wall_clock;
