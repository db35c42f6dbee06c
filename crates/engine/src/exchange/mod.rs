//! A request and its response. Every protocol is a variant of [`connection::Connection`] and reports what it observes
//! only through the [`observer::ExchangeObserver`], so that a load never knows the protocol.
//!
//! ```text
//!  load ─► Connection::open ─► Dialer ─► Transport (TCP, unix, TLS)
//!       ─► Connection::exchange(OutgoingRequest, ExchangeObserver) ─► h1, h2 (and grpc over it), raw, udp, ws
//!                               ExchangeObserver ─► recorder, deadlines, taps
//! ```
pub mod connection;
pub mod destination;
pub mod grpc;
pub mod h1;
pub mod h2;
pub mod idle_event;
pub mod observer;
pub mod raw;
pub mod redirect;
pub mod request;
pub mod sending;
pub mod serial;
pub mod udp;
pub mod ws;
