//! Peers that break the rules of HTTP, or of good behaviour, each in one stated way.
//!
//! They represent the servers that a load generator must survive, and whose failures it must classify and count.

mod peers;
mod responses;

use crate::connection::Connection;
use crate::http::{self, Parsed};
use std::io;
use std::pin::Pin;

pub struct Behaviour {
    pub name: &'static str,
    pub about: &'static str,
    how: How,
}

enum How {
    /// Answers every request with these bytes, and then does what `Then` says.
    Response(fn() -> Vec<u8>, Then),
    /// Anything else.
    Peer(fn(Connection) -> Serving),
}

type Serving = Pin<Box<dyn Future<Output = io::Result<()>>>>;

/// What follows a response.
#[derive(Clone, Copy)]
enum Then {
    /// Waits for the next request.
    Next,
    /// Closes the connection in an orderly way.
    Close,
    /// Ends the connection with a TCP reset.
    Reset,
    /// Sends nothing more, but continues to read.
    Hold,
    /// Closes its own direction, and continues to read.
    HalfClose,
}

impl Behaviour {
    /// Behaves in this way towards one client, until the connection ends.
    pub fn act(&self, connection: Connection) -> Serving {
        match self.how {
            How::Response(bytes, then) => Box::pin(response(connection, bytes(), then)),
            How::Peer(serve) => serve(connection),
        }
    }
}

pub fn find(name: &str) -> Option<&'static Behaviour> {
    all().find(|behaviour| behaviour.name == name)
}

/// The behaviours, each with its name and what it does.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().map(|behaviour| (behaviour.name, behaviour.about))
}

fn all() -> impl Iterator<Item = &'static Behaviour> {
    peers::PEERS.iter().chain(responses::RESPONSES)
}

async fn response(mut connection: Connection, bytes: Vec<u8>, then: Then) -> io::Result<()> {
    while read_request(&mut connection).await? {
        connection.output.extend_from_slice(&bytes);
        connection.flush().await?;
        match then {
            Then::Next => {}
            Then::Close => return connection.close().await,
            Then::Reset => return connection.reset_when_dropped(),
            Then::Hold => return connection.drain().await,
            Then::HalfClose => return peers::half_close(connection).await,
        }
    }
    Ok(())
}

/// Reads the next request, whatever it asks for; returns false at the end of the connection.
async fn read_request(connection: &mut Connection) -> io::Result<bool> {
    loop {
        let length = match http::parse(&connection.input) {
            Parsed::Request(request) => request
                .head
                .head_length
                .saturating_add(request.head.body_length),
            Parsed::Refused(_) => connection.input.len() as u64,
            Parsed::Incomplete => {
                if !connection.fill().await? {
                    return Ok(false);
                }
                continue;
            }
        };
        return connection.skip(length).await;
    }
}
