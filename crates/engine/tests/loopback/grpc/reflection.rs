//! Servers that describe their services themselves.

use std::net::SocketAddr;
use std::time::Duration;

use crate::support::*;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{SendResponse, handshake};
use http::{Request, Response};
use jostle_engine::reflection::{Unknown, reflect};
use jostle_engine::schema::Schema;
use protox::file::{File, FileResolver};
use serde_json::json;

/// A field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        out.push(length as u8 & 127 | 128);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}

/// The files of `shop.proto`, which imports `item.proto`, each as its own.
fn files() -> Vec<Vec<u8>> {
    struct Two;
    impl FileResolver for Two {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            let text = match name {
                "item.proto" => {
                    "syntax = \"proto3\"; package item; message Item { int32 count = 1; }"
                }
                _ => {
                    "syntax = \"proto3\"; package shop; import \"item.proto\"; \
                     service Shop { rpc Buy(item.Item) returns (item.Item); }"
                }
            };
            File::from_source(name, text)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Two);
    compiler
        .include_imports(true)
        .open_file("shop.proto")
        .unwrap();
    let files = compiler.file_descriptor_set().file;
    files.iter().map(prost::Message::encode_to_vec).collect()
}

/// Tells of `shop.Shop` in this version of reflection, a file at a time.
fn describing(version: &'static str) -> SocketAddr {
    serve(move |stream| async move {
        let Ok(mut connection) = handshake(stream).await else {
            return;
        };
        while let Some(Ok((request, respond))) = connection.accept().await {
            tokio::task::spawn_local(describe(version, request, respond));
        }
    })
}

async fn describe(version: &str, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let known = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
    let head = Response::builder().header("content-type", "application/grpc");
    if request.uri().path() != known {
        let head = head.header("grpc-status", "12").body(()).unwrap();
        respond.send_response(head, true).unwrap();
        return;
    }
    let mut answer = respond
        .send_response(head.body(()).unwrap(), false)
        .unwrap();
    let mut body = request.into_body();
    let files = files();
    let holding = |text: &[u8]| {
        let holds = |file: &&Vec<u8>| memchr::memmem::find(&file[..text.len() + 8], text).is_some();
        files.iter().find(holds).unwrap().clone()
    };
    while let Some(Ok(question)) = body.data().await {
        let reply = match question[5] >> 3 {
            4 if question.ends_with(b"shop.Shop") => field(4, &field(1, &holding(b"shop.proto"))),
            4 => field(7, &[0x08, 5]),
            3 => field(4, &field(1, &holding(b"item.proto"))),
            _ => field(6, &field(1, &field(1, b"shop.Shop"))),
        };
        let prefix = [&[0][..], &(reply.len() as u32).to_be_bytes()].concat();
        answer
            .send_data([prefix, reply].concat().into(), false)
            .unwrap();
    }
    let status = ("grpc-status".parse().unwrap(), "0".parse().unwrap());
    answer
        .send_trailers([status].into_iter().collect())
        .unwrap();
}

#[test]
fn a_server_describes_its_services_with_all_that_they_import() {
    for version in ["v1", "v1alpha"] {
        let address = describing(version);
        let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
        let target = serde_json::from_value(target).unwrap();
        let schema = reflect(&target, "shop.Shop", Duration::from_secs(20)).unwrap();
        let schema = Schema::decode(&schema).unwrap();
        let input = schema.method("shop.Shop/Buy").unwrap().input();
        assert_eq!(input.full_name(), "item.Item", "{version}");
        let unknown = reflect(&target, "shop.Shp", Duration::from_secs(20)).unwrap_err();
        assert!(matches!(unknown, Unknown::Service(known) if known == ["shop.Shop"]));
    }
}

/// Speaks HTTP/2 but not gRPC, and answers when it has read the whole request.
fn answering_with_a_page() -> SocketAddr {
    serve(|stream| async move {
        let Ok(mut connection) = handshake(stream).await else {
            return;
        };
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            tokio::task::spawn_local(async move {
                let mut body = request.into_body();
                while body.data().await.is_some() {}
                let head = Response::builder().header("content-type", "text/plain");
                let head = head.body(()).unwrap();
                let mut answer = respond.send_response(head, false).unwrap();
                answer.send_data("hello".into(), true).unwrap();
            });
        }
    })
}

#[test]
fn why_a_server_does_not_describe_itself_is_told() {
    let patience = Duration::from_secs(20);
    let why = |address: SocketAddr, patience: Duration| {
        let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
        let target = serde_json::from_value(target).unwrap();
        match reflect(&target, "a.B", patience).unwrap_err() {
            Unknown::Failed(why) => why,
            Unknown::Service(_) => panic!("it knows no services"),
        }
    };
    assert_eq!(why(describing("v9"), patience), "UNIMPLEMENTED");
    assert!(why(([127, 0, 0, 1], 1).into(), patience).contains("connection refused"));
    let page = why(answering_with_a_page(), patience);
    assert!(page.contains("Content-Type text/plain"), "{page}");
    let silent = serve(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    });
    assert_eq!(
        why(silent, Duration::from_millis(50)),
        "it did not answer in time"
    );
}

#[test]
fn a_server_that_does_not_choose_http2_by_alpn_is_told_of() {
    let acceptor = self_signed();
    let address = serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let _open = acceptor.accept(stream).await;
            std::future::pending::<()>().await;
        }
    });
    let target = json!({
        "host": address.ip().to_string(), "port": address.port(), "http2": {}, "tls": {"insecure": true},
    });
    let target = serde_json::from_value(target).unwrap();
    let Unknown::Failed(why) = reflect(&target, "a.B", Duration::from_secs(20)).unwrap_err() else {
        panic!("it knows no services");
    };
    assert_eq!(
        why,
        "the server chose no protocol by ALPN: it does not speak HTTP/2 here"
    );
}
