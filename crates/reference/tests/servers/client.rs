//! A running `jostle-reference` on a free port, and a client that shows every byte.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub const BINARY: &str = env!("CARGO_BIN_EXE_jostle-reference");

/// How long a response may take before it counts as none.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Server {
    pub process: Child,
    pub address: String,
}

impl Server {
    /// Starts the server and waits until it says where it listens.
    pub fn start(arguments: &str) -> Self {
        let mut process = Command::new(BINARY)
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim_end()
            .strip_prefix("listening on ")
            .expect("it says where")
            .to_owned();
        Self { process, address }
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("it listens where it said");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client {
            stream,
            unread: Vec::new(),
            reset: false,
        }
    }

    /// Asks for `target` on a connection of its own.
    pub fn get(&self, target: &str) -> Response {
        let mut client = self.connect();
        client.send(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        client.response(true)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Client {
    pub stream: TcpStream,
    unread: Vec<u8>,
    /// Told when it wrote: the kernel tells a reset only once, and a read after that finds the end.
    reset: bool,
}

/// How a connection went on after the bytes that were read.
#[derive(Debug, PartialEq)]
pub enum End {
    Closed,
    Reset,
    /// Open, and silent for as long as the client cared to wait.
    Silent,
    /// More bytes than the client cared to read.
    More,
}

impl Client {
    pub fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Sends to a server that may have ended the connection already.
    pub fn offer(&mut self, bytes: &[u8]) {
        let sent = self.stream.write_all(bytes);
        self.reset = sent.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset);
    }

    /// Reads one response, framed by its Content-Length.
    pub fn response(&mut self, with_body: bool) -> Response {
        let head_end = loop {
            if let Some(at) = self
                .unread
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
            {
                break at + 4;
            }
            self.read_some();
        };
        let head = String::from_utf8(self.unread.drain(..head_end).collect()).unwrap();
        let length = header(&head, "Content-Length")
            .expect("a length")
            .parse()
            .unwrap();
        let length = if with_body { length } else { 0 };
        while self.unread.len() < length {
            self.read_some();
        }
        let body = String::from_utf8(self.unread.drain(..length).collect()).unwrap();
        Response { head, body }
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 4096];
        let count = self.stream.read(&mut buffer).unwrap();
        assert!(
            count > 0,
            "closed after {:?}",
            String::from_utf8_lossy(&self.unread)
        );
        self.unread.extend_from_slice(&buffer[..count]);
    }

    /// Reads all bytes until the connection ends, falls silent for `patience`, or exceeds `limit` bytes.
    pub fn listen(&mut self, patience: Duration, limit: usize) -> (Vec<u8>, End) {
        self.stream.set_read_timeout(Some(patience)).unwrap();
        let mut buffer = [0; 16 * 1024];
        let end = loop {
            match self.stream.read(&mut buffer) {
                Ok(0) if self.reset => break End::Reset,
                Ok(0) => break End::Closed,
                Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break End::Reset,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break End::Silent,
                Err(error) => panic!("{error}"),
            }
            if self.unread.len() > limit {
                break End::More;
            }
        };
        (std::mem::take(&mut self.unread), end)
    }
}

#[derive(Debug)]
pub struct Response {
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Milliseconds from the Server-Timing header: `demand` or `sojourn`.
    pub fn timing(&self, metric: &str) -> f64 {
        let metrics = self.header("Server-Timing").expect("a timing");
        let found = metrics
            .split(", ")
            .find_map(|text| text.strip_prefix(metric)?.strip_prefix(";dur="));
        found.expect(metric).parse().unwrap()
    }
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
