//! One client's streams, one after another.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Error, RecvStream, SendStream};
use http::header::{CONTENT_LENGTH, LOCATION};
use http::{HeaderMap, HeaderValue, Request, Response};

use crate::record::interval::Outcome;
use crate::wire::dial::Dialer;
use crate::wire::failure::Failure;
use crate::wire::grpc::Answer;
use crate::wire::h1::codec::{DecodeError, MAX_HEADERS, redirects};
use crate::wire::h2::connection::{Connection, takes_more};
use crate::wire::h2::failure::failure;
use crate::wire::h2::message::Message;
use crate::wire::h2::pool::Member;
use crate::wire::link::Unasked;
use crate::wire::request::Call;
use crate::wire::target::Target;
use crate::wire::tls::Sessions;
use crate::wire::watch::Watch;

/// The fields are dropped in this order: whoever leaves a connection last closes it.
pub struct Link {
    send: SendRequest<Bytes>,
    connection: Rc<Connection>,
    /// Its place among those who share the connection; `None`: it is this client's own.
    _member: Option<Member>,
    tls: bool,
    /// The connection is the client's own, and it has carried as much as it was to carry.
    spent: bool,
}

impl Link {
    pub async fn open(
        dialer: &Dialer,
        target: &Target,
        sessions: &mut Sessions,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Failure> {
        let shared = target
            .http2
            .is_some_and(|http2| http2.connections.is_some());
        let (connection, member) = if shared {
            let joined = dialer.pool.join(dialer, target, sessions, watch).await;
            joined.map(|(connection, member)| (connection, Some(member)))?
        } else {
            let connection = Connection::open(dialer, target, sessions, watch).await?;
            (connection, None)
        };
        Ok(Self {
            send: connection.sender(),
            connection,
            _member: member,
            tls: target.tls.is_some(),
            spent: false,
        })
    }

    pub fn room(&mut self) -> Result<(), Unasked> {
        if self.connection.has_ended() || !takes_more(&mut self.send) {
            return Err(Unasked::Closed);
        }
        Ok(())
    }

    pub fn is_spent(&self) -> bool {
        self.spent || self.connection.has_ended()
    }

    pub async fn exchange(&mut self, mut call: Call<'_>, watch: &mut Watch<'_>) -> Outcome {
        let template = call.template;
        let mut filled = Vec::new();
        let method = call.request.grpc.as_deref();
        let mut finished = Ok(());
        let request = template.fixed().unwrap_or_else(|| {
            call.request.fill(template, &mut call, &mut filled);
            finished = method.map_or(Ok(()), |method| method.finish(&mut filled));
            &filled
        });
        if watch.transcript.is_some() {
            let shown = method.map(|method| method.shown(request));
            watch.asking(&as_shown(shown.as_deref().unwrap_or(request)));
        } else {
            watch.asking(request);
        }
        let message = finished.and_then(|()| Message::of(request, self.tls));
        let mut message = match message {
            Ok(message) => message,
            Err(problem) => {
                let why = format!("the request cannot be sent over HTTP/2: {problem}");
                return watch.failed(Failure::new(Outcome::Malformed, why));
            }
        };
        if method.is_some() {
            message.leave_out_length();
        }
        let connection = self.connection.clone();
        let _place = match connection.stream(watch).await {
            Ok(place) => place,
            Err(outcome) => return outcome,
        };
        let answer = method.map(|method| Answer::new(method, watch));
        let mut exchange = Exchange {
            send: &mut self.send,
            connection: &connection,
            watch,
            stage: Stage::Ask(Box::new(message.head), message.head_bytes),
            upload: None,
            unsent: message.body,
            body_bytes: 0,
            answer,
        };
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        drop(exchange);
        connection.carried();
        watch.sent(request);
        self.spent = call.last;
        outcome
    }
}

/// The request as it is shown to people: the protocol that is spoken stands in its first line.
fn as_shown(request: &[u8]) -> Vec<u8> {
    let line = memchr::memchr(b'\r', request).unwrap_or(request.len());
    let (line, rest) = request.split_at(line);
    let line = line.strip_suffix(b"HTTP/1.1").unwrap_or(line);
    [line, b"HTTP/2", rest].concat()
}

/// One request and its answer on a stream.
struct Exchange<'a, 'w> {
    send: &'a mut SendRequest<Bytes>,
    connection: &'a Connection,
    watch: &'a mut Watch<'w>,
    stage: Stage,
    /// Where the rest of the request's body goes.
    upload: Option<SendStream<Bytes>>,
    unsent: Bytes,
    body_bytes: u64,
    /// Of a call of gRPC.
    answer: Option<Answer<'a>>,
}

enum Stage {
    /// The request is to be sent; its head, and how large that is.
    Ask(Box<Request<()>>, usize),
    Head(ResponseFuture),
    Body(RecvStream),
    Trailers(RecvStream),
    Over,
}

impl Exchange<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.watch.sending() {
            return Poll::Ready(outcome);
        }
        self.send_body(cx);
        loop {
            match self.step(cx) {
                Poll::Ready(None) => {}
                Poll::Ready(Some(outcome)) => return Poll::Ready(outcome),
                Poll::Pending => break,
            }
        }
        let interrupted = self.watch.seat.poll_interrupt();
        interrupted.map(|_| self.watch.timed_out())
    }

    /// Goes on with the stage; `Some`: that was the end.
    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        match &mut self.stage {
            Stage::Ask(..) => Poll::Ready(self.ask(cx)),
            Stage::Head(response) => Pin::new(response).poll(cx).map(|answer| match answer {
                Ok(answer) => self.head(answer),
                Err(error) => Some(self.fail(&error)),
            }),
            Stage::Body(body) => body.poll_data(cx).map(|data| match data {
                Some(Ok(bytes)) => self.body(&bytes),
                Some(Err(error)) => Some(self.fail(&error)),
                None => {
                    if let Stage::Body(body) = std::mem::replace(&mut self.stage, Stage::Over) {
                        self.stage = Stage::Trailers(body);
                    }
                    None
                }
            }),
            Stage::Trailers(body) => body.poll_trailers(cx).map(|trailers| match trailers {
                Ok(trailers) => {
                    self.watch.received(0);
                    Some(self.end(&trailers.unwrap_or_default()))
                }
                Err(error) => Some(self.fail(&error)),
            }),
            Stage::Over => unreachable!("an exchange ends once"),
        }
    }

    fn ask(&mut self, cx: &mut Context<'_>) -> Option<Outcome> {
        let Stage::Ask(head, bytes) = std::mem::replace(&mut self.stage, Stage::Over) else {
            unreachable!("a request is sent once");
        };
        let bodiless = self.unsent.is_empty();
        match self.send.send_request(*head, bodiless) {
            Ok((response, upload)) => {
                self.watch.wrote(bytes);
                self.stage = Stage::Head(response);
                self.upload = (!bodiless).then_some(upload);
                self.send_body(cx);
                None
            }
            Err(error) => Some(self.fail(&error)),
        }
    }

    /// Sends of the body what the server's windows let through. If it does not go through at all, the answer says why.
    fn send_body(&mut self, cx: &mut Context<'_>) {
        let Some(upload) = &mut self.upload else {
            return;
        };
        while self.unsent.has_remaining() {
            upload.reserve_capacity(self.unsent.len());
            let room = upload.capacity().min(self.unsent.len());
            if room == 0 {
                match upload.poll_capacity(cx) {
                    Poll::Ready(Some(Ok(_))) => continue,
                    Poll::Ready(_) => break,
                    Poll::Pending => return,
                }
            }
            let piece = self.unsent.split_to(room);
            if upload.send_data(piece, self.unsent.is_empty()).is_err() {
                break;
            }
            self.watch.wrote(room);
        }
        // Dropped before the end it resets the stream, so it stays until the answer is there.
        self.unsent.clear();
    }

    fn head(&mut self, answer: Response<RecvStream>) -> Option<Outcome> {
        let (head, body) = answer.into_parts();
        let fields = head.headers.iter();
        let sizes = fields.map(|(name, value)| name.as_str().len() + value.len());
        self.watch
            .received(":status200".len() + sizes.sum::<usize>());
        if head.headers.len() > MAX_HEADERS {
            return Some(self.refuse(DecodeError::TooManyHeaders));
        }
        let status = head.status.as_u16();
        let location = head.headers.get(LOCATION);
        let location = location.filter(|_| self.watch.limits.follow && redirects(status));
        let bytes = self.watch.reads_head().then(|| encode(&head));
        let location = location.map(|location| location.as_bytes().into());
        self.watch.head(status, location, bytes);
        let header = |name: &str| head.headers.get(name).map(HeaderValue::as_bytes);
        if let Some(answer) = &mut self.answer
            && let Err(failure) = answer.head(status, header)
        {
            return Some(self.watch.failed(failure));
        }
        if self.answer.is_some() && body.is_end_stream() {
            return Some(self.end(&head.headers));
        }
        let length = head.headers.get(CONTENT_LENGTH);
        let length = length.filter(|_| !body.is_end_stream());
        let length: Option<u64> = length.and_then(|length| length.to_str().ok()?.parse().ok());
        if let (Some(length), Some(most)) = (length, self.watch.limits.body)
            && length > most
        {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        self.stage = Stage::Body(body);
        None
    }

    fn body(&mut self, bytes: &[u8]) -> Option<Outcome> {
        self.watch.received(bytes.len());
        self.body_bytes += bytes.len() as u64;
        if self
            .watch
            .limits
            .body
            .is_some_and(|most| self.body_bytes > most)
        {
            return Some(self.refuse(DecodeError::BodyTooLarge));
        }
        let Stage::Body(body) = &mut self.stage else {
            unreachable!("a body comes after its head");
        };
        // The window opens again; an error is the stream's, which tells it itself.
        let _ = body.flow_control().release_capacity(bytes.len());
        let over = body.is_end_stream();
        let enough = match &mut self.answer {
            _ if bytes.is_empty() => false,
            None => self.watch.body(bytes),
            Some(answer) => match answer.data(bytes, self.watch) {
                Ok(enough) => enough,
                Err(failure) => return Some(self.watch.failed(failure)),
            },
        };
        if enough {
            return Some(self.watch.complete());
        }
        over.then(|| self.end(&HeaderMap::new()))
    }

    /// The answer is whole.
    fn end(&mut self, trailers: &HeaderMap) -> Outcome {
        let trailer = |name: &str| trailers.get(name).map(HeaderValue::as_bytes);
        match self.answer.take() {
            Some(answer) => answer.end(trailer, self.watch),
            None => self.watch.complete(),
        }
    }

    fn refuse(&mut self, error: DecodeError) -> Outcome {
        self.watch.failed(Failure::new(error.outcome(), error))
    }

    fn fail(&mut self, error: &Error) -> Outcome {
        let progress = self.connection.progress(self.watch.sample.bytes_in > 0);
        self.watch.failed(failure(error, progress))
    }
}

/// The head of an answer as text, as it would stand in HTTP/1.1.
fn encode(head: &http::response::Parts) -> Box<[u8]> {
    let mut text = format!("HTTP/2 {}\r\n", head.status.as_u16()).into_bytes();
    for (name, value) in &head.headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            text.extend_from_slice(part);
        }
    }
    text.extend_from_slice(b"\r\n");
    text.into()
}
