//! What was seen: recorded by each worker, merged into intervals.
pub mod collect;
pub mod encoding;
pub mod head_of_line;
pub mod histogram;
pub mod interval;
pub mod journeys;
pub mod pings;
pub mod ports;
pub mod recorder;
pub mod sample;
pub mod sorted;
pub mod statuses;
pub mod stream_sample;
pub mod streams;
pub mod trace;
pub mod worker_interval;
