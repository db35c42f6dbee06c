//! A well-behaved HTTP server, whatever it serves: a connection's requests are answered one after another.

use crate::connection::Connection;
use crate::http::{self, Framing, Method, Parsed, Persistence, Request};
use std::io;

/// What is served.
pub trait Site {
    /// What a request asks for, in a form that outlives the bytes of the request.
    type Task;

    fn understand(&self, request: &Request) -> Self::Task;

    /// Puts the answer into the connection's output, when it is time.
    async fn answer(
        &self,
        task: Self::Task,
        framing: Framing,
        connection: &mut Connection,
    ) -> io::Result<()>;
}

/// Answers the requests of one connection until either side ends it.
pub async fn converse(site: &impl Site, mut connection: Connection) -> io::Result<()> {
    loop {
        match http::parse(&connection.input) {
            Parsed::Incomplete => {
                if !connection.fill().await? {
                    return Ok(());
                }
            }
            Parsed::Request(request) => {
                let framing = request.framing;
                let task = site.understand(&request);
                if !connection
                    .skip(framing.head_length.saturating_add(framing.body_length))
                    .await?
                {
                    return Ok(());
                }
                site.answer(task, framing, &mut connection).await?;
                if framing.persistence == Persistence::Close {
                    return connection.close().await;
                }
            }
            Parsed::Refused(answer) => {
                answer.encode(
                    Method::Get,
                    Persistence::Close,
                    None,
                    &mut connection.output,
                );
                return connection.close().await;
            }
        }
    }
}
