//! The load engine of jostle. It knows HTTP, sockets and clocks; it knows nothing of Python or of files.
pub mod codec;
pub mod interval;
pub mod spec;
