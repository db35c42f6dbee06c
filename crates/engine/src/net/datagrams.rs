//! Sockets for datagrams. Connecting one only sets where its datagrams go. If nobody listens there, that is reported in
//! reply to the first of them (ICMP).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use socket2::{Domain, SockRef, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::machine::sockets::nonblocking;
use crate::record::ports::{Port, PortTable};

/// Where datagrams go, and from which address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpRoute {
    pub from: Option<IpAddr>,
    pub to: SocketAddr,
}

#[derive(Debug)]
pub struct OpenSocket {
    pub socket: Rc<UdpSocket>,
    pub route: UdpRoute,
    #[expect(dead_code, reason = "held, not looked at")]
    port: Port,
}

impl OpenSocket {
    /// The error that the network has returned in place of the server's response, once the socket is ready for that.
    pub fn take_error(&self) -> Option<io::Error> {
        let error = || {
            let error = SockRef::from(&*self.socket).take_error()?;
            error.ok_or_else(|| io::ErrorKind::WouldBlock.into())
        };
        self.socket.try_io(Interest::ERROR, error).ok()
    }
}

pub fn open(route: UdpRoute, ports: &Rc<PortTable>) -> io::Result<OpenSocket> {
    let domain = Domain::for_address(route.to);
    let socket = nonblocking(domain, Type::DGRAM)?;
    if let Some(source) = route.from {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect(&route.to.into())?;
    Ok(OpenSocket {
        port: ports.take(route.from, route.to),
        socket: Rc::new(UdpSocket::from_std(socket.into())?),
        route,
    })
}
