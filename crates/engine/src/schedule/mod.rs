//! When things happen: clock, timers, arrivals, phases, think times, random numbers.
pub mod arrivals;
pub(crate) mod clock;
pub mod partition;
pub mod phases;
pub(crate) mod queue;
pub mod random;
pub mod think;
pub(crate) mod timer;
pub(crate) mod timer_queue;
pub(crate) mod wall_clock;
