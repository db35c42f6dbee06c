//! When things happen: clock, timers, arrivals, phases, think times, random numbers.
pub mod arrivals;
pub mod clock;
pub mod partition;
pub mod phases;
pub mod queue;
pub mod random;
pub mod think;
pub mod timer;
