//! When things are due, and in which order: pure functions of elapsed time, counts and a seed.
pub mod arrivals;
pub(crate) mod course;
pub mod mix;
pub mod partition;
pub mod phases;
pub(crate) mod queue;
pub mod random;
pub mod rate_curve;
pub mod think;
pub(crate) mod turns;
