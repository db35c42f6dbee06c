//! gRPC: messages come back as they were, and a call ends as its metadata asks.

use crate::client::Server;
use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Two messages after their prefixes.
const TWO: &[u8] = b"\0\0\0\0\x02hi\0\0\0\0\0";

/// What a call gives: HTTP status, bytes and trailers.
type Given = (u16, Vec<u8>, HeaderMap);

fn call(method: &str, metadata: &[(&str, &str)], kind: &str, messages: &'static [u8]) -> Given {
    let server = Server::start("grpc");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        let stream = TcpStream::connect(&server.address).await.unwrap();
        let (send, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::task::spawn_local(connection);
        let mut request = Request::post(format!("http://a/jostle.Echo/{method}"));
        for (name, value) in [("content-type", kind)].iter().chain(metadata) {
            request = request.header(*name, *value);
        }
        ask(send, request.body(()).unwrap(), messages).await
    })
}

async fn ask(send: SendRequest<Bytes>, request: Request<()>, messages: &'static [u8]) -> Given {
    let mut send = send.ready().await.unwrap();
    let (response, mut upload) = send.send_request(request, false).unwrap();
    upload
        .send_data(Bytes::from_static(messages), true)
        .unwrap();
    let (head, mut body) = response.await.unwrap().into_parts();
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        bytes.extend_from_slice(&piece.unwrap());
    }
    let trailers = body.trailers().await.unwrap().unwrap_or_default();
    (head.status.as_u16(), bytes, trailers)
}

fn of_grpc(method: &str, metadata: &[(&str, &str)]) -> (Vec<u8>, String) {
    let (status, bytes, trailers) = call(method, metadata, "application/grpc", TWO);
    assert_eq!(status, 200);
    let said = ["grpc-status", "grpc-message"].map(|name| {
        let said = trailers.get(name);
        said.map_or("", |value| value.to_str().unwrap()).to_owned()
    });
    (bytes, said.join(" ").trim_end().to_owned())
}

#[test]
fn messages_come_back() {
    let ok = |bytes: &[u8]| (bytes.to_vec(), "0".to_owned());
    assert_eq!(of_grpc("Say", &[]), ok(&TWO[..7]));
    assert_eq!(of_grpc("Collect", &[]), ok(&TWO[7..]));
    assert_eq!(of_grpc("Talk", &[]), ok(TWO));
    let begun = Instant::now();
    let schedule = ("schedule", "n=3&first-ms=20&gap-ms=10");
    assert_eq!(of_grpc("Repeat", &[schedule]), ok(&TWO[..7].repeat(3)));
    assert!(begun.elapsed() >= Duration::from_millis(40));
}

#[test]
fn a_call_ends_as_it_asks() {
    let refused = [("status", "14"), ("reason", "no backend")];
    assert_eq!(of_grpc("Say", &refused), (vec![], "14 no backend".into()));
    let odd = [("status", "9"), ("reason", "100 % wrong")];
    assert_eq!(of_grpc("Say", &odd).1, "9 100 %25 wrong");
    assert_eq!(of_grpc("Nope", &[]).1, "12 no such method");
    assert_eq!(
        of_grpc("Repeat", &[("schedule", "n=x")]).1,
        "3 cannot understand schedule"
    );
    assert_eq!(call("Say", &[], "text/plain", TWO).0, 415);
    let (_, _, trailers) = call("Say", &[], "application/grpc", b"\x01\0\0\0\x02hi");
    assert_eq!(trailers["grpc-status"], "12", "it cannot decompress");
}
