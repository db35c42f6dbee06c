//! The response of an observed request: its head, its body, and what is kept of the request itself.

use crate::body::coding::Coded;
use crate::body::event_meaning::EventStream;
use crate::exchange::observer::ExchangeObserver;
use crate::exchange::redirect::Redirect;
use crate::protocol::h1::head::HeadValues;
use crate::protocol::head::Head;
use crate::spec::StreamFormat;
use crate::template::values::path_of;

impl ExchangeObserver<'_> {
    /// Notes the bytes of the request.
    pub fn note_request(&mut self, bytes: &[u8]) {
        self.show(bytes);
        if self.request.reads_path {
            self.path = path_of(bytes).into();
        }
    }

    /// Notes a message over a WebSocket that was opened at `path`.
    pub fn note_message(&mut self, message: &[u8], path: &[u8]) {
        self.show(message);
        if self.request.reads_path {
            self.path = path.into();
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.add_request(bytes);
        }
    }

    /// Whether something looks at the response's body.
    pub fn reads_body(&self) -> bool {
        let stream = self.request.stream.as_ref();
        !self.request.taps.is_empty()
            || self.transcript.is_some()
            || stream.is_some_and(EventStream::reads_events)
    }

    /// Whether the content coding of a response over HTTP matters.
    pub fn decodes(&self) -> bool {
        self.reads_body() || self.request.stream.is_some()
    }

    /// Whether the bytes of the response's head are needed.
    pub fn reads_head(&self) -> bool {
        self.request.reads_head || self.transcript.is_some()
    }

    /// Notes the head of the final response, which was in the latest bytes. `bytes`: the whole head, if it is needed.
    pub fn head(&mut self, status: u16, values: HeadValues, bytes: Option<Box<[u8]>>) {
        self.begin_response();
        self.sample.headers = Some(self.at);
        self.sample.status = status;
        self.head = bytes;
        self.redirect = values.location.map(|location| {
            let from = String::new();
            Box::new(Redirect {
                status,
                location,
                from,
            })
        });
        let coding = values
            .coding
            .and_then(|coding| Coded::of(&coding, self.limits.body));
        self.coded = coding.map(Box::new);
        if let Some(stream) = &self.request.stream
            && self.redirect.is_none()
            && self.request.accepts(status)
            && (stream.spec.format != StreamFormat::Sse || is_event_stream(self.head.as_deref()))
        {
            self.events = Some(Box::default());
        }
    }

    /// Notes the whole request after the exchange: a redirect may be relative to its path.
    pub fn note_whole_request(&mut self, request: &[u8]) {
        if let Some(redirect) = &mut self.redirect {
            redirect.from = String::from_utf8_lossy(path_of(request)).into_owned();
        } else if self.sample.status != 0 && !self.request.accepts(self.sample.status) {
            self.recorder.borrow_mut().refused(self.sample, request);
        }
    }

    /// Notes that bytes which belong to no response came after the whole one.
    pub fn excess(&mut self, what: &str) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.excess(self.workload, what);
    }

    /// Takes the next bytes of the body. Returns whether no more of it is needed.
    pub fn body(&mut self, bytes: &[u8]) -> bool {
        let Some(mut coded) = self.coded.take() else {
            return self.decoded(bytes);
        };
        let mut enough = false;
        coded.feed(bytes, &mut |piece| enough |= self.decoded(piece));
        // Of a stream that is left before its end, the rest does not matter.
        self.coded = Some(coded).filter(|_| !enough);
        enough
    }

    /// Takes the next bytes of the body as they are meant.
    fn decoded(&mut self, bytes: &[u8]) -> bool {
        if let Some(transcript) = &mut self.transcript {
            transcript.add_body(bytes);
        }
        self.taps.feed(&self.request.taps, bytes);
        self.read_events(bytes)
    }
}

/// Whether the response has the type of an event stream. Source: WHATWG HTML, section 9.2.3.
fn is_event_stream(head: Option<&[u8]>) -> bool {
    let head = head.and_then(Head::parse);
    let value = head.as_ref().and_then(|head| head.header("content-type"));
    value.is_some_and(|value| {
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(b"text/event-stream")
    })
}
