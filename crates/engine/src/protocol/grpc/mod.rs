//! Messages, statuses and schemas of gRPC.
pub mod frames;
pub mod schema;
pub mod status;
