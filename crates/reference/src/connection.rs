//! A connection with its buffers: input that is not used yet, and output that is not sent yet.

use crate::stream::Stream;
use std::io;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const READ_BYTES: usize = 1024;
/// How long a closing server keeps reading, so that no reset destroys its last response in transit.
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

    /// Creates a connection with another task of this process.
    pub fn in_process(stream: DuplexStream, number: u64) -> Self {
        Self::over(Stream::InProcess(stream), number)
    }

    fn over(stream: Stream, number: u64) -> Self {
        Self {
            number,
            stream,
            input: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Sends pending output, then reads more input; returns false at the end of the input.
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

    /// Sends the last `rest` bytes in a write of their own after all the others, with Nagle's algorithm on.
    pub async fn send_in_two_writes(&mut self, rest: usize) -> io::Result<()> {
        if let Some(stream) = self.stream.tcp() {
            stream.set_nodelay(false)?;
        }
        let first = self.output.len() - rest;
        self.stream.write_all(&self.output[..first]).await?;
        self.output.drain(..first);
        self.flush().await
    }

    /// Waits until the peer has closed; for ever if it sends anything more.
    pub async fn peer_has_gone(&mut self) {
        self.stream.peer_has_gone().await;
    }

    /// Makes the connection end with a TCP reset when it is dropped.
    pub fn reset_when_dropped(&self) -> io::Result<()> {
        match self.stream.tcp() {
            Some(stream) => socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)),
            None => Ok(()),
        }
    }

    /// Drops the next `count` bytes of input, reading them as needed; returns false if the input ends before.
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

    /// Sends pending output and ends the connection so that the peer receives all of it.
    pub async fn close(mut self) -> io::Result<()> {
        self.end().await
    }

    /// Like `close`, for callers that do not own the connection. Nothing more may be sent afterwards.
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
