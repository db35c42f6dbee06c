//! A well-behaved HTTP server for any content: a connection's requests are answered one after another.

use crate::connection::Connection;
use crate::http::{self, Method, Parsed, Persistence, Request, RequestHead};
use crate::http2;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// How long an idle connection is kept, and for how many requests; `None` means as long as the client likes.
#[derive(Clone, Copy, Default)]
pub struct KeepAlive {
    pub idle: Option<Duration>,
    pub requests: Option<u64>,
}

/// The content that is served.
pub trait Site {
    /// What a request asks for, in a form that outlives the request's bytes.
    type Task;

    fn keep_alive(&self) -> KeepAlive {
        KeepAlive::default()
    }

    fn interpret(&self, request: &Request) -> Self::Task;

    /// Waits until the response is due, and appends it to the connection's output.
    async fn response(
        &self,
        task: Self::Task,
        head: RequestHead,
        connection: &mut Connection,
    ) -> io::Result<()>;
}

/// Answers the requests of one connection until either side ends it.
pub async fn converse(site: Rc<impl Site + 'static>, mut connection: Connection) -> io::Result<()> {
    let KeepAlive { idle, requests } = site.keep_alive();
    let mut answered = 0;
    loop {
        let parsed = match http2::begins(&connection.input) {
            Some(true) if answered == 0 => return http2::converse(site, connection).await,
            None if answered == 0 && !connection.input.is_empty() => Parsed::Incomplete,
            _ => http::parse(&connection.input),
        };
        match parsed {
            Parsed::Incomplete => {
                let idle = idle.filter(|_| connection.input.is_empty());
                match with_timeout(idle, connection.fill()).await {
                    None => return connection.close().await,
                    Some(more) => {
                        if !more? {
                            return Ok(());
                        }
                    }
                }
            }
            Parsed::Request(request) => {
                let mut head = request.head;
                answered += 1;
                if requests.is_some_and(|limit| answered >= limit) {
                    head.persistence = Persistence::Close;
                }
                let task = site.interpret(&request);
                let length = head.head_length.saturating_add(head.body_length);
                if head.expects_continue && (connection.input.len() as u64) < length {
                    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
                    connection.output.extend_from_slice(interim);
                }
                if !connection.skip(length).await? {
                    return Ok(());
                }
                site.response(task, head, &mut connection).await?;
                if head.persistence == Persistence::Close {
                    return connection.close().await;
                }
            }
            Parsed::Refused(response) => {
                response.encode(
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

/// Returns what `future` returns; `None` if it takes longer than `time`.
pub async fn with_timeout<T>(time: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match time {
        Some(time) => tokio::time::timeout(time, future).await.ok(),
        None => Some(future.await),
    }
}
