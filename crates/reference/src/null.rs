//! The null server: every request is answered at once with the /hello body.
//!
//! It is the floor for calibration: what a load generator measures here is the generator, the kernel and
//! the loopback, and next to nothing of a server.

use crate::connection::Connection;
use crate::http::{HELLO, Method, Persistence, Request, RequestHead, Response, TEXT};
use crate::site::Site;
use std::io;

/// The only response, encoded in advance for each kind of persistence.
pub struct Null {
    close: Vec<u8>,
    keep: Vec<u8>,
    keep_and_say: Vec<u8>,
}

impl Null {
    pub fn new() -> Self {
        let encoded = |persistence| {
            let mut bytes = Vec::new();
            Response::ok(TEXT, HELLO).encode(Method::Get, persistence, None, &mut bytes);
            bytes
        };
        Self {
            close: encoded(Persistence::Close),
            keep: encoded(Persistence::Keep),
            keep_and_say: encoded(Persistence::KeepAndSay),
        }
    }
}

impl Site for Null {
    type Task = ();

    fn interpret(&self, _request: &Request) {}

    async fn response(
        &self,
        (): (),
        head: RequestHead,
        connection: &mut Connection,
    ) -> io::Result<()> {
        let whole = match head.persistence {
            Persistence::Close => &self.close,
            Persistence::Keep => &self.keep,
            Persistence::KeepAndSay => &self.keep_and_say,
        };
        let withheld = if head.method == Method::Head {
            HELLO.len()
        } else {
            0
        };
        connection
            .output
            .extend_from_slice(&whole[..whole.len() - withheld]);
        Ok(())
    }
}
