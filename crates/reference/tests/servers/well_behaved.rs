//! The null and the scheduled servers over real sockets.

use crate::client::{BINARY, End, Server};
use std::io::Read;
use std::net::Shutdown;
use std::process::Command;
use std::time::{Duration, Instant};

const KINDS: [&str; 16] = [
    "run-to-completion",
    "workers",
    "processor-sharing",
    "round-robin",
    "lifo",
    "random-order",
    "gated-lifo",
    "gated-slot",
    "gated-by-timer",
    "shared-queues",
    "own-queues",
    "locked-threads",
    "gated-answers",
    "newest-first",
    "least-attained",
    "watchdog",
];

fn hello() -> String {
    "x".repeat(1023) + "\n"
}

#[test]
fn every_kind_responses_every_route() {
    for kind in KINDS {
        let server = Server::start(kind);
        let about = server.get("/").body;
        assert!(
            about.starts_with(&format!(
                "{{\"name\": \"reference-{kind}\", \"version\": \""
            )),
            "{about}"
        );
        for (target, body) in [
            ("/hello", hello().as_str()),
            ("/sleep?ms=1&jitter=0.5", hello().as_str()),
            ("/work?us=300", "300"),
            ("/count/1000", "Hello, World 1000\n"),
            ("/fast/44", "1936"),
            ("/slow/10", "55"),
            ("/fibs/10", "{\"fibResult\": 55}"),
        ] {
            let response = server.get(target);
            assert_eq!(
                (response.status(), response.body.as_str()),
                (200, body),
                "{kind} {target}"
            );
            assert!(
                response.timing("sojourn") >= response.timing("demand"),
                "{kind} {target}"
            );
        }
    }
}

#[test]
fn the_null_server_answers_everything_with_hello() {
    let server = Server::start("null");
    for target in ["/", "/hello", "/anything?at=all"] {
        let response = server.get(target);
        assert_eq!(
            (response.status(), response.body),
            (200, hello()),
            "{target}"
        );
    }
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345HEAD / HTTP/1.0\r\n\r\n");
    assert_eq!(client.response(true).body, hello());
    let response = client.response(false);
    assert_eq!(response.header("Content-Length"), Some("1024"));
    assert_eq!(
        client.listen(Duration::from_secs(10), 0),
        (Vec::new(), End::Closed)
    );
}

#[test]
fn pipelined_requests_are_answered_in_order_on_one_connection() {
    let server = Server::start("processor-sharing");
    let mut client = server.connect();
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\n\r\n");
    client.send(
        &(get("/work?us=20000")
            + &get("/fast/3")
            + "HEAD /hello HTTP/1.1\r\n\r\n"
            + &get("/slow/7")),
    );
    client.stream.shutdown(Shutdown::Write).unwrap(); // a client that will ask no more still gets its responses
    assert_eq!(client.response(true).body, "20000");
    assert_eq!(client.response(true).body, "9");
    assert_eq!(
        client.response(false).header("Content-Length"),
        Some("1024")
    );
    assert_eq!(client.response(true).body, "13");
    assert_eq!(
        client.listen(Duration::from_secs(10), 0),
        (Vec::new(), End::Closed)
    );
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Server::start("run-to-completion");
    let mut client = server.connect();
    client.stream.set_nodelay(true).unwrap();
    for byte in "GET /fast/5 HTTP/1.1\r\nHost: a\r\n\r\n".chars() {
        client.send(&byte.to_string());
    }
    assert_eq!(client.response(true).body, "25");
}

#[test]
fn connections_close_when_the_client_says_so() {
    let server = Server::start("run-to-completion");
    for (request, said) in [
        ("GET /fast/2 HTTP/1.1\r\nConnection: close\r\n\r\n", "close"),
        ("GET /fast/2 HTTP/1.0\r\n\r\n", "close"),
    ] {
        let mut client = server.connect();
        client.send(request);
        assert_eq!(client.response(true).header("Connection"), Some(said));
        assert_eq!(
            client.listen(Duration::from_secs(10), 0),
            (Vec::new(), End::Closed)
        );
    }
    let mut client = server.connect();
    for _ in 0..2 {
        client.send("GET /fast/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(
            client.response(true).header("Connection"),
            Some("keep-alive")
        );
    }
}

#[test]
fn what_cannot_be_served_is_refused_with_its_status() {
    let server = Server::start("workers");
    assert_eq!(server.get("/nope").status(), 404);
    assert_eq!(
        server.get("/slow/61").body,
        "N must be a whole number from 0 to 60"
    );
    let mut client = server.connect();
    client.send("POST /hello HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
    client.send(&"y".repeat(100_000));
    let response = client.response(true);
    assert_eq!(
        (response.status(), response.header("Allow")),
        (405, Some("GET, HEAD"))
    );
    client.send("rubbish\r\n\r\n");
    assert_eq!(client.response(true).status(), 400);
    assert_eq!(
        client.listen(Duration::from_secs(10), 0),
        (Vec::new(), End::Closed)
    );
}

#[test]
fn a_client_that_waits_to_be_told_to_continue_is_told() {
    let server = Server::start("null");
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    let mut told = [0; 25];
    client.stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.send("12345");
    assert_eq!(client.response(true).body, hello());
}

#[test]
fn a_client_of_http_1_0_gets_events_without_chunks_until_the_connection_ends() {
    let server = Server::start("events");
    let mut client = server.connect();
    client.send("GET /events?n=0&until=END HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    let (bytes, end) = client.listen(Duration::from_secs(10), usize::MAX);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with("Connection: close") && !head.contains("chunked"));
    assert_eq!((body, end), ("data: END\n\n", End::Closed));
}

#[test]
fn who_asks_for_a_websocket_in_the_wrong_way_is_told_the_right_one() {
    let response = Server::start("websocket").get("/echo");
    assert_eq!(response.status(), 426);
    let said = ["Upgrade", "Connection", "Sec-WebSocket-Version"];
    assert_eq!(
        said.map(|name| response.header(name)),
        [Some("websocket"), Some("Upgrade"), Some("13")]
    );
}

/// The timings of a long job and of a short one that arrives while the long one is in service.
fn long_and_short(server: &Server) -> (f64, f64) {
    let mut long = server.connect();
    long.send("GET /work?us=400000 HTTP/1.1\r\n\r\n");
    std::thread::sleep(Duration::from_millis(50)); // the long one is in service, or soon will be
    let short = server.get("/fast/44").timing("sojourn");
    (long.response(true).timing("sojourn"), short)
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 5e-6 // milliseconds: 5 ns
}

#[test]
fn the_short_request_waits_or_overtakes_as_the_discipline_says() {
    let (long, short) = long_and_short(&Server::start("run-to-completion"));
    assert!(near(long, 400.0) && short > 1.0, "{long} {short}");
    let (long, short) = long_and_short(&Server::start("workers --workers 2"));
    assert!(near(long, 400.0) && near(short, 0.02), "{long} {short}");
    let (long, short) = long_and_short(&Server::start("processor-sharing --cores 1"));
    assert!(near(long, 400.02) && near(short, 0.04), "{long} {short}");
    let (long, short) = long_and_short(&Server::start("processor-sharing --cores 2"));
    assert!(near(long, 400.0) && near(short, 0.02), "{long} {short}");
    let (long, short) = long_and_short(&Server::start("round-robin --slice-us 1000"));
    assert!(near(long, 400.02) && short <= 1.02, "{long} {short}");
}

#[test]
fn sleeping_requests_do_not_wait_for_each_other_nor_for_service() {
    let server = Server::start("run-to-completion");
    let mut clients: Vec<_> = (0..50).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("GET /sleep?ms=300 HTTP/1.1\r\n\r\n");
    }
    assert!(near(server.get("/fast/2").timing("sojourn"), 0.02));
    assert!(
        clients
            .iter_mut()
            .all(|client| near(client.response(true).timing("sojourn"), 300.0))
    );
}

#[test]
fn no_response_comes_before_its_time() {
    let server = Server::start("run-to-completion");
    for target in ["/work?us=30000", "/sleep?ms=30", "/sleep?ms=30&jitter=1"] {
        let start = Instant::now();
        let response = server.get(target);
        assert!(
            start.elapsed().as_secs_f64() * 1e3 >= response.timing("sojourn"),
            "{target}"
        );
    }
}

#[test]
fn a_client_that_gives_up_does_not_disturb_the_rest() {
    let server = Server::start("run-to-completion");
    let mut quitter = server.connect();
    quitter.send("GET /work?us=100000 HTTP/1.1\r\n\r\n");
    drop(quitter);
    assert_eq!(server.get("/fast/3").body, "9");
}

#[test]
fn it_stops_on_sigterm_with_connections_open_and_work_to_do() {
    let mut server = Server::start("run-to-completion");
    let mut client = server.connect();
    client.send("GET /work?us=60000000 HTTP/1.1\r\n\r\n");
    let pid = server.process.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert!(server.process.wait().unwrap().success());
}

#[test]
fn a_port_in_use_is_an_error_with_a_remedy() {
    let server = Server::start("null");
    let port = server
        .connect()
        .stream
        .peer_addr()
        .unwrap()
        .port()
        .to_string();
    let second = Command::new(BINARY)
        .args(["null", "--port", &port])
        .output()
        .unwrap();
    let message = String::from_utf8(second.stderr).unwrap();
    assert!(
        !second.status.success() && message.contains("in use") && message.contains("--port 0"),
        "{message}"
    );
}

#[test]
fn help_and_version_go_to_standard_output() {
    for (option, expected) in [("--help", "Try it:"), ("--version", "jostle-reference 0.")] {
        let output = Command::new(BINARY).arg(option).output().unwrap();
        assert!(
            output.status.success() && String::from_utf8(output.stdout).unwrap().contains(expected)
        );
    }
}
