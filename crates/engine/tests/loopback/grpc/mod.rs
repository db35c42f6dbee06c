//! gRPC: what a call sends, how its responses are counted, and what a schema refuses.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

mod calls;
mod reflection;
mod server;
mod streams;
