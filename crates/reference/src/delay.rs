//! A proxy that makes a server seem farther away: requests pass at once, responses are delayed.
//!
//! Every piece of a response is held for the same time from its own arrival. The waits of successive pieces
//! overlap, so what is pipelined stays pipelined.

use crate::connection::Connection;
use crate::stream::Stream;
use crate::timer::Timer;
use jostle_discipline::Nanos;
use std::future::pending;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{self, Receiver, Sender};

const PIECE_BYTES: usize = 16 * 1024;
/// How many pieces of one connection may wait. Beyond that, no more is read from the server until one is sent.
const MAX_HELD_PIECES: usize = 1024;

/// When a piece of a response is due, and the piece. An empty piece marks the end.
type Held = (Nanos, Vec<u8>);

/// Passes everything between a client and `to` ("host:port") until the server closes or either breaks off.
pub async fn forward(client: Connection, to: &str, delay: Nanos) -> io::Result<()> {
    let server = TcpStream::connect(to).await.inspect_err(|error| {
        eprintln!("jostle-reference: cannot connect to {to}: {error}");
    })?;
    server.set_nodelay(true)?;
    let timer = Timer::new()?;
    let Stream::Tcp(client) = client.stream else {
        unreachable!("clients come over TCP")
    };
    let (from_client, mut to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (queue, held) = mpsc::channel(MAX_HELD_PIECES);
    let responses_forwarded = async {
        tokio::try_join!(
            hold_responses(from_server, queue, delay, &timer),
            release(held, &mut to_client, &timer)
        )
    };
    tokio::select! {
        result = responses_forwarded => result.map(|_| ()),
        Err(error) = forward_requests(from_client, to_server) => Err(error),
    }
}

/// Passes requests on at once. Ends only on an error: when the client has sent everything, responses may still come.
async fn forward_requests(
    mut from_client: OwnedReadHalf,
    mut to_server: OwnedWriteHalf,
) -> io::Result<()> {
    tokio::io::copy(&mut from_client, &mut to_server).await?;
    to_server.shutdown().await?;
    pending().await
}

/// Reads pieces of responses, and queues each with the moment at which it is due.
async fn hold_responses(
    mut from_server: OwnedReadHalf,
    queue: Sender<Held>,
    delay: Nanos,
    timer: &Timer,
) -> io::Result<()> {
    loop {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let end = from_server.read_buf(&mut piece).await? == 0;
        piece.shrink_to_fit();
        if queue.send((timer.now() + delay, piece)).await.is_err() || end {
            return Ok(());
        }
    }
}

/// Sends each piece when it is due. Pieces are due in the order in which they came.
async fn release(
    mut held: Receiver<Held>,
    to_client: &mut OwnedWriteHalf,
    timer: &Timer,
) -> io::Result<()> {
    while let Some((due, piece)) = held.recv().await {
        if due > timer.now() {
            timer.set(Some(due))?;
            timer.expired().await?;
        }
        to_client.write_all(&piece).await?;
    }
    to_client.shutdown().await
}
