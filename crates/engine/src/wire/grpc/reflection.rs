//! A server's own word on its services: gRPC server reflection, v1, and v1alpha where that is all there is. It is asked
//! before a run, on a connection of its own.
//!
//! Source: grpc/reflection/v1/reflection.proto of the gRPC project.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request};
use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::spec::TargetSpec;
use crate::wire::failure::describe;
use crate::wire::grpc::frames::{self, Piece, Reader};
use crate::wire::grpc::status::{self, UNIMPLEMENTED};
use crate::wire::target::{Address, Target};
use crate::wire::tls::Sessions;
use crate::wire::url::Origin;

const VERSIONS: [&str; 2] = ["v1", "v1alpha"];
const NOT_FOUND: i32 = 5;
/// So much may all answers have, and so many files.
const MAX_BYTES: usize = 64 * 1024 * 1024;
const MAX_FILES: usize = 10_000;

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(oneof = "Asked", tags = "3, 4, 7")]
    asked: Option<Asked>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Asked {
    #[prost(string, tag = "3")]
    File(String),
    #[prost(string, tag = "4")]
    Symbol(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct Reply {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Refused>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refused {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Why a server's schema is not known.
#[derive(Debug)]
pub enum Unknown {
    /// It has no such service, but these.
    Service(Vec<String>),
    Failed(String),
}

impl From<String> for Unknown {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// The `FileDescriptorSet` of a service and of all that it needs, as the server has it. Blocks, and gives up after
/// `patience`.
pub fn reflect(spec: &TargetSpec, service: &str, patience: Duration) -> Result<Vec<u8>, Unknown> {
    let target = Target::new("reflection", spec).map_err(|error| error.to_string())?;
    let origin = Origin::new(spec.tls.is_some(), &spec.host, spec.port).authority();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let asked = ask(&target, &origin, service);
    let answered = runtime.block_on(async { tokio::time::timeout(patience, asked).await });
    answered.unwrap_or_else(|_| Err(Unknown::Failed("it did not answer in time".into())))
}

async fn ask(target: &Target, origin: &str, service: &str) -> Result<Vec<u8>, Unknown> {
    let mut last = String::new();
    for address in &target.addresses {
        let reached = match address {
            Address::Tcp(to) => match TcpStream::connect(to).await {
                Ok(stream) => return secured(target, origin, service, stream).await,
                Err(error) => error,
            },
            Address::Unix(path) => match UnixStream::connect(path).await {
                Ok(stream) => return secured(target, origin, service, stream).await,
                Err(error) => error,
            },
        };
        last = format!("{address}: {}", describe(&reached));
    }
    Err(Unknown::Failed(last))
}

async fn secured(
    target: &Target,
    origin: &str,
    service: &str,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<Vec<u8>, Unknown> {
    let Some(tls) = &target.tls else {
        return talk(stream, &format!("http://{origin}"), service).await;
    };
    let connector = tls.connector(&mut Sessions::default());
    let stream = connector.connect(tls.name.clone(), stream).await;
    let stream = stream.map_err(|error| describe(&error))?;
    talk(stream, &format!("https://{origin}"), service).await
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    origin: &str,
    service: &str,
) -> Result<Vec<u8>, Unknown> {
    let (send, connection) = h2::client::handshake(stream).await.map_err(told)?;
    let asking = async {
        let mut refused = String::new();
        for version in VERSIONS {
            let mut send = send.clone().ready().await.map_err(told)?;
            match Conversation::begin(&mut send, origin, version).await {
                Ok(mut conversation) => match conversation.files_of(service).await {
                    Err(Unknown::Failed(why)) if conversation.unimplemented => refused = why,
                    found => return found,
                },
                Err(why) => refused = why,
            }
        }
        Err(Unknown::Failed(refused))
    };
    tokio::select! {
        found = asking => found,
        ended = connection => match ended {
            Ok(()) => Err(Unknown::Failed("it closed the connection".into())),
            Err(error) => Err(Unknown::Failed(told(error))),
        },
    }
}

fn told(error: h2::Error) -> String {
    error.to_string()
}

/// One call of `ServerReflectionInfo`: a question, its reply, the next question.
struct Conversation {
    upload: SendStream<Bytes>,
    answer: Answer,
    unimplemented: bool,
}

enum Answer {
    Head(h2::client::ResponseFuture),
    Body(RecvStream, Reader, Vec<u8>),
}

impl Conversation {
    async fn begin(
        send: &mut SendRequest<Bytes>,
        origin: &str,
        version: &str,
    ) -> Result<Self, String> {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let request = Request::post(format!("{origin}{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .map_err(|error| error.to_string())?;
        let (head, upload) = send.send_request(request, false).map_err(told)?;
        Ok(Self {
            upload,
            answer: Answer::Head(head),
            unimplemented: false,
        })
    }

    /// The file that has the service, and all that it imports.
    async fn files_of(&mut self, service: &str) -> Result<Vec<u8>, Unknown> {
        let reply = self.question(Asked::Symbol(service.to_owned())).await?;
        if reply
            .error
            .as_ref()
            .is_some_and(|error| error.code == NOT_FOUND)
        {
            return Err(Unknown::Service(self.services().await?));
        }
        let mut files = BTreeMap::new();
        add(&mut files, reply)?;
        while let Some(missing) = missing(&files) {
            let before = files.len();
            add(
                &mut files,
                self.question(Asked::File(missing.clone())).await?,
            )?;
            if files.len() == before || files.len() > MAX_FILES {
                return Err(Unknown::Failed(format!(
                    "it does not know {missing}, which it imports"
                )));
            }
        }
        let file = files.into_values().collect();
        Ok(FileDescriptorSet { file }.encode_to_vec())
    }

    async fn services(&mut self) -> Result<Vec<String>, Unknown> {
        let reply = self.question(Asked::Services(String::new())).await?;
        let services = reply.services.unwrap_or_default().services;
        Ok(services.into_iter().map(|service| service.name).collect())
    }

    async fn question(&mut self, asked: Asked) -> Result<Reply, String> {
        let asked = Some(asked);
        let mut frame = Vec::new();
        frames::write(&Question { asked }.encode_to_vec(), &mut frame);
        self.upload.send_data(frame.into(), false).map_err(told)?;
        let message = self.message().await?;
        Reply::decode(message.as_slice()).map_err(|error| error.to_string())
    }

    async fn message(&mut self) -> Result<Vec<u8>, String> {
        if let Answer::Head(head) = &mut self.answer {
            let (head, body) = head.await.map_err(told)?.into_parts();
            if head.headers.contains_key("grpc-status") {
                return Err(self.ended(&head.headers));
            }
            if head.status != 200 {
                return Err(format!(
                    "it answers with HTTP status {}",
                    head.status.as_u16()
                ));
            }
            self.answer = Answer::Body(body, Reader::default(), Vec::new());
        }
        let Answer::Body(body, reader, unread) = &mut self.answer else {
            unreachable!("its head has come");
        };
        let mut message = BytesMut::new();
        loop {
            let mut bytes = unread.as_slice();
            let mut whole = false;
            while !whole && let Some(piece) = reader.next(&mut bytes) {
                match piece {
                    Piece::Begin { length, .. } if length > MAX_BYTES => {
                        return Err(format!("it answers with {length} bytes"));
                    }
                    Piece::Begin { .. } => {}
                    Piece::Bytes(piece) => message.extend_from_slice(piece),
                    Piece::End => whole = true,
                }
            }
            *unread = bytes.to_vec();
            if whole {
                return Ok(message.to_vec());
            }
            let Some(piece) = body.data().await else {
                let trailers = body.trailers().await.map_err(told)?;
                return Err(self.ended(&trailers.unwrap_or_default()));
            };
            let piece = piece.map_err(told)?;
            let released = body.flow_control().release_capacity(piece.len());
            released.map_err(told)?;
            unread.extend_from_slice(&piece);
        }
    }

    /// Why the server has ended the call.
    fn ended(&mut self, trailers: &HeaderMap) -> String {
        let text = |name| trailers.get(name).map(http::HeaderValue::as_bytes);
        let status = text("grpc-status").and_then(|text| std::str::from_utf8(text).ok());
        let Some(status) = status.and_then(|text| text.parse().ok()) else {
            return "it ended the call without grpc-status".into();
        };
        self.unimplemented = status == UNIMPLEMENTED;
        status::describe(status, text("grpc-message"))
    }
}

fn add(files: &mut BTreeMap<String, FileDescriptorProto>, reply: Reply) -> Result<(), String> {
    if let Some(error) = reply.error {
        let code = u32::try_from(error.code).unwrap_or(u32::MAX);
        return Err(status::describe(code, Some(error.message.as_bytes())));
    }
    for bytes in reply.files.unwrap_or_default().files {
        let file = FileDescriptorProto::decode(bytes.as_slice());
        let file = file.map_err(|error| error.to_string())?;
        files.insert(file.name().to_owned(), file);
    }
    Ok(())
}

/// The name of a file that is imported and has not come.
fn missing(files: &BTreeMap<String, FileDescriptorProto>) -> Option<String> {
    let mut imported = files.values().flat_map(|file| &file.dependency);
    imported.find(|name| !files.contains_key(*name)).cloned()
}
