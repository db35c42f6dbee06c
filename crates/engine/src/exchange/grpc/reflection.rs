//! A server's own description of its services: gRPC server reflection, v1, or v1alpha if the server has no v1. The
//! server is asked before a run, on a separate connection.
//!
//! Source: grpc/reflection/v1/reflection.proto of the gRPC project.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use prost::Message;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::exchange::grpc::response::{NotGrpc, check_head};
use crate::exchange::h2::multiplexed::check_alpn;
use crate::net::failure::describe;
use crate::net::target::{Address, Target};
use crate::net::tls::Sessions;
use crate::protocol::grpc::frames::{self, MessagePiece, MessageReader};
use crate::protocol::grpc::schema::Schema;
use crate::protocol::grpc::status;
use crate::protocol::h2::endpoint::Endpoint;
use crate::protocol::h2::hpack::Fields;
use crate::protocol::h2::message::{Form, encode};
use crate::protocol::h2::stream::{Stream, StreamEvent};
use crate::protocol::url::Origin;
use crate::spec::TargetSpec;

const VERSIONS: [&str; 2] = ["v1", "v1alpha"];
const NOT_FOUND: i32 = 5;
/// The largest response that is accepted.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The largest number of files that are accepted.
const MAX_FILES: usize = 10_000;

#[derive(Clone, PartialEq, Message)]
struct ReflectionRequest {
    #[prost(oneof = "Query", tags = "3, 4, 7")]
    query: Option<Query>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Query {
    #[prost(string, tag = "3")]
    File(String),
    #[prost(string, tag = "4")]
    Symbol(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct ReflectionResponse {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Refused>,
}

/// Some files: the form of a reply is that of a `FileDescriptorSet`. Each is kept as it came, with the parts of it that
/// are not known here.
#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// The files that have come, by name: what each imports, and its bytes.
type Described = BTreeMap<String, (Vec<String>, Vec<u8>)>;

/// What has to be known of a file in order to ask for others.
#[derive(Clone, PartialEq, Message)]
struct FileHead {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    dependency: Vec<String>,
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

/// What a server is asked to describe.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inquiry<'a> {
    pub service: &'a str,
    /// Messages that the service's files need not mention, because they go into a `google.protobuf.Any`. Those that the
    /// server does not know are left out.
    pub types: &'a [String],
    /// Goes with every request: names and values.
    pub metadata: &'a [(String, String)],
}

/// Why a server's schema is not known.
#[derive(Debug)]
pub enum UnknownSchema {
    /// It does not have this service, but these.
    Service(Vec<String>),
    /// It describes nothing to somebody whom it does not know.
    Refused(String),
    /// What it says cannot be read.
    Unreadable(String),
    Failed(String),
}

impl From<String> for UnknownSchema {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// Asks the server for the `FileDescriptorSet` of a service and of everything it depends on. Blocks, and gives up after
/// `patience`.
pub fn reflect(
    spec: &TargetSpec,
    inquiry: Inquiry<'_>,
    patience: Duration,
) -> Result<Vec<u8>, UnknownSchema> {
    let target = Target::new("reflection", spec).map_err(|error| error.to_string())?;
    let origin = Origin::new(spec.tls.is_some(), &spec.host, spec.port).authority();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let response = ask(&target, &origin, inquiry);
    let response = runtime.block_on(async { tokio::time::timeout(patience, response).await });
    let schema = response.unwrap_or_else(|_| Err("it did not answer in time".to_owned().into()))?;
    Schema::decode(&schema).map_err(UnknownSchema::Unreadable)?;
    Ok(schema)
}

async fn ask(
    target: &Target,
    origin: &str,
    inquiry: Inquiry<'_>,
) -> Result<Vec<u8>, UnknownSchema> {
    let mut last = String::new();
    for address in &target.addresses {
        let reached = match address {
            Address::Tcp(to) => match TcpStream::connect(to).await {
                Ok(stream) => return secured(target, origin, inquiry, stream).await,
                Err(error) => error,
            },
            Address::Unix(path) => match UnixStream::connect(path).await {
                Ok(stream) => return secured(target, origin, inquiry, stream).await,
                Err(error) => error,
            },
        };
        last = format!("{address}: {}", describe(&reached));
    }
    Err(UnknownSchema::Failed(last))
}

async fn secured(
    target: &Target,
    origin: &str,
    inquiry: Inquiry<'_>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<Vec<u8>, UnknownSchema> {
    let Some(tls) = &target.tls else {
        return Session::new(stream, origin, false, inquiry).ask().await;
    };
    let connector = tls.connector(&mut Sessions::default());
    let stream = connector.connect(tls.name.clone(), stream).await;
    let stream = stream.map_err(|error| describe(&error))?;
    let chosen = stream.get_ref().1.alpn_protocol();
    check_alpn(chosen).map_err(|failure| failure.why)?;
    Session::new(stream, origin, true, inquiry).ask().await
}

/// A connection over which a server is asked.
struct Session<'a, S> {
    stream: S,
    endpoint: Endpoint,
    buffer: Vec<u8>,
    origin: &'a str,
    tls: bool,
    inquiry: Inquiry<'a>,
    /// The version of the reflection service that is asked.
    version: &'static str,
    /// The status with which the server refused the last request, if it did.
    status: Option<u32>,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Session<'a, S> {
    fn new(stream: S, origin: &'a str, tls: bool, inquiry: Inquiry<'a>) -> Self {
        Self {
            stream,
            endpoint: Endpoint::default(),
            buffer: vec![0; 16 * 1024],
            origin,
            tls,
            inquiry,
            version: "",
            status: None,
        }
    }

    async fn ask(mut self) -> Result<Vec<u8>, UnknownSchema> {
        let mut refused = String::new();
        for version in VERSIONS {
            self.version = version;
            match (self.files().await, self.status) {
                (Err(UnknownSchema::Failed(why)), Some(status::UNIMPLEMENTED)) => refused = why,
                (
                    Err(UnknownSchema::Failed(why)),
                    Some(status::UNAUTHENTICATED | status::PERMISSION_DENIED),
                ) => return Err(UnknownSchema::Refused(why)),
                (files, _) => return files,
            }
        }
        Err(UnknownSchema::Failed(refused))
    }

    /// The files that contain the service and the messages, and everything they import.
    async fn files(&mut self) -> Result<Vec<u8>, UnknownSchema> {
        let Inquiry { service, types, .. } = self.inquiry;
        let mut files = BTreeMap::new();
        let query = Query::Symbol(service.to_owned());
        if !self.add(&mut files, query).await? {
            return Err(UnknownSchema::Service(self.services().await?));
        }
        for name in types {
            let query = Query::Symbol(name.clone());
            self.add(&mut files, query).await?;
        }
        while let Some(missing) = missing(&files) {
            let query = Query::File(missing.clone());
            if !self.add(&mut files, query).await? || !files.contains_key(&missing) {
                return Err(UnknownSchema::Unreadable(format!(
                    "it does not know {missing}, which it imports"
                )));
            }
            if files.len() > MAX_FILES {
                return Err(UnknownSchema::Unreadable(format!(
                    "its services need more than {MAX_FILES} files"
                )));
            }
        }
        let file = files.into_values().map(|(_, bytes)| bytes).collect();
        Ok(Files { file }.encode_to_vec())
    }

    /// Adds the files that answer a query. Returns false if the server does not know what is asked for.
    async fn add(&mut self, files: &mut Described, query: Query) -> Result<bool, UnknownSchema> {
        let response = self.request(query).await?;
        if let Some(error) = response.error {
            if error.code == NOT_FOUND {
                return Ok(false);
            }
            let code = u32::try_from(error.code).unwrap_or(u32::MAX);
            self.status = Some(code);
            let why = status::describe(code, Some(error.message.as_bytes()));
            return Err(UnknownSchema::Failed(why));
        }
        for bytes in response.files.unwrap_or_default().file {
            let head = FileHead::decode(bytes.as_slice());
            let head = head.map_err(|error| UnknownSchema::Unreadable(error.to_string()))?;
            files.insert(head.name, (head.dependency, bytes));
        }
        Ok(true)
    }

    async fn services(&mut self) -> Result<Vec<String>, UnknownSchema> {
        let response = self.request(Query::Services(String::new())).await?;
        let services = response.services.unwrap_or_default().services;
        Ok(services.into_iter().map(|service| service.name).collect())
    }

    async fn request(&mut self, query: Query) -> Result<ReflectionResponse, String> {
        self.status = None;
        let message = ReflectionCall::begin(self, query)?.message().await?;
        ReflectionResponse::decode(message.as_slice()).map_err(|error| error.to_string())
    }

    /// Sends what is to be sent, and reads what comes next.
    async fn turn(&mut self) -> Result<(), String> {
        let Self {
            stream,
            endpoint,
            buffer,
            ..
        } = self;
        let sent = stream.write_all(endpoint.unsent()).await;
        sent.map_err(|error| describe(&error))?;
        endpoint.wrote(endpoint.unsent().len());
        stream.flush().await.map_err(|error| describe(&error))?;
        let read = stream.read(buffer).await;
        match read.map_err(|error| describe(&error))? {
            0 => Err("it closed the connection".into()),
            read => endpoint
                .feed(&buffer[..read], 0)
                .map_err(|violation| violation.what.to_owned()),
        }
    }
}

/// One call of `ServerReflectionInfo`, with one request. The stream ends after it, because some servers may
/// wait for its end before they answer.
struct ReflectionCall<'t, 'a, S> {
    session: &'t mut Session<'a, S>,
    stream: Rc<Stream>,
    /// How the server has ended the call. Reported after the bytes that came before have been read.
    ended: Option<String>,
}

impl<'t, 'a, S: AsyncRead + AsyncWrite + Unpin> ReflectionCall<'t, 'a, S> {
    fn begin(session: &'t mut Session<'a, S>, query: Query) -> Result<Self, String> {
        let mut request = format!(
            "POST /grpc.reflection.{}.ServerReflection/ServerReflectionInfo HTTP/1.1\r\n\
             host: {}\r\ncontent-type: application/grpc\r\nte: trailers\r\n",
            session.version, session.origin
        );
        for (name, value) in session.inquiry.metadata {
            request.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
        }
        request.push_str("\r\n");
        let form = Form {
            tls: session.tls,
            call: true,
        };
        let mut block = Vec::new();
        encode(request.as_bytes(), form, &mut block)?;
        let query = Some(query);
        let mut frame = Vec::new();
        frames::write(&ReflectionRequest { query }.encode_to_vec(), &mut frame);
        let stream = Rc::<Stream>::default();
        let (id, _) = session.endpoint.ask(&stream, &block, false);
        let (sent, _) = session.endpoint.send(id, &frame, true);
        if sent < frame.len() {
            return Err("it takes no request".into());
        }
        Ok(Self {
            session,
            stream,
            ended: None,
        })
    }

    async fn message(mut self) -> Result<Vec<u8>, String> {
        let (mut reader, mut message) = (MessageReader::default(), Vec::new());
        loop {
            let more = self.more().await?;
            let mut bytes = more.as_slice();
            while let Some(piece) = reader.next(&mut bytes) {
                match piece {
                    MessagePiece::Begin { length, .. } if length > MAX_BYTES => {
                        return Err(format!("it answers with {length} bytes"));
                    }
                    MessagePiece::Begin { .. } => {}
                    MessagePiece::Bytes(piece) => message.extend_from_slice(piece),
                    MessagePiece::End => return Ok(message),
                }
            }
        }
    }

    /// The next bytes of the response's body; the error says how the call has ended.
    async fn more(&mut self) -> Result<Vec<u8>, String> {
        loop {
            if let Some(ended) = self.ended.take() {
                return Err(ended);
            }
            let inbox = self.stream.take();
            let mut rest = inbox.bytes.as_slice();
            let mut body = Vec::new();
            for (.., event) in &inbox.events {
                self.take_in(*event, &mut rest, &mut body);
            }
            if !body.is_empty() {
                return Ok(body);
            }
            if self.ended.is_none() {
                self.session.turn().await?;
            }
        }
    }

    fn take_in(&mut self, event: StreamEvent, rest: &mut &[u8], body: &mut Vec<u8>) {
        let ended = match event {
            StreamEvent::Head { length, end, .. } => {
                let (fields, after) = rest.split_at(length);
                *rest = after;
                let foreign = not_grpc(fields);
                if let Some(foreign) = &foreign {
                    self.session.status = foreign.status;
                }
                let why = foreign.map(|foreign| foreign.why);
                why.or_else(|| end.then(|| self.judge(fields)))
            }
            StreamEvent::Data { length, end } => {
                let (part, after) = rest.split_at(length);
                *rest = after;
                if self.ended.is_none() {
                    body.extend_from_slice(part);
                }
                end.then(|| self.judge(&[]))
            }
            StreamEvent::Reset(reason) => Some(format!("it broke the call off: {reason}")),
            StreamEvent::Refused => Some("it said goodbye before it began with the call".into()),
        };
        // The first end counts: a server may reset the stream of a call that it has ended.
        self.ended = self.ended.take().or(ended);
    }

    /// Why the server has ended the call.
    fn judge(&mut self, trailers: &[u8]) -> String {
        let text = |name| Fields(trailers).value(name);
        let status = text("grpc-status").and_then(|text| std::str::from_utf8(text).ok());
        let Some(status) = status.and_then(|text| text.parse().ok()) else {
            return "it ended the call without grpc-status".into();
        };
        self.session.status = Some(status);
        status::describe(status, text("grpc-message"))
    }
}

/// A response whose head is not one of gRPC. Interim heads and trailers are not judged.
fn not_grpc(head: &[u8]) -> Option<NotGrpc> {
    let value = |name: &str| Fields(head).value(name);
    let status = std::str::from_utf8(value(":status")?).ok()?;
    let status = status.parse().ok().filter(|status| *status >= 200)?;
    check_head(status, value).err()
}

/// The name of a file that is imported but has not come.
fn missing(files: &Described) -> Option<String> {
    let mut imported = files.values().flat_map(|(imports, _)| imports);
    imported.find(|name| !files.contains_key(*name)).cloned()
}
