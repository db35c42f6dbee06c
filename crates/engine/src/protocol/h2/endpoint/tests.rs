use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake};

use super::*;
use crate::protocol::h2::frame::write;
use crate::protocol::h2::stream::StreamEvent;

const STATUS_200: [u8; 1] = [0x88];
/// Length of the same field, decoded.
const STATUS_LENGTH: usize = 4 + ":status200".len();

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write(kind, flags, stream, payload, &mut out);
    out
}

/// An endpoint that has received the server's SETTINGS and has nothing left to send.
fn settings_received() -> Endpoint {
    let mut endpoint = Endpoint::default();
    endpoint.feed(&frame(SETTINGS, 0, 0, &[]), 0).unwrap();
    sent(&mut endpoint);
    endpoint
}

/// Returns what the endpoint had to send, and marks it as written.
fn sent(endpoint: &mut Endpoint) -> Vec<u8> {
    let sent = endpoint.unsent().to_vec();
    endpoint.wrote(sent.len());
    sent
}

fn ask(endpoint: &mut Endpoint, end: bool) -> (Rc<Stream>, u32) {
    let stream = Rc::<Stream>::default();
    let (id, _) = endpoint.ask(&stream, &[0x82], end);
    sent(endpoint);
    (stream, id)
}

fn events(stream: &Stream) -> Vec<StreamEvent> {
    let inbox = stream.take();
    inbox.events.iter().map(|(.., event)| *event).collect()
}

#[test]
fn a_body_goes_as_far_as_the_windows_let_it() {
    let mut endpoint = settings_received();
    let (_, id) = ask(&mut endpoint, false);
    let body = vec![7; 100_000];
    let (first, _) = endpoint.send(id, &body, true);
    assert_eq!(Ok(FIRST_WINDOW_BYTES), i64::try_from(first));
    sent(&mut endpoint);
    assert_eq!(endpoint.send(id, &body[first..], true), (0, 0));
    // Opening only the stream's window lets nothing through.
    let more = 1000_u32.to_be_bytes();
    endpoint
        .feed(&frame(WINDOW_UPDATE, 0, id, &more), 0)
        .unwrap();
    assert_eq!(endpoint.send(id, &body[first..], true), (0, 0));
    endpoint
        .feed(&frame(WINDOW_UPDATE, 0, 0, &more), 0)
        .unwrap();
    assert_eq!(endpoint.send(id, &body[first..], true), (1000, 1009));
    assert_eq!(sent(&mut endpoint), frame(DATA, 0, id, &[7; 1000]));
    // A smaller initial window also shrinks the windows of open streams, below zero if need be.
    let smaller = [&[0, 4][..], &500_u32.to_be_bytes()].concat();
    endpoint.feed(&frame(SETTINGS, 0, 0, &smaller), 0).unwrap();
    endpoint
        .feed(&frame(WINDOW_UPDATE, 0, 0, &more), 0)
        .unwrap();
    endpoint
        .feed(&frame(WINDOW_UPDATE, 0, id, &more), 0)
        .unwrap();
    sent(&mut endpoint);
    assert_eq!(endpoint.send(id, &body[first + 1000..], true), (0, 0));
    let (_, later) = ask(&mut endpoint, false);
    assert_eq!(endpoint.send(later, &[7; 500], true), (500, 509));
    assert_eq!(
        sent(&mut endpoint),
        frame(DATA, END_STREAM, later, &[7; 500])
    );
}

#[derive(Default)]
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_body_that_waits_for_the_socket_continues_once_everything_is_written() {
    let mut endpoint = settings_received();
    let wide = (1_u32 << 30).to_be_bytes();
    let settings = [&[0, 4][..], &wide].concat();
    endpoint.feed(&frame(SETTINGS, 0, 0, &settings), 0).unwrap();
    endpoint
        .feed(&frame(WINDOW_UPDATE, 0, 0, &wide), 0)
        .unwrap();
    let (stream, id) = ask(&mut endpoint, false);
    let woken = Arc::new(Counting::default());
    stream.set_waker(&Context::from_waker(&woken.clone().into()));
    let times = || woken.0.load(Ordering::Relaxed);
    let body = vec![7; UPLOAD_BYTES + 100_000];
    let (first, _) = endpoint.send(id, &body, true);
    assert!(first >= UPLOAD_BYTES && first < body.len());
    endpoint.wake_held();
    assert_eq!(times(), 0, "nothing has been written");
    sent(&mut endpoint);
    endpoint.wake_held();
    endpoint.wake_held();
    assert_eq!(times(), 1);
    // A body that has gone as far as it may go now does not wait for the socket.
    endpoint.send(id, &body[first..first + 1000], false);
    sent(&mut endpoint);
    endpoint.wake_held();
    assert_eq!(times(), 1);
}

#[test]
fn a_window_that_is_half_used_up_is_opened_again() {
    let mut endpoint = settings_received();
    let (stream, id) = ask(&mut endpoint, true);
    endpoint
        .feed(&frame(HEADERS, 4, id, &STATUS_200), 0)
        .unwrap();
    let part = frame(DATA, 0, id, &[0; MAX_PAYLOAD_BYTES]);
    let mut received = 0;
    while endpoint.unsent().is_empty() {
        endpoint.feed(&part, 0).unwrap();
        stream.take();
        received += MAX_PAYLOAD_BYTES as u32;
    }
    assert!(received > WINDOW_BYTES / 2 && received < WINDOW_BYTES);
    let opened = received.to_be_bytes();
    let both = [0, id].map(|stream| frame(WINDOW_UPDATE, 0, stream, &opened));
    assert_eq!(sent(&mut endpoint), both.concat());
}

#[test]
fn late_frames_are_forgiven_where_the_client_gave_up() {
    let mut endpoint = settings_received();
    let (stream, id) = ask(&mut endpoint, true);
    endpoint.release(id);
    let cancel = frame(RST_STREAM, 0, id, &8_u32.to_be_bytes());
    assert_eq!(sent(&mut endpoint), cancel);
    endpoint
        .feed(&frame(HEADERS, 4, id, &STATUS_200), 0)
        .unwrap();
    endpoint
        .feed(&frame(DATA, END_STREAM, id, b"late"), 0)
        .unwrap();
    assert_eq!(events(&stream), []);
    let (_, id) = ask(&mut endpoint, true);
    endpoint
        .feed(&frame(HEADERS, 5, id, &STATUS_200), 0)
        .unwrap();
    let violation = endpoint.feed(&frame(DATA, 0, id, b"late"), 0).unwrap_err();
    assert_eq!(violation.reason, Reason::STREAM_CLOSED);
}

#[test]
fn a_response_may_come_before_the_request_is_whole() {
    let mut endpoint = settings_received();
    let (stream, id) = ask(&mut endpoint, false);
    endpoint
        .feed(&frame(HEADERS, 5, id, &STATUS_200), 0)
        .unwrap();
    assert_eq!(
        events(&stream),
        [StreamEvent::Head {
            length: STATUS_LENGTH,
            whole: true,
            end: true
        }]
    );
    endpoint.release(id);
    assert_eq!(sent(&mut endpoint)[3], RST_STREAM);
}

#[test]
fn a_goodbye_ends_what_the_server_has_not_begun() {
    let mut endpoint = settings_received();
    let (begun, first) = ask(&mut endpoint, true);
    let (refused, _) = ask(&mut endpoint, true);
    let go_away = [first.to_be_bytes(), 0_u32.to_be_bytes()].concat();
    endpoint.feed(&frame(GOAWAY, 0, 0, &go_away), 0).unwrap();
    assert!(!endpoint.takes_more());
    assert_eq!(events(&refused), [StreamEvent::Refused]);
    endpoint
        .feed(&frame(HEADERS, 5, first, &STATUS_200), 0)
        .unwrap();
    assert_eq!(
        events(&begun),
        [StreamEvent::Head {
            length: STATUS_LENGTH,
            whole: true,
            end: true
        }]
    );
}

#[test]
fn a_server_that_refuses_each_request_by_itself_has_processed_none() {
    let go_away = |last: u32| [last.to_be_bytes(), 0_u32.to_be_bytes()].concat();
    let refuse = frame(RST_STREAM, 0, 1, &Reason::REFUSED_STREAM.0.to_be_bytes());
    for (last, processed) in [(0, false), (1, true), (LAST_STREAM, true)] {
        let mut endpoint = settings_received();
        endpoint
            .feed(&frame(GOAWAY, 0, 0, &go_away(LAST_STREAM)), 0)
            .unwrap();
        assert!(!endpoint.has_processed(), "nothing was asked");
        ask(&mut endpoint, true);
        endpoint
            .feed(&frame(GOAWAY, 0, 0, &go_away(last)), 0)
            .unwrap();
        assert_eq!(endpoint.has_processed(), processed, "{last}");
        endpoint.feed(&refuse, 0).unwrap();
        assert!(!endpoint.has_processed(), "{last}");
    }
}

#[test]
fn streams_are_unlimited_unless_the_server_states_a_limit() {
    assert_eq!(
        Endpoint::default().max_concurrent_streams,
        STREAMS_BEFORE_SETTINGS
    );
    let mut endpoint = settings_received();
    assert_eq!(endpoint.max_concurrent_streams, usize::MAX);
    let limit = [&[0, 3][..], &7_u32.to_be_bytes()].concat();
    for settings in [&limit[..], &[]] {
        endpoint.feed(&frame(SETTINGS, 0, 0, settings), 0).unwrap();
        assert_eq!(
            endpoint.max_concurrent_streams, 7,
            "what is not stated again stays as it is"
        );
    }
}

#[test]
fn settings_that_break_the_rules_end_the_connection() {
    for (name, value, reason) in [
        (2_u16, 2_u32, Reason::PROTOCOL_ERROR),
        (4, 1 << 31, Reason::FLOW_CONTROL_ERROR),
        (5, (1 << 14) - 1, Reason::PROTOCOL_ERROR),
        (5, 1 << 24, Reason::PROTOCOL_ERROR),
    ] {
        let wrong = [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
        let mut endpoint = Endpoint::default();
        let violation = endpoint.feed(&frame(SETTINGS, 0, 0, &wrong), 0);
        assert_eq!(violation.unwrap_err().reason, reason, "{name} {value}");
        let cut = Endpoint::default().feed(&frame(SETTINGS, 0, 0, &wrong[..5]), 0);
        assert_eq!(cut.unwrap_err().reason, Reason::FRAME_SIZE_ERROR);
    }
}

#[test]
fn clients_are_woken_once_for_all_that_came_together() {
    struct Counting(AtomicUsize);
    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut endpoint = settings_received();
    let (stream, _) = ask(&mut endpoint, false);
    let woken = Arc::new(Counting(AtomicUsize::new(0)));
    stream.set_waker(&Context::from_waker(&woken.clone().into()));
    let more = frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    endpoint.feed(&more.repeat(1000), 0).unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    // What opens no window is no reason to wake anybody.
    let settings = frame(SETTINGS, 0, 0, &[]);
    endpoint.feed(&settings.repeat(1000), 0).unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
}

#[test]
fn what_has_been_written_is_not_kept_while_the_rest_waits() {
    let mut endpoint = settings_received();
    let stream = Rc::<Stream>::default();
    let head = vec![0x82; 1000];
    endpoint.ask(&stream, &head, true);
    for _ in 0..1000 {
        endpoint.ask(&stream, &head, true);
        let before = endpoint.unsent()[..50].to_vec();
        assert!(endpoint.out[endpoint.written..].starts_with(&before));
        endpoint.wrote(endpoint.unsent().len() - 100);
    }
    assert!(endpoint.out.len() < 200_000, "{}", endpoint.out.len());
    assert_eq!(endpoint.queued() - endpoint.written(), 100);
    assert_eq!(endpoint.unsent().len(), 100);
}
