//! HTTP/2 with prior knowledge, for every site. For each stream there is a connection within this process, over which
//! the site answers one request in HTTP/1.1; the response is then passed on over HTTP/2.

use crate::connection::Connection;
use crate::http::{self, Method, Parsed};
use crate::site::{KeepAlive, Site, with_timeout};
use crate::stream::Stream;
use bytes::{Buf, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream, ReadBuf};
use tokio::task::spawn_local;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const MAX_HEADERS: usize = 100;
/// How many bytes of a stream's response may wait for the client.
const WAITING_BYTES: usize = 64 * 1024;
const STREAMS: u32 = 1024;

/// Whether the bytes begin an HTTP/2 connection; `None` while that is still undecided.
pub fn begins(input: &[u8]) -> Option<bool> {
    let known = input.len().min(PREFACE.len());
    if input[..known] != PREFACE[..known] {
        return Some(false);
    }
    (known == PREFACE.len()).then_some(true)
}

/// Answers the requests of one connection concurrently, until either side ends it.
pub async fn converse(site: Rc<impl Site + 'static>, connection: Connection) -> io::Result<()> {
    let KeepAlive { mut idle, requests } = site.keep_alive();
    let number = connection.number;
    let handshake = h2::server::Builder::new()
        .max_concurrent_streams(STREAMS)
        .handshake::<_, Bytes>(Begun::new(connection));
    let mut streams = handshake.await.map_err(io::Error::other)?;
    let open = Rc::new(Cell::new(0_u64));
    let last = Rc::new(Cell::new(Instant::now()));
    let mut accepted = 0;
    loop {
        let left = match open.get() {
            0 => idle.map(|idle| idle.saturating_sub(last.get().elapsed())),
            _ => idle,
        };
        let Some(next) = with_timeout(left, streams.accept()).await else {
            if open.get() == 0 && idle.is_some_and(|idle| last.get().elapsed() >= idle) {
                streams.graceful_shutdown();
                idle = None;
            }
            continue;
        };
        let Some(next) = next else {
            return Ok(());
        };
        let (request, respond) = next.map_err(io::Error::other)?;
        accepted += 1;
        if requests.is_some_and(|limit| accepted >= limit) {
            streams.graceful_shutdown();
        }
        let (site, open, last) = (Rc::clone(&site), Rc::clone(&open), Rc::clone(&last));
        open.set(open.get() + 1);
        spawn_local(async move {
            let _ = exchange(&*site, number, request, respond).await; // fails if the client has gone or was reset
            open.set(open.get() - 1);
            last.set(Instant::now());
        });
    }
}

async fn exchange(
    site: &impl Site,
    number: u64,
    request: ::http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> io::Result<()> {
    let text = as_text(&request);
    swallow(request.into_body()).await?;
    let (inside, outside) = tokio::io::duplex(WAITING_BYTES);
    let mut connection = Connection::in_process(inside, number);
    let (task, head) = match http::parse(text.as_bytes()) {
        Parsed::Request(request) => (site.interpret(&request), request.head),
        Parsed::Refused(_) | Parsed::Incomplete => {
            respond.send_reset(Reason::PROTOCOL_ERROR);
            return Ok(());
        }
    };
    let response = async move {
        site.response(task, head, &mut connection).await?;
        connection.flush().await
    };
    let passing = Passing {
        from: outside,
        input: BytesMut::new(),
    };
    let headless = head.method == Method::Head;
    let (answered, passed) = tokio::join!(response, passing.pass_on(&mut respond, headless));
    if passed.is_err() {
        respond.send_reset(Reason::INTERNAL_ERROR);
    }
    answered.and(passed)
}

/// The request in HTTP/1.1, reduced to what a site looks at.
fn as_text(request: &::http::Request<RecvStream>) -> String {
    let target = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    format!("{} {target} HTTP/1.1\r\nHost: a\r\n\r\n", request.method())
}

async fn swallow(mut body: RecvStream) -> io::Result<()> {
    while let Some(piece) = body.data().await {
        let length = piece.map_err(io::Error::other)?.len();
        let released = body.flow_control().release_capacity(length);
        released.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Reads a response in HTTP/1.1, and passes it on as HTTP/2 frames.
struct Passing {
    from: DuplexStream,
    input: BytesMut,
}

enum Body {
    Length(usize),
    Chunked,
}

impl Passing {
    /// The site's connection ends with it, so that the site finds out if the client has gone.
    async fn pass_on(
        mut self,
        respond: &mut SendResponse<Bytes>,
        headless: bool,
    ) -> io::Result<()> {
        let (head, body) = loop {
            if let Some(found) = self.head()? {
                break found;
            }
            self.more(poll_fn(|cx| respond.poll_reset(cx))).await?;
        };
        let over = headless || matches!(body, Body::Length(0));
        let mut stream = respond
            .send_response(head, over)
            .map_err(io::Error::other)?;
        match body {
            _ if over => Ok(()),
            Body::Length(length) => self.counted(length, &mut stream).await,
            Body::Chunked => self.chunks(&mut stream).await,
        }
    }

    /// Reads more of the response; fails if the site has ended it, or if the client has `left`.
    async fn more<T>(&mut self, left: impl Future<Output = T>) -> io::Result<()> {
        tokio::select! {
            read = self.from.read_buf(&mut self.input) => match read? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(()),
            },
            _ = left => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    fn head(&mut self) -> io::Result<Option<(::http::Response<()>, Body)>> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let status = parsed.parse(&self.input).map_err(io::Error::other)?;
        let httparse::Status::Complete(length) = status else {
            return Ok(None);
        };
        let mut response = ::http::Response::builder().status(parsed.code.unwrap_or(500));
        let mut body = Body::Length(0);
        for header in parsed.headers.iter() {
            let value = String::from_utf8_lossy(header.value);
            match header.name.to_ascii_lowercase().as_str() {
                "connection" | "upgrade" => continue, // HTTP/2 forbids them
                "transfer-encoding" => {
                    body = Body::Chunked;
                    continue;
                }
                "content-length" => body = Body::Length(value.parse().map_err(io::Error::other)?),
                _ => {}
            }
            response = response.header(header.name, header.value);
        }
        let response = response.body(()).map_err(io::Error::other)?;
        self.input.advance(length);
        Ok(Some((response, body)))
    }

    async fn counted(&mut self, mut left: usize, stream: &mut SendStream<Bytes>) -> io::Result<()> {
        while left > 0 {
            if self.input.is_empty() {
                self.more(poll_fn(|cx| stream.poll_reset(cx))).await?;
            }
            let piece = self.input.split_to(left.min(self.input.len())).freeze();
            left -= piece.len();
            send(stream, piece, left == 0).await?;
        }
        Ok(())
    }

    async fn chunks(&mut self, stream: &mut SendStream<Bytes>) -> io::Result<()> {
        loop {
            let size = httparse::parse_chunk_size(&self.input);
            let size = size.map_err(|_| io::Error::other("a chunk without a size"))?;
            let httparse::Status::Complete((before, size)) = size else {
                self.more(poll_fn(|cx| stream.poll_reset(cx))).await?;
                continue;
            };
            let size = size as usize;
            if self.input.len() < before + size + 2 {
                self.more(poll_fn(|cx| stream.poll_reset(cx))).await?;
                continue;
            }
            self.input.advance(before);
            let piece = self.input.split_to(size).freeze();
            self.input.advance(2);
            send(stream, piece, size == 0).await?;
            if size == 0 {
                return Ok(());
            }
        }
    }
}

/// Sends bytes as fast as the client takes them. h2 would keep any number of them for a client that reads slowly.
pub async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes, last: bool) -> io::Result<()> {
    loop {
        stream.reserve_capacity(bytes.len());
        while stream.capacity() == 0 && !bytes.is_empty() {
            match poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(more) => more.map_err(io::Error::other)?,
                None => return Err(io::ErrorKind::ConnectionReset.into()),
            };
        }
        let piece = bytes.split_to(stream.capacity().min(bytes.len()));
        let over = bytes.is_empty();
        let sent = stream.send_data(piece, last && over);
        sent.map_err(io::Error::other)?;
        if over {
            return Ok(());
        }
    }
}

/// A connection whose first bytes have already been read.
pub struct Begun {
    input: Bytes,
    stream: Stream,
}

impl Begun {
    pub fn new(connection: Connection) -> Self {
        Self {
            input: connection.input.into(),
            stream: connection.stream,
        }
    }
}

impl AsyncRead for Begun {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.input.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        let piece = this
            .input
            .split_to(this.input.len().min(buffer.remaining()));
        buffer.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Begun {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_waits_for_a_client_that_reads_slowly() {
        const BYTES: usize = 200_000;
        /// How many bytes a client takes before it has said anything.
        const WINDOW: usize = 65_535;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let sent = Cell::new(false);
        let serve = async |inside: DuplexStream| {
            let mut streams = h2::server::handshake(inside).await.unwrap();
            let (_, mut respond) = streams.accept().await.unwrap().unwrap();
            let head = ::http::Response::new(());
            let mut stream = respond.send_response(head, false).unwrap();
            let sending = async {
                let bytes = Bytes::from(vec![b'x'; BYTES]);
                send(&mut stream, bytes, true).await.unwrap();
                sent.set(true);
            };
            tokio::join!(sending, streams.accept());
        };
        let read = async |outside: DuplexStream| {
            let (mut ask, connection) = h2::client::handshake(outside).await.unwrap();
            let reading = async {
                let request = ::http::Request::get("http://a/").body(()).unwrap();
                let (response, _) = ask.send_request(request, true).unwrap();
                let mut body = response.await.unwrap().into_body();
                let mut received = 0;
                while received < WINDOW {
                    received += body.data().await.unwrap().unwrap().len();
                }
                assert!(!sent.get(), "the rest is not sent before there is room");
                body.flow_control().release_capacity(received).unwrap();
                while let Some(piece) = body.data().await {
                    let length = piece.unwrap().len();
                    received += length;
                    body.flow_control().release_capacity(length).unwrap();
                }
                assert_eq!(received, BYTES);
                drop(ask);
            };
            tokio::join!(reading, connection).1.unwrap();
        };
        runtime.block_on(async {
            let (inside, outside) = tokio::io::duplex(WAITING_BYTES);
            tokio::join!(serve(inside), read(outside));
        });
        assert!(sent.get());
    }
}
