//! Sockets, and the ports that the system gives to connections.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub use linux::{choose_port_when_connecting, lowest_ephemeral_port, nonblocking};
#[cfg(target_os = "macos")]
pub use macos::{choose_port_when_connecting, lowest_ephemeral_port, nonblocking};
