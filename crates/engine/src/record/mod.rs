//! What was seen: recorded by each worker, merged into intervals.
pub mod collect;
pub mod encoding;
pub mod filling;
pub mod head_of_line;
pub mod interval;
pub mod journeys;
pub mod pings;
pub mod ports;
pub mod recorder;
pub mod sample;
mod sorted;
pub mod statuses;
pub mod streams;
pub mod trace;
