//! Simulated clients and servers, on a clock that runs as fast as it can be calculated.
//!
//! The load is that of the engine: the same [`RunSpec`](jostle_engine::spec::RunSpec), the same arrivals from the same
//! seed. The server is a [discipline](jostle_discipline) with stated service times. The results are the engine's intervals,
//! so that whatever reads a measured run can read a simulated one. Connecting takes no time, and nothing is lost in
//! transit.
//!
//! ```text
//!  simulation ─┬─► closed ─► thinking    closed loops
//!              ├─► open                 open loops
//!              ├─► server ─► discipline
//!              └─► recorder
//! ```
//!
//! A [burst](burst) is simulated without clients: requests at stated times, and when each is answered.
#![deny(unsafe_code)]

pub mod burst;
pub mod spec;

mod closed;
mod open;
mod recorder;
mod server;
mod simulation;
mod thinking;
mod timeouts;

#[cfg(test)]
mod oracles;

pub use simulation::Simulation;
pub use spec::SpecError;
