//! A server of `test.Echo` that does with every call what it is told, and calls to it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{SendResponse, handshake};
use http::{HeaderMap, Request, Response};
use protox::file::{File, FileResolver};
use serde_json::{Value, json};

const PROTO: &str = r#"
syntax = "proto3";
package test;
message Words { string text = 1; int32 number = 2; }
service Echo {
  rpc Say(Words) returns (Words);
  rpc Repeat(Words) returns (stream Words);
  rpc Collect(stream Words) returns (Words);
  rpc Talk(stream Words) returns (stream Words);
}
"#;

/// `{"text": "hi"}` after its prefix.
pub const HI: &[u8] = b"\0\0\0\0\x04\x0a\x02hi";

fn schema() -> String {
    struct Text;
    impl FileResolver for Text {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            File::from_source(name, PROTO)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Text);
    compiler
        .include_imports(true)
        .open_file("test.proto")
        .unwrap();
    STANDARD.encode(compiler.encode_file_descriptor_set())
}

/// What a server does with every call.
#[derive(Clone, Default)]
pub struct Script {
    pub status: Option<u16>,
    pub head: Vec<(&'static str, &'static str)>,
    /// Each is sent by itself.
    pub data: Vec<&'static [u8]>,
    /// `None`: the response ends with its data.
    pub trailers: Option<Vec<(&'static str, &'static str)>>,
    pub delay: Duration,
    /// How many calls are refused first, when they have come whole.
    pub refusals: usize,
}

pub const OF_GRPC: (&str, &str) = ("content-type", "application/grpc+proto");

/// Answers with these messages, and with this end.
pub fn saying(data: &[&'static [u8]], trailers: &[(&'static str, &'static str)]) -> Script {
    Script {
        head: vec![OF_GRPC],
        data: data.to_vec(),
        trailers: Some(trailers.to_vec()),
        ..Script::default()
    }
}

/// A call as it came: path, metadata, body.
pub type Asked = Arc<Mutex<Vec<(String, HeaderMap, Vec<u8>)>>>;

pub fn server(script: Script) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let seen = asked.clone();
    let address = serve(move |stream| {
        let (script, seen) = (script.clone(), seen.clone());
        async move {
            let Ok(mut connection) = handshake(stream).await else {
                return;
            };
            while let Some(Ok((request, respond))) = connection.accept().await {
                tokio::task::spawn_local(act(script.clone(), seen.clone(), request, respond));
            }
        }
    });
    (address, asked)
}

async fn act(
    script: Script,
    seen: Asked,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        bytes.extend_from_slice(&piece);
    }
    let calls = {
        let mut seen = seen.lock().unwrap();
        seen.push((head.uri.path().to_owned(), head.headers, bytes));
        seen.len()
    };
    if calls <= script.refusals {
        respond.send_reset(h2::Reason::REFUSED_STREAM);
        return;
    }
    tokio::time::sleep(script.delay).await;
    let mut response = Response::builder().status(script.status.unwrap_or(200));
    for (name, value) in &script.head {
        response = response.header(*name, *value);
    }
    let over = script.data.is_empty() && script.trailers.is_none();
    let Ok(mut stream) = respond.send_response(response.body(()).unwrap(), over) else {
        return;
    };
    for (index, piece) in script.data.iter().enumerate() {
        let last = index + 1 == script.data.len() && script.trailers.is_none();
        stream.send_data(Bytes::from_static(piece), last).ok();
    }
    if let Some(trailers) = script.trailers {
        let trailers = trailers.iter().map(|(name, value)| {
            (
                name.parse::<http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            )
        });
        stream.send_trailers(trailers.collect()).ok();
    }
}

/// A call of `method` with a message; `change` goes into the request.
pub fn call(
    address: SocketAddr,
    method: &str,
    message: Value,
    change: Value,
    requests: u64,
) -> Value {
    let load = json!({"closed": {"clients": 1, "requests": requests}});
    let request = json!({
        "name": "call", "method": "POST", "path": format!("/test.Echo/{method}"),
        "body_base64": STANDARD.encode(message.to_string()), "grpc": {"schema_base64": schema()},
    });
    let spec = with(workload(address, load), "/target", json!({"http2": {}}));
    let spec = with(spec, "/requests/0", request);
    let spec = match method {
        "Repeat" | "Talk" => with(
            spec,
            "/requests/0",
            json!({"stream": {"format": "messages"}}),
        ),
        _ => spec,
    };
    let change = change.as_object().unwrap().clone();
    let spec = change
        .into_iter()
        .fold(spec, |spec, (key, value)| match (key.as_str(), value) {
            ("grpc", value) => with(spec, "/requests/0/grpc", value),
            (key, value) => with(spec, "/requests/0", json!({key: value})),
        });
    one(spec, 0)
}

pub fn say(script: Script, change: Value) -> Seen {
    let (address, _) = server(script);
    run(call(address, "Say", json!({"text": "hi"}), change, 2))
}

pub fn both(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 2)])
}

pub const DONE: (&str, &str) = ("grpc-status", "0");
