//! The machine that the load runs on: clocks, timers, cores, and how a worker waits.
pub mod busy_polling;
pub mod clock;
pub mod cores;
pub mod tasks;
pub mod timer;
pub mod timer_queue;
pub mod wall_clock;
