//! macOS: a port is chosen when the socket is bound, and the range of ports is its default.

use std::io;

use socket2::{Domain, Socket, Type};

/// Source: `sysctl net.inet.ip.portrange.first`.
const FIRST: u16 = 49152;

pub fn nonblocking(domain: Domain, kind: Type) -> io::Result<Socket> {
    let socket = Socket::new(domain, kind, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

pub fn lowest_ephemeral_port() -> u16 {
    FIRST
}

pub fn choose_port_when_connecting(_socket: &Socket) {}
