//! The load engine of jostle. It knows HTTP, sockets and clocks; it knows nothing of Python or of files.
//!
//! A [`RunSpec`](spec::RunSpec) says what the load is; [`Run::start`] prepares and starts it; intervals of what
//! was seen come out of [`Run::next_interval`].
//!
//! ```text
//!  spec ─► validate ─► prepare ─► plan                      what is to be done
//!  arrivals, phases, think, random, timer                   pure: when
//!  run ─► worker ─┬─► client (closed) ──┬─► session ─► connect, codec, tls
//!                 └─► dispatch (open) ──┘
//!  recorder (one per worker) ─► collect ─► interval         what was seen
//! ```
pub mod codec;
pub mod interval;
pub mod spec;

mod arrivals;
mod client;
mod clock;
mod collect;
mod connect;
mod dispatch;
mod phases;
mod plan;
mod prepare;
mod random;
mod recorder;
mod resolve;
mod run;
mod session;
mod think;
mod timer;
mod tls;
mod validate;
mod worker;

pub use collect::Poll;
pub use hdrhistogram;
pub use run::Run;
pub use validate::StartError;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// `HdrHistogram` V2 with deflate, as `.hlog` files want it before base64.
#[must_use]
pub fn encode_v2(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("memory takes all that is written");
    bytes
}
