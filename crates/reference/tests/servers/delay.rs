//! The delaying proxy, before a server that answers at once.

use crate::client::{End, Server};
use std::net::{Shutdown, TcpListener};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(40);
const PATIENCE: Duration = Duration::from_secs(20);

/// The null server, and the proxy before it.
fn far_away() -> (Server, Server) {
    let server = Server::start("null");
    let ms = DELAY.as_millis();
    let proxy = Server::start(&format!(
        "delay-proxy --to {} --delay-ms {ms}",
        server.address
    ));
    (server, proxy)
}

#[test]
fn every_response_comes_whole_and_later() {
    let (_server, proxy) = far_away();
    let mut client = proxy.connect();
    for _ in 0..3 {
        let start = Instant::now();
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(client.response(true).body, "x".repeat(1023) + "\n");
        assert!(start.elapsed() >= DELAY);
    }
}

#[test]
fn pipelined_responses_wait_side_by_side_and_stay_in_order() {
    const REQUESTS: u32 = 50;
    let server = Server::start("workers --workers 1");
    let to = &server.address;
    let proxy = Server::start(&format!(
        "delay-proxy --to {to} --delay-ms {}",
        DELAY.as_millis()
    ));
    let mut client = proxy.connect();
    let start = Instant::now();
    for number in 0..REQUESTS {
        client.send(&format!(
            "GET /work?us={number} HTTP/1.1\r\nHost: a\r\n\r\n"
        ));
    }
    for number in 0..REQUESTS {
        assert_eq!(client.response(true).body, number.to_string());
    }
    assert!(start.elapsed() >= DELAY);
    assert!(
        start.elapsed() < DELAY * REQUESTS / 2,
        "one after the other"
    );
}

#[test]
fn the_end_is_passed_on_behind_the_last_response() {
    let (_server, proxy) = far_away();
    let mut client = proxy.connect();
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.response(true).status(), 200);
    assert_eq!(client.listen(PATIENCE, 0), (Vec::new(), End::Closed));
}

#[test]
fn where_nothing_listens_the_connection_is_closed() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let proxy = Server::start(&format!("delay-proxy --to {address} --delay-ms 1"));
    let end = proxy.connect().listen(PATIENCE, 0);
    assert_eq!(end, (Vec::new(), End::Closed));
}
