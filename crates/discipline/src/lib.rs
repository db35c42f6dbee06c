//! Scheduling disciplines: in which order a server serves requests, and how many at once.
//!
//! They are pure calculations, without clock, sockets or threads.
//! A discipline is told when a job arrives and how much service it demands, and says when each job
//! completes. Time is an argument, so a test can run through years of service in a moment, and a server
//! whose timer fires late still completes every job at its exact time: a late call of
//! [`Discipline::advance`] learns of completions late, but learns their true times.
//!
//! The simulator and the reference servers run these; a [`DisciplineSpec`](spec::DisciplineSpec) says which.
#![deny(unsafe_code)]

mod calendar;
mod delay;
mod gated_answers;
mod gated_lifo;
mod least_attained;
mod locked_threads;
#[cfg(test)]
mod oracles;
mod own_queues;
mod processor_sharing;
#[cfg(test)]
mod properties;
mod queues;
mod round_robin;
mod shared_queues;
pub mod spec;
mod waiting;
mod watchdog;
mod workers;

pub use delay::Delay;
pub use gated_answers::GatedAnswers;
pub use gated_lifo::GatedLifo;
pub use least_attained::LeastAttained;
pub use locked_threads::LockedThreads;
pub use own_queues::{Assignment, OwnQueues};
pub use processor_sharing::ProcessorSharing;
pub use round_robin::RoundRobin;
pub use shared_queues::SharedQueues;
pub use waiting::{Fifo, Lifo, RandomOrder, Waiting};
pub use watchdog::Watchdog;
pub use workers::Workers;

/// A moment on the server's clock, or a span of it, in nanoseconds.
pub type Nanos = u64;

/// A job that has had all its service.
#[derive(Debug, PartialEq, Eq)]
pub struct Done<J> {
    /// The exact moment of completion; for processor sharing rounded up to a whole nanosecond.
    pub at: Nanos,
    pub job: J,
}

/// Who is served when. `J` is whatever the caller wants back at the job's completion.
pub trait Discipline<J> {
    /// Takes a job that came over the connection with this number. The caller must have advanced to `now` before.
    fn arrive(&mut self, now: Nanos, demand: Nanos, connection: u64, job: J);

    /// The next moment at which anything changes by itself, or `None` while idle.
    fn next_event(&self) -> Option<Nanos>;

    /// Moves to `now` and appends the jobs that completed on the way, in the order of completion.
    fn advance(&mut self, now: Nanos, done: &mut Vec<Done<J>>);
}
