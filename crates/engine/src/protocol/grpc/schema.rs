//! The methods of services, and the conversion of their messages between JSON and bytes.

use prost::Message as _;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, Kind, MessageDescriptor, MethodDescriptor,
    SerializeOptions,
};
use serde_json::Value;
use serde_path_to_error::{Path, Segment, Track};

/// How messages are written. Fields with their default value are included, so that they can be asked for, and 64-bit
/// integers are written as numbers.
const JSON: SerializeOptions = SerializeOptions::new()
    .skip_default_fields(false)
    .stringify_64_bit_integers(false);

/// The services of some `.proto` files.
#[derive(Debug, Clone)]
pub struct Schema(DescriptorPool);

/// What a `FileDescriptorSet` says of the language of its files.
#[derive(Clone, PartialEq, prost::Message)]
struct Files {
    #[prost(message, repeated, tag = "1")]
    file: Vec<FileHead>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileHead {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "12")]
    syntax: String,
    #[prost(int32, tag = "14")]
    edition: i32,
}

impl FileHead {
    /// Refuses what the library does not read.
    fn check(&self) -> Result<(), String> {
        match (self.syntax.as_str(), self.edition) {
            ("" | "proto2" | "proto3", _) => Ok(()),
            // Edition 2023 has the number 1000, and each later one the next.
            ("editions", number @ 1000..1100) => Err(edition_is_refused(&self.name, number + 1023)),
            (syntax, _) => Err(format!("{} has the unknown syntax {syntax:?}", self.name)),
        }
    }
}

/// Why a file of an edition is refused.
pub fn edition_is_refused(file: &str, edition: impl std::fmt::Display) -> String {
    format!(
        "{file} is of edition {edition}, which jostle does not read: write it in proto3 or proto2, \
         which are the same on the wire"
    )
}

/// A method as it is called: `package.Service/Method`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    /// Whether the request is a stream of messages.
    pub takes_stream: bool,
    /// Whether the response is a stream of messages.
    pub gives_stream: bool,
}

/// Why a message does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError {
    /// Where the problem is, for example `message.items[0].count`.
    pub place: String,
    pub problem: String,
    /// A field that does not exist, and those that do.
    pub unknown: Option<(String, Vec<String>)>,
}

impl Schema {
    /// Reads a `FileDescriptorSet` that contains everything it imports. It may come from a server: the error says what
    /// is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let files = Files::decode(bytes)
            .map_err(|error| error.to_string())?
            .file;
        files.iter().try_for_each(FileHead::check)?;
        // With the well-known types as the library expects them, whatever the description says that they are.
        let mut pool = DescriptorPool::global();
        pool.decode_file_descriptor_set(bytes)
            .map_err(|error| error.to_string())?;
        pool.all_messages()
            .try_for_each(|message| check_map(&message))?;
        Ok(Self(pool))
    }

    pub fn methods(&self) -> impl Iterator<Item = Signature> {
        let methods = self.0.services().flat_map(|service| {
            let methods: Vec<_> = service.methods().collect();
            methods
        });
        methods.map(|method| Signature {
            name: format!("{}/{}", method.parent_service().full_name(), method.name()),
            takes_stream: method.is_client_streaming(),
            gives_stream: method.is_server_streaming(),
        })
    }

    /// The method called `package.Service/Method`.
    pub fn method(&self, name: &str) -> Option<MethodDescriptor> {
        let (service, method) = name.split_once('/')?;
        let service = self.0.get_service_by_name(service)?;
        service
            .methods()
            .find(|candidate| candidate.name() == method)
    }
}

/// Checks that a message which claims to be an entry of a map has a key and a value. The library takes that for granted.
fn check_map(message: &MessageDescriptor) -> Result<(), String> {
    let field = |number| {
        let field = message.get_field(number);
        field.filter(|field| field.cardinality() != Cardinality::Repeated)
    };
    let is_key = |kind: Kind| {
        !matches!(
            kind,
            Kind::Double | Kind::Float | Kind::Bytes | Kind::Message(_) | Kind::Enum(_)
        )
    };
    let whole = field(1).is_some_and(|key| is_key(key.kind())) && field(2).is_some();
    if whole || !message.is_map_entry() {
        return Ok(());
    }
    let name = message.full_name();
    Err(format!(
        "{name} is the entry of a map, and lacks a key or a value"
    ))
}

/// Encodes a message, or each message of a list if the method takes a stream.
pub fn encode(method: &MethodDescriptor, json: &[u8]) -> Result<Vec<Vec<u8>>, MessageError> {
    let whole: Value = serde_json::from_slice(json).map_err(|error| MessageError {
        place: "message".into(),
        problem: format!("it is not JSON: {error}"),
        unknown: None,
    })?;
    match whole {
        Value::Array(messages) if method.is_client_streaming() => {
            let numbered = messages.into_iter().enumerate();
            numbered
                .map(|(index, message)| encode_one(method, message, &format!("message[{index}]")))
                .collect()
        }
        message => encode_one(method, message, "message").map(|bytes| vec![bytes]),
    }
}

fn encode_one(
    method: &MethodDescriptor,
    message: Value,
    place: &str,
) -> Result<Vec<u8>, MessageError> {
    let mut track = Track::new();
    let reader = serde_path_to_error::Deserializer::new(message, &mut track);
    match DynamicMessage::deserialize(method.input(), reader) {
        Ok(message) => Ok(message.encode_to_vec()),
        Err(error) => Err(MessageError::new(
            &method.input(),
            place,
            &track.path(),
            &error,
        )),
    }
}

/// A message as JSON; an error if the bytes do not fit its type.
pub fn to_json(message: &MessageDescriptor, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let message =
        DynamicMessage::decode(message.clone(), bytes).map_err(|error| error.to_string())?;
    let mut json = Vec::new();
    let written =
        message.serialize_with_options(&mut serde_json::Serializer::new(&mut json), &JSON);
    written.map_err(|error| error.to_string())?;
    Ok(json)
}

impl MessageError {
    fn new(
        message: &MessageDescriptor,
        place: &str,
        path: &Path,
        error: &serde_json::Error,
    ) -> Self {
        let inside = path.to_string();
        let joint = if inside.starts_with('[') { "" } else { "." };
        let problem = error.to_string();
        let unknown = problem
            .strip_prefix("unrecognized field name '")
            .and_then(|rest| rest.strip_suffix('\''))
            .zip(type_at(message, path));
        Self {
            place: match inside.as_str() {
                "." => place.to_owned(),
                _ => format!("{place}{joint}{inside}"),
            },
            unknown: unknown.map(|(name, message)| {
                let known = message.fields().map(|field| field.name().to_owned());
                (name.to_owned(), known.collect())
            }),
            problem,
        }
    }
}

impl std::fmt::Display for MessageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)?;
        match &self.unknown {
            Some((_, known)) if !known.is_empty() => write!(f, "; there is {}", known.join(", ")),
            _ => Ok(()),
        }
    }
}

/// The type of the message at this path.
fn type_at(message: &MessageDescriptor, path: &Path) -> Option<MessageDescriptor> {
    let mut kind = Kind::Message(message.clone());
    for segment in path {
        let Segment::Map { key } = segment else {
            continue; // an item of a list
        };
        let Kind::Message(message) = &kind else {
            return None;
        };
        kind = if message.is_map_entry() {
            message.map_entry_value_field().kind()
        } else {
            let field = message.get_field_by_name(key);
            field
                .or_else(|| message.get_field_by_json_name(key))?
                .kind()
        };
    }
    match kind {
        Kind::Message(message) => Some(message),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
