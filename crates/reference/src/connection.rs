//! A connection with its buffers: what has been read and not yet used, what is answered and not yet sent.

use crate::stream::Stream;
use std::io;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const READ_BYTES: usize = 1024;
/// How long a closing server still reads, lest a reset destroy its last answer on the way.
const LINGER: Duration = Duration::from_secs(1);

pub struct Connection {
    /// Its place in the order in which connections were accepted, from 0.
    pub number: u64,
    pub stream: Stream,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream, number: u64) -> Self {
        Self::over(Stream::Tcp(stream), number)
    }

    /// With another task of this process.
    pub fn within(stream: DuplexStream, number: u64) -> Self {
        Self::over(Stream::Within(stream), number)
    }

    fn over(stream: Stream, number: u64) -> Self {
        Self {
            number,
            stream,
            input: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Sends what is to be sent, then reads more input; false at its end.
    pub async fn fill(&mut self) -> io::Result<bool> {
        self.flush().await?;
        self.input.reserve(READ_BYTES);
        Ok(self.stream.read_buf(&mut self.input).await? > 0)
    }

    pub async fn flush(&mut self) -> io::Result<()> {
        if !self.output.is_empty() {
            self.stream.write_all(&self.output).await?;
            self.output.clear();
        }
        Ok(())
    }

    /// Sends all but the last `rest` bytes now, and those in a write of their own, with Nagle's algorithm on.
    pub async fn send_apart(&mut self, rest: usize) -> io::Result<()> {
        if let Some(stream) = self.stream.tcp() {
            stream.set_nodelay(false)?;
        }
        let first = self.output.len() - rest;
        self.stream.write_all(&self.output[..first]).await?;
        self.output.drain(..first);
        self.flush().await
    }

    /// Waits until the peer has closed; for ever, if it sends something more.
    pub async fn peer_has_gone(&mut self) {
        self.stream.peer_has_gone().await;
    }

    /// Ends the connection with a TCP reset once it is dropped.
    pub fn reset_when_dropped(&self) -> io::Result<()> {
        match self.stream.tcp() {
            Some(stream) => socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)),
            None => Ok(()),
        }
    }

    /// Drops the next `count` bytes of input, reading them as needed; false if the input ends before.
    pub async fn skip(&mut self, mut count: u64) -> io::Result<bool> {
        loop {
            let present = count.min(self.input.len() as u64);
            self.input.drain(..present as usize);
            count -= present;
            if count == 0 {
                return Ok(true);
            }
            if !self.fill().await? {
                return Ok(false);
            }
        }
    }

    /// Sends what is to be sent and ends the connection so that the peer receives all of it.
    pub async fn close(mut self) -> io::Result<()> {
        self.end().await
    }

    /// The same for whoever does not own it; nothing more may be sent.
    pub async fn end(&mut self) -> io::Result<()> {
        self.flush().await?;
        self.stream.shutdown().await?;
        let _ = tokio::time::timeout(LINGER, self.drain()).await; // late peers are cut off
        Ok(())
    }

    /// Reads and drops input until its end.
    pub async fn drain(&mut self) -> io::Result<()> {
        while self.fill().await? {
            self.input.clear();
        }
        Ok(())
    }
}
