//! One port, several processes.

use crate::client::Server;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn several_processes_response_at_one_port_and_end_with_the_first() {
    let mut server = Server::start("null --processes 3");
    let mut clients: Vec<_> = (0..60).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(client.response(true).status(), 200);
    }
    drop(clients);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(&server.address).is_ok() {
        assert!(Instant::now() < give_up, "somebody still listens");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_port_that_is_taken_is_not_shared_unasked() {
    let server = Server::start("null");
    let port = server.address.rsplit_once(':').unwrap().1;
    let second = std::process::Command::new(crate::client::BINARY)
        .args(["null", "--port", port])
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("cannot listen"));
}
