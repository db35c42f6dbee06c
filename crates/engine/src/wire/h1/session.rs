//! A client's doings on the wire: connect where needed, send, headers, body; and the record of it.

use std::cell::RefMut;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use crate::load::Shared;
use crate::plan::{Request, Workload};
use crate::record::interval::Outcome;
use crate::record::recorder::{Recorder, Sample};
use crate::schedule::random::Stream;
use crate::seat::Seat;
use crate::spec::LoadSpec;
use crate::wire::dial::{Transport, connect};
use crate::wire::h1::codec::{ResponseDecoder, Step};
use crate::wire::verify::BodyState;

/// How long a client waits for a server that is to close. Then the client closes first.
const CLOSE_WAIT_NS: u64 = 100_000_000;

/// A request that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub request: usize,
    pub intended: u64,
    /// When the client's code ran, if it was woken for it.
    pub ran: Option<u64>,
    /// No other request of this client follows.
    pub last: bool,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub outcome: Outcome,
    /// When the client is free again.
    pub at: u64,
}

/// One client's connection, and what it needs to use it.
pub struct Session {
    pub seat: Seat,
    shared: Rc<Shared>,
    workload: usize,
    /// Number of the client in the rows.
    pub client: u32,
    connection: Option<Connection>,
    body: Option<Box<BodyState>>,
}

struct Connection {
    transport: Transport,
    decoder: ResponseDecoder,
    /// Requests sent on it.
    used: u64,
}

impl Session {
    pub fn new(shared: Rc<Shared>, seat: Seat, workload: usize, client: u32) -> Self {
        Self {
            seat,
            shared,
            workload,
            client,
            connection: None,
            body: None,
        }
    }

    /// One request, from its intended start to its record.
    pub async fn perform(&mut self, job: &Job, random: &mut Stream) -> Ended {
        let shared = self.shared.clone();
        let workload = &shared.plan.workloads[self.workload];
        let mut sample = self.sample(workload, job);
        if self.seat.stopping() {
            return self.finish(sample, Outcome::NeverSent);
        }
        if !self.connection_is_usable() {
            self.hang_up();
            if let Err(outcome) = Box::pin(self.connect(workload, &mut sample)).await {
                return self.finish(sample, outcome);
            }
        }
        let connection = self
            .connection
            .as_mut()
            .expect("it is usable or was just opened");
        connection.used += 1;
        let closing =
            job.last || per_connection(workload).is_some_and(|most| connection.used >= most);
        let request = &workload.requests[job.request];
        let template = if closing {
            &request.close
        } else {
            &request.keep_alive
        };
        let mut filled = Vec::new();
        let bytes = template.fixed().unwrap_or_else(|| {
            filled = shared.spare.borrow_mut().pop().unwrap_or_default();
            request.fill(template, random, &mut filled);
            &filled
        });
        connection.decoder.begin(template.is_head());
        let mut exchange = Exchange::new(
            &self.seat,
            &self.shared,
            workload,
            request,
            connection,
            &mut self.body,
            bytes,
            &mut sample,
        );
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let (reusable, announced) = (exchange.reusable() && !closing, exchange.server_closes());
        if filled.capacity() > 0 {
            filled.clear();
            shared.spare.borrow_mut().push(filled);
        }
        let mut ended = self.finish(sample, outcome);
        if announced {
            self.await_close().await;
            ended.at = self.seat.now();
        }
        if !reusable {
            self.hang_up();
        }
        ended
    }

    fn sample(&self, workload: &Workload, job: &Job) -> Sample {
        Sample {
            workload: self.workload,
            request: job.request,
            phase: workload.phase_at(job.intended),
            client: self.client,
            intended: job.intended,
            ran: job.ran,
            connect: None,
            sent: None,
            headers: None,
            end: 0,
            outcome: Outcome::Unfinished,
            status: 0,
            bytes_in: 0,
            bytes_out: 0,
        }
    }

    fn connection_is_usable(&mut self) -> bool {
        self.connection.as_mut().is_some_and(|connection| {
            connection.used == 0
                || !connection
                    .transport
                    .disturbed(&mut self.shared.scratch.borrow_mut())
        })
    }

    async fn connect(&mut self, workload: &Workload, sample: &mut Sample) -> Result<(), Outcome> {
        self.recorder().connecting(self.workload);
        let (transport, times) = connect(&self.seat, &self.shared, workload).await?;
        let decoder = ResponseDecoder::new(workload.body_limit);
        self.connection = Some(Connection {
            transport,
            decoder,
            used: 0,
        });
        self.recorder().connected(self.workload);
        sample.connect = Some(Box::new(times));
        Ok(())
    }

    pub fn hang_up(&mut self) {
        if self.connection.take().is_some() {
            self.recorder().parted(self.workload);
        }
    }

    fn recorder(&self) -> RefMut<'_, Recorder> {
        self.shared.recorder.borrow_mut()
    }

    fn finish(&mut self, mut sample: Sample, outcome: Outcome) -> Ended {
        self.seat.clear_deadline();
        let now = self.seat.now();
        if matches!(outcome, Outcome::Unfinished | Outcome::NeverSent) {
            sample.end = self.shared.last_moment();
        } else if sample.end == 0 {
            sample.end = now;
        }
        sample.outcome = outcome;
        self.recorder().ended(&sample);
        Ended {
            outcome,
            at: sample.end,
        }
    }

    /// The server announced to close: let it close first, so that the used-up port stays at its side.
    async fn await_close(&mut self) {
        let Self {
            seat,
            shared,
            connection: Some(connection),
            ..
        } = self
        else {
            return;
        };
        seat.set_deadline(seat.now() + CLOSE_WAIT_NS);
        poll_fn(|cx| {
            let mut scratch = shared.scratch.borrow_mut();
            match connection
                .transport
                .poll_read(cx, &mut ReadBuf::new(&mut scratch[..1]))
            {
                Poll::Ready(_) => Poll::Ready(()),
                Poll::Pending => seat.poll_interrupt().map(|_| ()),
            }
        })
        .await;
        seat.clear_deadline();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn per_connection(workload: &Workload) -> Option<u64> {
    match &workload.load {
        LoadSpec::Closed(closed) => closed.requests_per_connection,
        LoadSpec::Open(open) => open.requests_per_connection,
    }
}

/// One request and its response on a connection.
struct Exchange<'a> {
    seat: &'a Seat,
    shared: &'a Shared,
    workload: &'a Workload,
    request: &'a Request,
    connection: &'a mut Connection,
    body: &'a mut Option<Box<BodyState>>,
    sample: &'a mut Sample,
    unsent: &'a [u8],
    /// Writing failed, and what that means if there is no answer to be read all the same.
    broken: Option<Outcome>,
    /// As its head says.
    keep_alive: bool,
    /// The response is whole, nothing stands behind it, and the peer has not closed.
    clean: bool,
}

impl<'a> Exchange<'a> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one exchange")]
    fn new(
        seat: &'a Seat,
        shared: &'a Shared,
        workload: &'a Workload,
        request: &'a Request,
        connection: &'a mut Connection,
        body: &'a mut Option<Box<BodyState>>,
        bytes: &'a [u8],
        sample: &'a mut Sample,
    ) -> Self {
        if let Some(verifier) = &request.body {
            verifier.begin(body.get_or_insert_default());
        }
        let unsent = bytes;
        Self {
            seat,
            shared,
            workload,
            request,
            connection,
            body,
            sample,
            unsent,
            broken: None,
            keep_alive: false,
            clean: false,
        }
    }

    fn reusable(&self) -> bool {
        self.clean && self.keep_alive && self.broken.is_none() && self.unsent.is_empty()
    }

    fn server_closes(&self) -> bool {
        self.clean && !self.keep_alive
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        // Nothing that comes after the end counts, so that all requests in flight end at the same moment.
        if self.seat.stopping() {
            let sent = self.sample.sent.is_some();
            return Poll::Ready(if sent {
                Outcome::Unfinished
            } else {
                Outcome::NeverSent
            });
        }
        self.write(cx);
        loop {
            let mut scratch = self.shared.scratch.borrow_mut();
            let mut buffer = ReadBuf::new(&mut scratch);
            match self.connection.transport.poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    return Poll::Ready(self.eof());
                }
                Poll::Ready(Ok(())) => {
                    if let Some(outcome) = self.read(buffer.filled()) {
                        return Poll::Ready(outcome);
                    }
                }
                Poll::Ready(Err(error)) => {
                    let outcome = failed(&error);
                    if outcome == Outcome::TlsFailed {
                        self.shared.recorder.borrow_mut().tls_failed(&error);
                    }
                    return Poll::Ready(outcome);
                }
                Poll::Pending => break,
            }
        }
        self.seat.poll_interrupt().map(|_| Outcome::ResponseTimeout)
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        if self.sample.sent.is_none() {
            self.begin();
        }
        while !self.unsent.is_empty() && self.broken.is_none() {
            match self.connection.transport.poll_write(cx, self.unsent) {
                Poll::Ready(Ok(written)) => {
                    self.unsent = &self.unsent[written..];
                    self.sample.bytes_out += written as u64;
                }
                Poll::Ready(Err(error)) => self.broken = Some(failed(&error)),
                Poll::Pending => return,
            }
        }
        if let Poll::Ready(Err(error)) = self.connection.transport.poll_flush(cx) {
            self.broken = Some(failed(&error));
        }
    }

    fn begin(&mut self) {
        let now = self.seat.now();
        self.sample.sent = Some(now);
        self.shared
            .recorder
            .borrow_mut()
            .sent(self.workload.index, now);
        let timeouts = &self.workload.timeouts;
        let first = timeouts
            .first_byte_ns
            .unwrap_or(u64::MAX)
            .min(timeouts.total_ns);
        self.seat.set_deadline(now.saturating_add(first));
    }

    /// Takes in what has come; the outcome, if that was the end.
    fn read(&mut self, mut input: &[u8]) -> Option<Outcome> {
        let now = self.seat.now();
        if self.sample.bytes_in == 0
            && let (Some(_), Some(sent)) = (self.workload.timeouts.first_byte_ns, self.sample.sent)
        {
            self.seat
                .set_deadline(sent.saturating_add(self.workload.timeouts.total_ns));
        }
        self.sample.bytes_in += input.len() as u64;
        loop {
            let (used, step) = match self.connection.decoder.step(input) {
                Ok(result) => result,
                Err(error) => {
                    self.sample.end = now;
                    return Some(error.outcome());
                }
            };
            match step {
                Step::NeedMore => return None,
                Step::Head { status, keep_alive } => {
                    self.sample.headers = Some(now);
                    self.sample.status = status;
                    self.keep_alive = keep_alive;
                }
                Step::Body(length) => {
                    if let (Some(verifier), Some(state)) =
                        (&self.request.body, self.body.as_deref_mut())
                    {
                        verifier.feed(state, &input[used - length..used]);
                    }
                }
                Step::End => {
                    self.clean = used == input.len();
                    return Some(self.end(now));
                }
            }
            input = &input[used..];
        }
    }

    /// The response is whole: was it the right one?
    fn end(&mut self, now: u64) -> Outcome {
        self.sample.end = now;
        let right_body = match (&self.request.body, self.body.as_deref_mut()) {
            (Some(verifier), Some(state)) => verifier.end(state),
            _ => true,
        };
        if !self.request.accepts(self.sample.status) {
            Outcome::WrongStatus
        } else if right_body {
            Outcome::Ok
        } else {
            Outcome::WrongBody
        }
    }

    fn eof(&mut self) -> Outcome {
        let now = self.seat.now();
        match self.connection.decoder.eof() {
            Ok(_) => self.end(now),
            Err(error) => self.broken.unwrap_or_else(|| error.outcome()),
        }
    }
}

fn is_alert(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(rustls::Error::AlertReceived(_)))
}

fn failed(error: &io::Error) -> Outcome {
    match error.kind() {
        // rustls: the peer closed without saying so. Written after the peer had closed.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => Outcome::ClosedEarly,
        // TLS 1.3: a server says no to a client's certificate only after the client's side of the handshake.
        io::ErrorKind::InvalidData if is_alert(error) => Outcome::TlsFailed,
        // rustls: records were malformed.
        io::ErrorKind::InvalidData => Outcome::Malformed,
        _ => Outcome::Reset,
    }
}
