//! A connection's bytes, whatever carries them.

use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::net::stamped::Stamped;
use crate::net::target::Address;
use crate::record::ports::Port;

/// Before a request on a connection that was idle for this long, the kernel is asked whether the server has closed it.
/// Servers close what is idle for longer; asking before every request would cost busy connections a system call each.
const LONG_IDLE_NS: u64 = 100_000_000;

/// A connection, with or without TLS.
#[derive(Debug)]
pub enum Transport {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

#[derive(Debug)]
pub enum Plain {
    Tcp(
        TcpStream,
        #[expect(dead_code, reason = "held, not looked at")] Port,
    ),
    Unix(UnixStream),
    /// Boxed because it is rare and larger than the others.
    Stamped(Box<Stamped>),
}

impl Plain {
    /// Whether the connection is established. Within this machine it is as soon as it has been requested; waiting for
    /// the runtime to report that would add the work of all other ready tasks to the connect time.
    pub fn is_established(&self) -> bool {
        match self {
            Self::Tcp(stream, _) => stream.peer_addr().is_ok(),
            Self::Unix(_) => true,
            Self::Stamped(stamped) => stamped.stream.peer_addr().is_ok(),
        }
    }

    pub fn poll_answered(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream, _) => stream.poll_write_ready(cx),
            Self::Unix(stream) => stream.poll_write_ready(cx),
            Self::Stamped(stamped) => stamped.stream.poll_write_ready(cx),
        }
    }

    /// Takes the error with which connecting failed, if it did.
    pub fn take_error(&self) -> io::Result<()> {
        let error = match self {
            Self::Tcp(stream, _) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
            Self::Stamped(stamped) => stamped.stream.take_error(),
        };
        error?.map_or(Ok(()), Err)
    }

    /// Whether the connection has reached itself: if nobody listens on a port, the kernel may choose that very port as
    /// the local one.
    pub fn is_connected_to_itself(&self, to: &Address, lowest_ephemeral_port: u16) -> bool {
        let from = match self {
            Self::Tcp(stream, _) => stream,
            Self::Stamped(stamped) => &stamped.stream,
            Self::Unix(_) => return false,
        };
        match to {
            Address::Tcp(to) if to.port() >= lowest_ephemeral_port => {
                from.local_addr().is_ok_and(|from| from == *to)
            }
            _ => false,
        }
    }

    fn arrived(&self) -> Option<u64> {
        match self {
            Self::Stamped(stamped) => stamped.arrived(),
            Self::Tcp(..) | Self::Unix(_) => None,
        }
    }

    fn socket(&self) -> SockRef<'_> {
        match self {
            Self::Tcp(stream, _) => SockRef::from(stream),
            Self::Unix(stream) => SockRef::from(stream),
            Self::Stamped(stamped) => SockRef::from(&stamped.stream),
        }
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.socket().send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }
}

impl Transport {
    /// What the server chose by ALPN.
    pub fn alpn(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol(),
        }
    }

    /// When the last byte of the latest read arrived, by the wall clock, if the kernel stamped it.
    pub fn arrived(&self) -> Option<u64> {
        match self {
            Self::Plain(plain) => plain.arrived(),
            Self::Tls(stream) => stream.get_ref().0.arrived(),
        }
    }

    /// Reads what there is, as there should be nothing while no request is under way. 0: the peer has closed.
    ///
    /// What came after the runtime's last look at its sockets is seen only on a connection that was idle for long.
    pub fn try_read(&mut self, idle_ns: u64, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let result = match self {
            Self::Plain(plain) if idle_ns >= LONG_IDLE_NS => (&*plain.socket()).read(buffer),
            Self::Tls(stream) if idle_ns >= LONG_IDLE_NS => read_tls(stream, buffer),
            Self::Plain(Plain::Tcp(stream, _)) => stream.try_read(buffer),
            Self::Plain(Plain::Unix(stream)) => stream.try_read(buffer),
            Self::Plain(Plain::Stamped(stamped)) => stamped.stream.try_read(buffer),
            Self::Tls(_) => {
                return self.poll_read_some(&mut Context::from_waker(Waker::noop()), buffer);
            }
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            result => Poll::Ready(result),
        }
    }

    /// Like [`Self::try_read`], and has the task woken when something comes. With TLS it also processes session
    /// tickets, which yield no byte.
    pub fn poll_read_some(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        self.poll_read(cx, &mut buffer)
            .map_ok(|()| buffer.filled().len())
    }

    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(plain) => Pin::new(plain).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(plain) => Pin::new(plain).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    /// Only TLS buffers what was written.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(_) => Poll::Ready(Ok(())),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(plain) => Pin::new(plain).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Reads what the socket has, past the runtime. 0: the peer has closed.
fn read_tls(stream: &mut TlsStream<Plain>, buffer: &mut [u8]) -> io::Result<usize> {
    let (plain, session) = stream.get_mut();
    loop {
        if session.read_tls(&mut &*plain.socket())? == 0 {
            return Ok(0);
        }
        let state = session.process_new_packets().map_err(io::Error::other)?;
        match state.plaintext_bytes_to_read() {
            0 if state.peer_has_closed() => return Ok(0),
            0 => {} // session tickets
            _ => return session.reader().read(buffer),
        }
    }
}

fn would_block(result: &io::Result<usize>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Stamped(stamped) => stamped.poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    /// Tries at once, as the runtime learns only in its next round that a new connection can be written to.
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = self.send(bytes);
        if !would_block(&sent) {
            return Poll::Ready(sent);
        }
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Stamped(stamped) => Pin::new(&mut stamped.stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream, _) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Stamped(stamped) => Pin::new(&mut stamped.stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{Shutdown, TcpListener};
    use std::rc::Rc;
    use std::sync::{Arc, mpsc};
    use std::thread;

    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection};
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::net::tls::{Sessions, Tls};
    use crate::record::ports::PortTable;
    use crate::spec::TlsSpec;

    const IDLE: [u64; 2] = [0, LONG_IDLE_NS];

    /// A connection over which one exchange has gone, and the server's side of it, which needs no runtime.
    async fn used() -> (Transport, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let stream = TcpStream::connect(to).await.unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut plain = Plain::Tcp(stream, Rc::<PortTable>::default().take(None, to));
        server.write_all(b"response").unwrap();
        let mut response = [0; 64];
        let read = plain.read(&mut response).await.unwrap();
        assert_eq!(&response[..read], b"response");
        (Transport::Plain(plain), server)
    }

    /// What a connection looks like before its next request, if it was idle for a short or for a long time. The kernel
    /// may need a moment to deliver what the server did, during which the runtime does not look.
    fn looks(mut transport: Transport) -> [Option<usize>; 2] {
        let [mut busy, mut idle] = [None, None];
        for _ in 0..100_000 {
            let [now, after_long] = IDLE.map(|ns| match transport.try_read(ns, &mut [0]) {
                Poll::Pending => None,
                Poll::Ready(read) => Some(read.unwrap_or(0)),
            });
            (busy, idle) = (now, after_long);
            if idle.is_some() {
                break;
            }
        }
        [busy, idle]
    }

    #[tokio::test]
    async fn a_close_that_the_runtime_has_not_seen_is_seen_after_a_long_idle_time() {
        let (transport, server) = used().await;
        server.shutdown(Shutdown::Write).unwrap();
        assert_eq!(looks(transport), [None, Some(0)]);
        let (transport, mut server) = used().await;
        server.write_all(b"408").unwrap();
        assert_eq!(looks(transport), [None, Some(1)]);
        let (mut transport, _server) = used().await;
        assert!(
            IDLE.iter()
                .all(|ns| transport.try_read(*ns, &mut [0]).is_pending())
        );
    }

    #[tokio::test]
    async fn over_tls_tickets_are_no_close_and_the_end_is() {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der());
        let config = config.with_single_cert(vec![certified.cert.der().clone()], key.unwrap());
        let config = Arc::new(config.unwrap());
        let spec = TlsSpec {
            insecure: true,
            ..TlsSpec::default()
        };
        let tls = Tls::new("load", "localhost", &spec, false).unwrap();
        let (Transport::Plain(plain), server) = used().await else {
            unreachable!("no TLS so far");
        };
        let (said, hears) = mpsc::channel();
        let serving = thread::spawn(move || {
            let mut session = ServerConnection::new(config).unwrap();
            let mut server = server;
            while session.is_handshaking() {
                session.complete_io(&mut server).unwrap();
            }
            hears.recv().unwrap();
            session.send_close_notify();
            session.complete_io(&mut server).unwrap();
        });
        let connector = tls.connector(&mut Sessions::default());
        let stream = connector.connect(tls.name.clone(), plain).await.unwrap();
        let mut transport = Transport::Tls(Box::new(stream));
        assert!(transport.try_read(LONG_IDLE_NS, &mut [0]).is_pending());
        said.send(()).unwrap();
        serving.join().unwrap();
        assert_eq!(looks(transport)[1], Some(0));
    }
}
