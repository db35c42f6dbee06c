//! Hostile peers that are more than a fixed response: slow, endless, or acting at the wrong moment.

use super::How::Peer;
use super::{Behaviour, Serving, read_request, responses};
use crate::connection::Connection;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, Interest};

const SECOND: Duration = Duration::from_secs(1);

const fn behaviour(
    name: &'static str,
    about: &'static str,
    serve: fn(Connection) -> Serving,
) -> Behaviour {
    Behaviour {
        name,
        about,
        how: Peer(serve),
    }
}

pub static PEERS: &[Behaviour] = &[
    behaviour(
        "reset-after-accept",
        "resets as soon as it has accepted",
        |c| Box::pin(async move { c.reset_when_dropped() }),
    ),
    behaviour(
        "close-after-accept",
        "closes as soon as it has accepted",
        |c| Box::pin(c.close()),
    ),
    behaviour(
        "never-reads",
        "accepts, and neither reads nor writes",
        |c| Box::pin(never_reads(c)),
    ),
    behaviour("early-answer", "answers before it has read anything", |c| {
        Box::pin(early_response(c))
    }),
    behaviour("drip", "a right response at one byte a second", |c| {
        Box::pin(drip(c))
    }),
    behaviour(
        "endless-status-line",
        "a status line that never ends",
        |c| Box::pin(endless(c, b"HTTP/1.1 200 ", b"O")),
    ),
    behaviour("endless-headers", "headers without end", |c| {
        Box::pin(endless(
            c,
            b"HTTP/1.1 200 OK\r\n",
            b"X-Header: and another\r\n",
        ))
    }),
    behaviour("endless-continue", "100 Continue without end", |c| {
        Box::pin(endless(c, b"", b"HTTP/1.1 100 Continue\r\n\r\n"))
    }),
    behaviour(
        "endless-body",
        "a body of no stated length, without end",
        |c| {
            Box::pin(endless(
                c,
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
                b"x",
            ))
        },
    ),
    behaviour("endless-chunks", "chunks without end", |c| {
        Box::pin(endless(
            c,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"4\r\nmore\r\n",
        ))
    }),
    behaviour(
        "endless-chunk-size",
        "a chunk size with digits without end",
        |c| {
            Box::pin(endless(
                c,
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"0",
            ))
        },
    ),
];

pub async fn half_close(mut connection: Connection) -> io::Result<()> {
    connection.stream.shutdown().await?;
    connection.drain().await
}

/// Holds the connection without reading until the client has closed it.
async fn never_reads(connection: Connection) -> io::Result<()> {
    while let Some(stream) = connection.stream.tcp()
        && !stream.ready(Interest::READABLE).await?.is_read_closed()
    {
        tokio::time::sleep(SECOND).await;
    }
    Ok(())
}

async fn early_response(mut connection: Connection) -> io::Result<()> {
    connection.output = responses::hello();
    connection.close().await
}

async fn drip(mut connection: Connection) -> io::Result<()> {
    while read_request(&mut connection).await? {
        for byte in responses::hello() {
            connection.stream.write_all(&[byte]).await?;
            tokio::time::sleep(SECOND).await;
        }
    }
    Ok(())
}

/// Answers with `start`, and then repeats `rest` until the client closes the connection.
async fn endless(mut connection: Connection, start: &[u8], rest: &[u8]) -> io::Result<()> {
    const BLOCK: usize = 16 * 1024;
    if !read_request(&mut connection).await? {
        return Ok(());
    }
    connection.stream.write_all(start).await?;
    let block = rest.repeat(BLOCK / rest.len());
    loop {
        connection.stream.write_all(&block).await?;
    }
}
