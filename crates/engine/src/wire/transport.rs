//! A connection's bytes, whatever carries them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::record::ports::Port;
use crate::wire::stamped::Stamped;
use crate::wire::target::Address;

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

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream, _) => SockRef::from(stream),
            Self::Unix(stream) => SockRef::from(stream),
            Self::Stamped(stamped) => SockRef::from(&stamped.stream),
        }
        .send_with_flags(bytes, libc::MSG_NOSIGNAL)
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

    /// Reads a byte if there is one, as there should not be while no request is under way. 0: the peer has closed.
    pub fn try_read_byte(&mut self) -> Poll<io::Result<usize>> {
        let mut byte = [0];
        let result = match self {
            Self::Plain(Plain::Tcp(stream, _)) => stream.try_read(&mut byte),
            Self::Plain(Plain::Unix(stream)) => stream.try_read(&mut byte),
            Self::Plain(Plain::Stamped(stamped)) => stamped.stream.try_read(&mut byte),
            Self::Tls(_) => return self.poll_read_byte(&mut Context::from_waker(Waker::noop())),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            result => Poll::Ready(result),
        }
    }

    /// Like [`Self::try_read_byte`], and has the task woken when there is a byte. With TLS it also processes session
    /// tickets, which yield no byte.
    pub fn poll_read_byte(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
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
