//! A request and its response. Every protocol is a variant of [`link::Link`] and reports what it observes only through the
//! [`watch::Watch`], so that a load never knows the protocol.
//!
//! ```text
//!  load ─► Link::open ─► Dialer ─► Transport (TCP, unix, TLS)
//!       ─► Link::exchange(Call, Watch) ─► h1, h2 (and grpc over it), raw, udp, ws
//!                               Watch ─► recorder, deadlines, taps
//! ```
pub mod grpc;
pub mod h1;
pub mod h2;
pub mod link;
pub mod raw;
pub mod redirect;
pub mod request;
pub mod sending;
pub mod udp;
pub mod watch;
pub mod ws;
