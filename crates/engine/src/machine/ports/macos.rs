//! macOS: a port is chosen when the socket is bound, and the range of ports is its default.

use socket2::Socket;

/// Source: `sysctl net.inet.ip.portrange.first`.
const FIRST: u16 = 49152;

pub fn lowest_ephemeral_port() -> u16 {
    FIRST
}

pub fn choose_port_when_connecting(_socket: &Socket) {}
