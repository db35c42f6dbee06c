//! Connections on which the kernel stamps arriving bytes, so that the time until the client gets to read them is not
//! counted into the time between two events.
//!
//! Source: Linux, Documentation/networking/timestamping.rst. The stamp of a read is that of its last byte.

#![expect(unsafe_code, reason = "a message with its control data")]

use std::io;
use std::mem::{MaybeUninit, size_of_val};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::task::{Context, Poll, ready};
use std::thread::sleep;
use std::time::Duration;

use tokio::io::{Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::machine::stamps::{enable, stamp_of};
use crate::record::ports::Port;

/// Room for the stamp, which consists of three times, and for whatever else the kernel may add.
const CONTROL_WORDS: usize = 32;

/// The kernel begins to stamp a while after it was asked to. `Stamping::begin` tries at most this often, `TRY` apart.
const TRIES: usize = 100;
const TRY: Duration = Duration::from_millis(1);

/// Keeps the kernel stamping incoming packets while it exists.
#[derive(Debug)]
pub struct Stamping {
    #[expect(dead_code, reason = "held, not looked at")]
    socket: UdpSocket,
}

impl Stamping {
    /// Returns once the kernel stamps packets; an error if it does not.
    pub fn begin() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        enable(&socket)?;
        for _ in 0..TRIES {
            socket.send(&[0])?;
            let mut byte = [0];
            match receive(socket.as_raw_fd(), &mut ReadBuf::new(&mut byte)) {
                Ok((_, Some(_))) => return Ok(Self { socket }),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => sleep(TRY),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// A connection on whose socket the kernel was [asked](enable) to stamp bytes.
#[derive(Debug)]
pub struct Stamped {
    pub stream: TcpStream,
    #[expect(dead_code, reason = "held, not looked at")]
    port: Port,
    arrived: Option<u64>,
}

impl Stamped {
    pub fn new(stream: TcpStream, port: Port) -> Self {
        Self {
            stream,
            port,
            arrived: None,
        }
    }

    /// When the last byte of the latest read arrived, by the wall clock; `None` if unknown.
    pub fn arrived(&self) -> Option<u64> {
        self.arrived
    }

    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let arrived = ready!(poll_receive(&self.stream, cx, buffer))?;
        self.arrived = arrived;
        Poll::Ready(Ok(()))
    }
}

/// Reads into `buffer`; returns when the last byte arrived, if known.
fn poll_receive(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<Option<u64>>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        let mut received = None;
        let waits = stream.try_io(Interest::READABLE, || {
            let (bytes, arrived) = receive(stream.as_raw_fd(), buffer)?;
            received = Some(arrived);
            // A read that does not fill the buffer took everything: as in the runtime's own reads, this saves a call.
            match bytes {
                1.. if buffer.remaining() > 0 => Err(io::ErrorKind::WouldBlock.into()),
                _ => Ok(()),
            }
        });
        match (received, waits) {
            (Some(arrived), _) => return Poll::Ready(Ok(arrived)),
            (None, Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                return Poll::Ready(Err(error));
            }
            (None, _) => {}
        }
    }
}

/// Reads into `buffer`; returns how much, and when the last byte arrived.
fn receive(socket: RawFd, buffer: &mut ReadBuf<'_>) -> io::Result<(usize, Option<u64>)> {
    let mut control = [0_u64; CONTROL_WORDS];
    // SAFETY: the kernel only writes received bytes there; nothing reads them before or makes them uninitialised.
    let room = unsafe { buffer.unfilled_mut() };
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: it consists of numbers and pointers, for which zero is a valid value.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the message describes memory that lives as long as the call, with its true lengths.
    let length = unsafe { libc::recvmsg(socket, &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has written this many bytes there.
    unsafe { buffer.assume_init(length) };
    buffer.advance(length);
    Ok((length, stamp_of(&message)))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::machine::clock::unix_ns;

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = listener.local_addr().unwrap();
        let (ours, theirs) = tokio::join!(TcpStream::connect(to), listener.accept());
        let ours = ours.unwrap();
        enable(&ours).unwrap();
        (ours, theirs.unwrap().0)
    }

    async fn read(stream: &TcpStream, size: usize) -> io::Result<(Vec<u8>, Option<u64>)> {
        let mut bytes = vec![0; size];
        let mut buffer = ReadBuf::new(&mut bytes);
        let arrived = poll_fn(|cx| poll_receive(stream, cx, &mut buffer)).await?;
        Ok((buffer.filled().to_vec(), arrived))
    }

    #[tokio::test]
    async fn bytes_came_when_they_were_sent_and_not_when_they_are_read() {
        let _stamping = Stamping::begin().unwrap();
        let (ours, mut theirs) = pair().await;
        for _ in 0..10 {
            let before = unix_ns();
            theirs.write_all(b"an event").await.unwrap();
            ours.readable().await.unwrap();
            let there = unix_ns();
            tokio::task::yield_now().await;
            let (bytes, arrived) = read(&ours, 64).await.unwrap();
            let at = arrived.unwrap();
            assert_eq!(bytes, b"an event");
            assert!((before..=there).contains(&at), "{before} {at} {there}");
        }
    }

    #[tokio::test]
    async fn what_fills_the_buffer_leaves_the_rest_and_the_end_and_a_reset_are_told() {
        let (ours, mut theirs) = pair().await;
        theirs.write_all(b"123456").await.unwrap();
        assert_eq!(read(&ours, 4).await.unwrap().0, b"1234");
        assert_eq!(read(&ours, 4).await.unwrap().0, b"56");
        theirs.write_all(b"7").await.unwrap();
        assert_eq!(read(&ours, 4).await.unwrap().0, b"7");
        theirs.shutdown().await.unwrap();
        assert_eq!(read(&ours, 4).await.unwrap().0, b"");

        let (ours, theirs) = pair().await;
        socket2::SockRef::from(&theirs)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(theirs);
        let error = read(&ours, 4).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
