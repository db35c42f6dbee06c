//! Runs over real sockets, on loopback, and what fuzzing found worth keeping. One binary for all: the engine is linked once.

mod connections;
mod framing;
mod fuzz_corpus;
mod grpc;
mod http2;
mod http2_content;
mod http2_groups;
mod http2_hostile;
mod http2_refused;
mod http2_sends;
mod journeys;
mod loads;
mod outcomes;
mod raw;
mod redirects;
mod scripts;
mod shares;
mod steering;
mod streams;
mod support;
mod tls;
mod udp;
mod values;
mod websocket;
