//! A connection's bytes on their way to the `h2` crate.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::wire::transport::Transport;

/// What the server's first bytes said.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// It has sent none yet.
    #[default]
    None,
    /// It may be HTTP/2; the `h2` crate decides.
    Frames,
    /// An answer in HTTP/1.1.
    Http1,
}

pub struct Io {
    transport: Transport,
    greeting: Rc<Cell<Greeting>>,
}

impl Io {
    pub fn new(transport: Transport, greeting: Rc<Cell<Greeting>>) -> Self {
        Self {
            transport,
            greeting,
        }
    }
}

impl AsyncRead for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(this.transport.poll_read(cx, buffer))?;
        let read = &buffer.filled()[before..];
        if this.greeting.get() == Greeting::None && !read.is_empty() {
            this.greeting.set(if read.starts_with(b"HTTP/1") {
                Greeting::Http1
            } else {
                Greeting::Frames
            });
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().transport.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().transport.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().transport.poll_shutdown(cx)
    }
}
