//! The load engine of jostle: generates load that is stated exactly, and records what every client saw.
//!
//! A [`RunSpec`](spec::RunSpec) is data: workloads, each with a target, its requests (or journeys of steps, or scripts)
//! and a load. In a *closed* load, so many clients send, wait for the response, think, and send again; in an *open*
//! load requests are due at times that do not depend on responses. [`Run::start`] prepares everything and starts the
//! worker threads, and [`Run::next_interval`] returns what they recorded, interval by interval, as [HDR
//! histograms](hdrhistogram). The engine speaks HTTP/1.1, HTTP/2, gRPC, WebSocket, datagrams and raw bytes, each with
//! or without TLS where that exists. It knows nothing of Python and files; `crates/bindings` makes it a Python module.
//!
//! Each request is timed from when it was *due*, not from when it could be sent, so that a server that stalls does not
//! slow down the load that would have shown it. The lateness of the generator itself is recorded beside that.
//!
//! # Example
//!
//! Two clients make twenty requests of a server that answers every one of them:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpListener;
//! use std::time::Duration;
//!
//! use jostle_engine::interval::Measure;
//! use jostle_engine::outcome::Outcome;
//! use jostle_engine::{Poll, Run};
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let port = listener.local_addr()?.port();
//! std::thread::spawn(move || {
//!     for mut connection in listener.incoming().flatten() {
//!         std::thread::spawn(move || {
//!             while connection.read(&mut [0; 1024]).is_ok_and(|bytes| bytes > 0) {
//!                 let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
//!                 connection.write_all(response).unwrap();
//!             }
//!         });
//!     }
//! });
//!
//! let spec = serde_json::json!({
//!     "seed": 1, "threads": 1, "interval_ns": 100_000_000, "duration_ns": null,
//!     "workloads": [{
//!         "name": "greetings", "role": "measured",
//!         "target": {"host": "127.0.0.1", "port": port},
//!         "requests": [{"name": "greeting", "method": "GET", "path": "/"}],
//!         "load": {"closed": {"clients": 2, "requests": 20}},
//!         "timeouts": {"connect_ns": 1_000_000_000, "total_ns": 1_000_000_000},
//!     }],
//! });
//! let run = Run::start(serde_json::from_value(spec)?)?;
//! let mut succeeded = 0;
//! loop {
//!     match run.next_interval(Duration::from_secs(1)) {
//!         Poll::Interval(interval) => {
//!             for series in &interval.series {
//!                 succeeded += series.outcomes[Outcome::Ok as usize];
//!                 let response = &series.histograms[Measure::Response as usize];
//!                 println!("median: {} µs", response.value_at_quantile(0.5));
//!             }
//!         }
//!         Poll::Pending => {}
//!         Poll::Finished => break,
//!     }
//! }
//! assert_eq!(succeeded, 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and panics
//!
//! What is wrong with a specification, or keeps the run from starting, is a [`StartError`] that says where, what, and
//! what to do. Whatever a server does, or fails to do, is data: an [`Outcome`](outcome::Outcome) for each request, with
//! the reason where one is known. A panic is a defect of the engine. One on a worker thread ends the run, and the last
//! interval counts the thread in [`workers_lost`](interval::Interval::workers_lost).
//!
//! # The stack
//!
//! Each folder uses only those below it, and no files use one another in a circle; `scripts/engine_layers.py` checks both.
//!
//! ```text
//!  run              workers, from the start to the end
//!  load             closed and open loops
//!  exchange         a request and its response over a connection, a folder for each protocol
//!  journey, script  what a client does next
//!  net              addresses, sockets, TLS
//!  record           what each worker saw, merged into intervals
//!  body             checks, captures and events of a response, as it streams by
//!  template         requests as they are sent, with placeholders for what is known only then
//!  protocol         bytes in; events, "more" or an error out (no input or output)
//!  search           values in what streams by: JSON by its pointers, text by patterns
//!  schedule         when things are due, and in which order (pure)
//!  machine          clocks, timers, cores, and how a worker waits
//!  spec, outcome    what is asked for; how a request can end
//! ```
pub mod spec;

mod body;
mod exchange;
mod journey;
mod load;
mod machine;
mod net;
pub mod outcome;
mod protocol;
mod record;
mod run;
pub mod schedule;
pub mod script;
mod search;
mod template;

pub use body::verify;
pub use exchange::grpc::reflection;
pub use hdrhistogram;
pub use protocol::grpc::schema;
pub use protocol::h1 as http1;
pub use protocol::h2 as http2;
pub use protocol::ws::frame as websocket;
pub use record::collect::Poll;
pub use record::encoding::{encode_v2, merge_v2};
pub use record::ports::PortUse;
pub use record::{head_of_line, interval, journeys, pings, streams, trace};
pub use run::Run;
pub use spec::error::StartError;
pub use spec::validate::validate;
