//! A server of event streams. The request states when each event is sent, and every event says when it was due: ground
//! truth for a client's clock.
//!
//! `/events?n=20&gap-ms=50&first-ms=50&size=64&format=sse`: the first event is due `first-ms` after the request, each
//! further one `gap-ms` after the one before was due. `until=TEXT` follows immediately after the last event. After K
//! events, `stall-after=K` sends nothing more, and `cut-after=K` closes the connection.

use crate::connection::Connection;
use crate::http::{Method, Persistence, Request, RequestHead, Response};
use crate::routes::{parameter, path_and_query, real, whole};
use crate::site::Site;
use crate::timer::{Timer, monotonic};
use jostle_discipline::Nanos;
use std::io;
use std::io::Write;

const MAX_EVENTS: u64 = 1_000_000_000;
const MAX_MS: f64 = 600_000.0;
const MAX_SIZE: u64 = 1_000_000;
const MILLISECOND: f64 = 1e6;

pub struct Events;

/// What is sent, and when.
pub struct Schedule {
    lines: bool,
    events: u64,
    first: Nanos,
    gap: Nanos,
    /// Minimum size of each event's data, in bytes.
    size: usize,
    pub until: Option<String>,
    stall_after: Option<u64>,
    cut_after: Option<u64>,
}

/// What a schedule has next.
pub enum Next {
    Event,
    /// Nothing more is sent.
    Stall,
    /// The connection is closed.
    Cut,
    End,
}

impl Site for Events {
    type Task = Result<Schedule, Response>;

    fn interpret(&self, request: &Request) -> Self::Task {
        let (path, query) = path_and_query(request.target);
        match path {
            "/events" => Schedule::of(query),
            _ => Err(Response::refusal(
                404,
                "there is no such page; ask for /events",
            )),
        }
    }

    async fn response(
        &self,
        task: Self::Task,
        head: RequestHead,
        connection: &mut Connection,
    ) -> io::Result<()> {
        match task {
            Ok(schedule) => {
                schedule.send(head, connection).await?;
                if head.version_1_0 {
                    // Only the end of the connection says that the response is over.
                    connection.end().await?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Ok(())
            }
            Err(response) => {
                response.encode(head.method, head.persistence, None, &mut connection.output);
                Ok(())
            }
        }
    }
}

impl Schedule {
    pub fn of(query: &str) -> Result<Self, Response> {
        let number =
            |name, usual: &str, max| whole(name, parameter(query, name).unwrap_or(usual), max);
        let after = |name| {
            let given = parameter(query, name);
            given.map(|text| whole(name, text, MAX_EVENTS)).transpose()
        };
        let gap = parameter(query, "gap-ms").unwrap_or("50");
        let first = parameter(query, "first-ms").unwrap_or(gap);
        let lines = match parameter(query, "format") {
            None | Some("sse") => false,
            Some("lines") => true,
            Some(_) => return Err(Response::refusal(400, "format must be sse or lines")),
        };
        Ok(Self {
            lines,
            events: number("n", "20", MAX_EVENTS)?,
            first: (real("first-ms", first, MAX_MS)? * MILLISECOND) as Nanos,
            gap: (real("gap-ms", gap, MAX_MS)? * MILLISECOND) as Nanos,
            size: number("size", "0", MAX_SIZE)? as usize,
            until: parameter(query, "until").map(str::to_owned),
            stall_after: after("stall-after")?,
            cut_after: after("cut-after")?,
        })
    }

    async fn send(&self, head: RequestHead, connection: &mut Connection) -> io::Result<()> {
        let timer = Timer::new()?;
        let began = monotonic();
        let chunked = !head.version_1_0;
        self.head(head, &mut connection.output);
        connection.flush().await?;
        if head.method == Method::Head {
            return Ok(());
        }
        for number in 0.. {
            match self.after(number) {
                Next::Event => {}
                Next::Stall => {
                    connection.peer_has_gone().await;
                    return Ok(());
                }
                Next::Cut => return Err(io::ErrorKind::ConnectionAborted.into()),
                Next::End => break,
            }
            let due = self.due(number);
            timer.set(Some(due))?;
            timer.expired().await?;
            let data = self.data(number, began + due);
            self.event(&data, chunked, &mut connection.output);
            connection.flush().await?;
        }
        if let Some(until) = &self.until {
            self.event(until, chunked, &mut connection.output);
        }
        if chunked {
            connection.output.extend_from_slice(b"0\r\n\r\n");
        }
        Ok(())
    }

    /// What comes after this many events.
    pub fn after(&self, events: u64) -> Next {
        if self.stall_after == Some(events) {
            Next::Stall
        } else if self.cut_after == Some(events) {
            Next::Cut
        } else if events == self.events {
            Next::End
        } else {
            Next::Event
        }
    }

    /// Nanoseconds from the request to the event with this number; never 0.
    pub fn due(&self, number: u64) -> Nanos {
        (self.first + number * self.gap).max(1)
    }

    /// The data of an event that is due at `due` on the monotonic clock.
    pub fn data(&self, number: u64, due: Nanos) -> String {
        let mut data = format!("{{\"event\": {number}, \"due_ns\": {due}");
        let room = self.size.saturating_sub(data.len() + 1);
        data.extend(std::iter::repeat_n(' ', room));
        data.push('}');
        data
    }

    fn head(&self, head: RequestHead, output: &mut Vec<u8>) {
        let kind = if self.lines {
            "application/x-ndjson"
        } else {
            "text/event-stream"
        };
        let (encoding, persistence) = if head.version_1_0 {
            ("", Persistence::Close)
        } else {
            ("Transfer-Encoding: chunked\r\n", head.persistence)
        };
        let connection = persistence.header();
        write!(
            output,
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\n{encoding}{connection}\r\n"
        )
        .expect("memory takes what is written to it");
    }

    /// Appends an event, as a chunk of its own if `chunked`.
    fn event(&self, data: &str, chunked: bool, output: &mut Vec<u8>) {
        let (before, after) = if self.lines {
            ("", "\n")
        } else {
            ("data: ", "\n\n")
        };
        let event = format!("{before}{data}{after}");
        let written = if chunked {
            write!(output, "{:x}\r\n{event}\r\n", event.len())
        } else {
            output.write_all(event.as_bytes())
        };
        written.expect("memory takes what is written to it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_understood_or_refused() {
        let usual = Schedule::of("").unwrap();
        assert_eq!(
            (usual.events, usual.first, usual.gap),
            (20, 50_000_000, 50_000_000)
        );
        let other =
            Schedule::of("n=3&gap-ms=0.5&first-ms=2&format=lines&until=[DONE]&stall-after=1")
                .unwrap();
        assert_eq!(
            (other.events, other.first, other.gap),
            (3, 2_000_000, 500_000)
        );
        assert_eq!(
            (other.until.as_deref(), other.stall_after),
            (Some("[DONE]"), Some(1))
        );
        for wrong in ["n=x", "gap-ms=-1", "format=xml", "size=1e9", "cut-after=a"] {
            assert_eq!(
                Schedule::of(wrong).err().map(|response| response.status),
                Some(400),
                "{wrong}"
            );
        }
    }

    #[test]
    fn an_event_is_a_chunk_where_the_client_knows_chunks() {
        let mut output = Vec::new();
        let lines = Schedule::of("format=lines").unwrap();
        Schedule::of("").unwrap().event("abc", true, &mut output);
        lines.event("abc", true, &mut output);
        lines.event("abc", false, &mut output);
        assert_eq!(output, b"b\r\ndata: abc\n\n\r\n4\r\nabc\n\r\nabc\n");
    }
}
