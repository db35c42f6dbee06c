//! Linux: `IP_BIND_ADDRESS_NO_PORT`, and its range of ports.

use std::io;

use socket2::{Domain, Socket, Type};

use crate::machine::socket_option;

/// Returns a socket on which nothing blocks.
pub fn nonblocking(domain: Domain, kind: Type) -> io::Result<Socket> {
    Socket::new(domain, kind.nonblocking(), None)
}

/// Returns the lowest port that the system gives to a connection; 0 if that is unknown.
pub fn lowest_ephemeral_port() -> u16 {
    let range =
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range
        .split_whitespace()
        .next()
        .and_then(|low| low.parse().ok())
        .unwrap_or(0)
}

/// A port chosen at `bind` must differ from all ports in use; at `connect`, only the four-tuple must be unique.
pub fn choose_port_when_connecting(socket: &Socket) {
    // On a kernel without it, ports run out earlier.
    let _ = socket_option::set(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
}
