//! The load engine of jostle. It knows protocols, sockets and clocks, but nothing about Python or files.
//!
//! A [`RunSpec`](spec::RunSpec) describes the load, [`Run::start`] prepares and starts it, and [`Run::next_interval`]
//! returns what was measured, interval by interval.
//!
//! ```text
//!  run ─► worker ─┬─► load (closed, open) ─► wire (link ─► h1, h2, ws)
//!                 │      └─► scenario         └─► seat
//!                 └─► record
//!  spec ─► plan    what is asked for, made ready to run      schedule    when things are due
//! ```
pub mod spec;

mod attention;
mod load;
mod machine;
mod plan;
mod prepare;
mod record;
mod run;
pub mod scenario;
pub mod schedule;
mod seat;
mod wire;
mod worker;

pub use hdrhistogram;
pub use record::collect::Poll;
pub use record::encoding::{encode_v2, merge_v2};
pub use record::ports::PortUse;
pub use record::{head_of_line, interval, journeys, pings, streams, trace};
pub use run::Run;
pub use spec::error::StartError;
pub use spec::validate::validate;
pub use wire::grpc::{reflection, schema};
pub use wire::h1::codec;
pub use wire::h2::codec as http2;
pub use wire::verify;
pub use wire::ws::frame as websocket;
