//! What was seen: recorded by each worker, merged into intervals.
pub mod collect;
pub mod encoding;
pub mod interval;
pub mod ports;
pub mod recorder;
