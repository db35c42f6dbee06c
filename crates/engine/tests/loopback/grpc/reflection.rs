//! Servers that describe their services themselves.

use std::net::SocketAddr;
use std::time::Duration;

use crate::support::*;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{SendResponse, handshake};
use http::{Request, Response};
use jostle_engine::reflection::{Inquiry, UnknownSchema, reflect};
use jostle_engine::schema::Schema;
use jostle_engine::spec::TargetSpec;
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

/// The files of `shop.proto`, which imports `item.proto`, each as its own, and of `gift.proto`, which nobody imports.
fn files() -> Vec<Vec<u8>> {
    struct Three;
    impl FileResolver for Three {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            let text = match name {
                "item.proto" => {
                    "syntax = \"proto3\"; package item; message Item { int32 count = 1; }"
                }
                "gift.proto" => {
                    "syntax = \"proto3\"; package gift; message Gift { string to = 1; }"
                }
                _ => {
                    "syntax = \"proto3\"; package shop; import \"item.proto\"; \
                     service Shop { rpc Buy(item.Item) returns (item.Item); }"
                }
            };
            File::from_source(name, text)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Three);
    compiler
        .include_imports(true)
        .open_files(["shop.proto", "gift.proto"])
        .unwrap();
    let files = compiler.file_descriptor_set().file;
    files.iter().map(prost::Message::encode_to_vec).collect()
}

/// Tells of `shop.Shop` in this version of reflection, a file at a time.
fn describing(version: &'static str) -> SocketAddr {
    telling(version, files(), None)
}

/// The same of these files. `token`: refuses everybody who does not have it.
fn telling(version: &'static str, files: Vec<Vec<u8>>, token: Option<&'static str>) -> SocketAddr {
    serve(move |stream| {
        let files = files.clone();
        async move {
            let Ok(mut connection) = handshake(stream).await else {
                return;
            };
            while let Some(Ok((request, respond))) = connection.accept().await {
                let (files, token) = (files.clone(), token);
                tokio::task::spawn_local(describe(version, files, token, request, respond));
            }
        }
    })
}

async fn describe(
    version: &str,
    files: Vec<Vec<u8>>,
    token: Option<&str>,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let known = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
    let head = Response::builder().header("content-type", "application/grpc");
    let given = request.headers().get("authorization");
    if token.is_some() && given.map(|given| given.to_str().unwrap()) != token {
        let head = head.header("grpc-status", "16");
        let head = head.header("grpc-message", "no token").body(()).unwrap();
        respond.send_response(head, true).unwrap();
        return;
    }
    if request.uri().path() != known {
        let head = head.header("grpc-status", "12").body(()).unwrap();
        respond.send_response(head, true).unwrap();
        return;
    }
    let mut response = respond
        .send_response(head.body(()).unwrap(), false)
        .unwrap();
    let mut body = request.into_body();
    let holding = |text: &[u8]| {
        let holds = |file: &&Vec<u8>| file[2..].starts_with(text);
        files.iter().find(holds).unwrap().clone()
    };
    while let Some(Ok(question)) = body.data().await {
        let reply = match question[5] >> 3 {
            4 if question.ends_with(b"shop.Shop") => field(4, &field(1, &holding(b"shop.proto"))),
            4 if question.ends_with(b"gift.Gift") => field(4, &field(1, &holding(b"gift.proto"))),
            4 => field(7, &[0x08, 5]),
            3 => field(4, &field(1, &holding(b"item.proto"))),
            _ => field(6, &field(1, &field(1, b"shop.Shop"))),
        };
        let prefix = [&[0][..], &(reply.len() as u32).to_be_bytes()].concat();
        response
            .send_data([prefix, reply].concat().into(), false)
            .unwrap();
    }
    let status = ("grpc-status".parse().unwrap(), "0".parse().unwrap());
    response
        .send_trailers([status].into_iter().collect())
        .unwrap();
}

#[test]
fn a_server_describes_its_services_with_all_that_they_import() {
    for version in ["v1", "v1alpha"] {
        let address = describing(version);
        let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
        let target = serde_json::from_value(target).unwrap();
        let schema = reflect(&target, of("shop.Shop"), PATIENCE).unwrap();
        let schema = Schema::decode(&schema).unwrap();
        let input = schema.method("shop.Shop/Buy").unwrap().input();
        assert_eq!(input.full_name(), "item.Item", "{version}");
        let unknown = reflect(&target, of("shop.Shp"), PATIENCE).unwrap_err();
        assert!(matches!(unknown, UnknownSchema::Service(known) if known == ["shop.Shop"]));
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

fn of(service: &str) -> Inquiry<'_> {
    Inquiry {
        service,
        ..Inquiry::default()
    }
}

fn target(address: SocketAddr) -> TargetSpec {
    let target = json!({"host": address.ip().to_string(), "port": address.port(), "http2": {}});
    serde_json::from_value(target).unwrap()
}

#[test]
fn messages_that_the_service_does_not_mention_are_asked_for() {
    let types = ["gift.Gift".to_owned(), "gift.Unknown".to_owned()];
    let inquiry = Inquiry {
        types: &types,
        ..of("shop.Shop")
    };
    let schema = reflect(&target(describing("v1")), inquiry, PATIENCE).unwrap();
    assert!(memchr::memmem::find(&schema, b"gift.proto").is_some());
    Schema::decode(&schema).unwrap();
}

#[test]
fn metadata_goes_with_the_questions_and_a_refusal_is_told_as_one() {
    let target = target(telling("v1", files(), Some("Bearer t")));
    let refused = reflect(&target, of("shop.Shop"), PATIENCE).unwrap_err();
    assert!(
        matches!(&refused, UnknownSchema::Refused(why) if why == "UNAUTHENTICATED: no token"),
        "{refused:?}"
    );
    let metadata = [("authorization".to_owned(), "Bearer t".to_owned())];
    let inquiry = Inquiry {
        metadata: &metadata,
        ..of("shop.Shop")
    };
    reflect(&target, inquiry, PATIENCE).unwrap();
}

/// A service whose method takes this message.
fn service(input: &[u8]) -> Vec<u8> {
    let method = [field(1, b"Buy"), field(2, input), field(3, b".shop.M")];
    field(6, &[field(1, b"Shop"), field(2, &method.concat())].concat())
}

/// The message `M` with these fields: name, number, type; `extra` goes into each.
fn message(fields: &[(&str, u8, u8)], extra: &[u8]) -> Vec<u8> {
    let fields = fields.iter().flat_map(|(name, number, kind)| {
        let numbers = [0x18, *number, 0x20, 1, 0x28, *kind];
        field(
            2,
            &[&field(1, name.as_bytes())[..], &numbers, extra].concat(),
        )
    });
    field(4, &[field(1, b"M"), fields.collect()].concat())
}

/// A message that claims to be an entry of a map and has these fields, which are of floating point.
fn map(fields: &[u8]) -> Vec<u8> {
    let fields = fields.iter().flat_map(|number| {
        let numbers = [0x18, *number, 0x20, 1, 0x28, 1];
        field(2, &[&field(1, &[b'a' + number])[..], &numbers].concat())
    });
    let entry = [field(1, b"E"), fields.collect(), field(7, &[0x38, 1])];
    field(4, &[field(1, b"M"), field(3, &entry.concat())].concat())
}

fn unreadable(described: Vec<u8>) -> String {
    let address = telling("v1", vec![described], None);
    match reflect(&target(address), of("shop.Shop"), PATIENCE) {
        Err(UnknownSchema::Unreadable(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_description_that_cannot_be_read_is_told_in_a_sentence() {
    let (int32, shop) = (5, service(b".shop.M"));
    let plain = message(&[("a", 1, int32)], &[]);
    let proto3 = field(12, b"proto3");
    let edition = [field(12, b"editions"), vec![0x70, 0xe8, 7]].concat();
    let value = [&field(1, b"A")[..], &[0x10, 1]].concat();
    let without_zero = field(5, &[field(1, b"E"), field(2, &value)].concat());
    let numbers = [0x18, 9, 0x20, 1, 0x28, int32];
    let extension = [&field(1, b"x")[..], &field(2, b".shop.M"), &numbers].concat();
    let of_m = |fields: &[(&str, u8, u8)], extra: &[u8]| {
        [message(fields, extra), shop.clone(), proto3.clone()].concat()
    };
    for (rest, why) in [
        (
            [&plain[..], &shop, &edition].concat(),
            "shop.proto is of edition 2023",
        ),
        (
            [&plain[..], &shop, &field(12, b"proto4")].concat(),
            "unknown syntax \"proto4\"",
        ),
        (
            [&plain[..], &service(b".shop.N"), &proto3].concat(),
            "shop.N",
        ),
        (
            [&plain[..], &plain, &shop, &proto3].concat(),
            "name 'shop.M' is defined twice",
        ),
        (of_m(&[("a", 0, int32)], &[]), "invalid field number '0'"),
        (
            of_m(&[("a", 1, int32), ("b", 1, int32)], &[]),
            "'1' is already used",
        ),
        (
            of_m(&[("a_b", 1, int32), ("aB", 2, int32)], &[]),
            "camel-case name of field",
        ),
        (of_m(&[("a", 1, 11)], &field(6, b".shop.N")), "shop.N"),
        (of_m(&[("a", 1, int32)], &[0x48, 7]), "invalid oneof index"),
        (
            of_m(&[("a", 1, int32)], &field(7, b"x")),
            "invalid default value",
        ),
        (
            [&plain[..], &shop, &without_zero, &proto3].concat(),
            "must be 0",
        ),
        (
            [&plain[..], &shop, &field(7, &extension), &proto3].concat(),
            "extension number",
        ),
        ([&map(&[1])[..], &shop, &proto3].concat(), "shop.M.E"),
        ([&map(&[1, 2])[..], &shop, &proto3].concat(), "shop.M.E"),
        (vec![0x80; 12], ""),
    ] {
        let described = [field(1, b"shop.proto"), field(2, b"shop"), rest].concat();
        let told = unreadable(described);
        assert!(told.contains(why), "{told}");
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
                let mut response = respond.send_response(head, false).unwrap();
                response.send_data("hello".into(), true).unwrap();
            });
        }
    })
}

#[test]
fn why_a_server_does_not_describe_itself_is_told() {
    let why = |address, patience| match reflect(&target(address), of("a.B"), patience).unwrap_err()
    {
        UnknownSchema::Failed(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(describing("v9"), PATIENCE), "UNIMPLEMENTED");
    assert!(why(([127, 0, 0, 1], 1).into(), PATIENCE).contains("connection refused"));
    let page = why(answering_with_a_page(), PATIENCE);
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
    let UnknownSchema::Failed(why) = reflect(&target, of("a.B"), PATIENCE).unwrap_err() else {
        panic!("it knows no services");
    };
    assert_eq!(
        why,
        "the server chose no protocol by ALPN: it does not speak HTTP/2 here"
    );
}
