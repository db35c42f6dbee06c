//! HTTP/2 with prior knowledge: the same responses as over HTTP/1.1, on streams of one connection.

use crate::client::Server;
use bytes::Bytes;
use h2::client::SendRequest;
use std::future::Future;
use tokio::net::TcpStream;

fn with_connection<T, Fut: Future<Output = T>>(
    server: &Server,
    talk: impl FnOnce(SendRequest<Bytes>) -> Fut,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        let stream = TcpStream::connect(&server.address).await.unwrap();
        let (send, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::task::spawn_local(connection);
        talk(send).await
    })
}

/// Status, type and body; an error where the stream is reset or the connection has ended.
async fn ask(
    send: &SendRequest<Bytes>,
    method: &str,
    target: &str,
) -> Result<(u16, String, String), h2::Error> {
    let uri = format!("http://a{target}");
    let request = http::Request::builder()
        .method(method)
        .uri(uri)
        .body(())
        .unwrap();
    let (response, _) = send.clone().ready().await?.send_request(request, true)?;
    let (head, mut body) = response.await?.into_parts();
    let kind = head.headers["content-type"].to_str().unwrap().to_owned();
    let mut text = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        text.extend_from_slice(&piece);
    }
    Ok((head.status.as_u16(), kind, String::from_utf8(text).unwrap()))
}

#[test]
fn responses_are_those_of_http_1() {
    for (kind, targets) in [
        ("null", &["/hello", "/anything"][..]),
        (
            "run-to-completion",
            &["/hello", "/fast/44", "/slow/61", "/nope", "/work?us=10"],
        ),
    ] {
        let server = Server::start(kind);
        with_connection(&server, async |send| {
            for target in targets {
                let one = server.get(target);
                let kind = one.header("Content-Type").unwrap().to_owned();
                let two = ask(&send, "GET", target).await.unwrap();
                assert_eq!(two, (one.status(), kind, one.body), "{target}");
            }
            let (status, _, body) = ask(&send, "HEAD", "/hello").await.unwrap();
            assert_eq!((status, body.as_str()), (200, ""));
        });
    }
    let server = Server::start("events");
    with_connection(&server, async |send| {
        let (status, kind, body) = ask(&send, "GET", "/events?n=3&gap-ms=1&until=END")
            .await
            .unwrap();
        assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
        assert_eq!(body.matches("data: {\"event\": ").count(), 3);
        assert!(body.ends_with("data: END\n\n"));
    });
    let server = Server::start("websocket");
    with_connection(&server, async |send| {
        assert_eq!(ask(&send, "GET", "/echo").await.unwrap().0, 426);
    });
}

#[test]
fn streams_are_served_side_by_side_and_each_takes_its_turn() {
    let server = Server::start("run-to-completion");
    let order = with_connection(&server, async |send| {
        let done = std::cell::RefCell::new(Vec::new());
        let asked = async |target: &'static str| {
            ask(&send, "GET", target).await.unwrap();
            done.borrow_mut().push(target);
        };
        tokio::join!(
            asked("/work?us=50000"),
            asked("/fast/3"),
            asked("/sleep?ms=5")
        );
        done.into_inner()
    });
    assert_eq!(order, ["/sleep?ms=5", "/work?us=50000", "/fast/3"]);
}

#[test]
fn what_is_cut_is_reset_and_after_its_requests_the_connection_ends() {
    let server = Server::start("events");
    with_connection(&server, async |send| {
        let error = ask(&send, "GET", "/events?n=9&gap-ms=1&cut-after=2")
            .await
            .unwrap_err();
        assert!(error.is_reset() && error.is_remote(), "{error}");
        assert!(ask(&send, "GET", "/events?n=1&gap-ms=1").await.is_ok());
    });
    let server = Server::start("run-to-completion --requests 2");
    with_connection(&server, async |send| {
        for _ in 0..2 {
            assert!(ask(&send, "GET", "/hello").await.is_ok());
        }
        assert!(ask(&send, "GET", "/hello").await.is_err());
    });
}
