//! The transport of a connection's bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

pub enum Stream {
    Tcp(TcpStream),
    /// Leads to another task of this process, which speaks HTTP/2 with the client.
    InProcess(DuplexStream),
}

impl Stream {
    /// The TCP socket; `None` if there is none.
    pub fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Tcp(stream) => Some(stream),
            Self::InProcess(_) => None,
        }
    }

    /// Waits until the peer has closed; for ever if it sends anything more.
    pub async fn peer_has_gone(&mut self) {
        let more = match self {
            Self::Tcp(stream) => stream.peek(&mut [0]).await,
            Self::InProcess(stream) => stream.read(&mut [0]).await,
        };
        if matches!(more, Ok(1..)) {
            std::future::pending::<()>().await;
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::InProcess(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::InProcess(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::InProcess(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::InProcess(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
