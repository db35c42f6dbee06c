//! A request as HTTP/2 has it. It is made from the bytes that HTTP/1.1 would send, so that parameters, captures and
//! cookies are filled in at one place for both.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Request, Uri};
use httparse::EMPTY_HEADER;

use crate::spec::{ParamSpec, RequestSpec};
use crate::wire::h1::codec::MAX_HEADERS;

/// RFC 9113 section 8.2.2: they say something of a connection in HTTP/1.1, and make a request malformed here.
const OF_CONNECTIONS: [&str; 6] = [
    "connection",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

pub struct Message {
    pub head: Request<()>,
    pub body: Bytes,
    /// Names and values of the head, uncompressed.
    pub head_bytes: usize,
}

impl Message {
    /// Of a whole request in HTTP/1.1. An error says why it cannot be sent.
    pub fn of(request: &[u8], tls: bool) -> Result<Self, String> {
        let mut fields = [EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut fields);
        let length = match parsed.parse(request) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Err("its head has no end".into()),
            Err(error) => return Err(error.to_string()),
        };
        let (method, path) = (parsed.method.unwrap_or(""), parsed.path.unwrap_or(""));
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        let mut authority: &[u8] = b"";
        let mut head_bytes = ":method:path:scheme:authority".len() + method.len() + path.len();
        for field in parsed.headers.iter() {
            let name = HeaderName::from_bytes(field.name.as_bytes())
                .map_err(|error| format!("header {}: {error}", field.name))?;
            if name == http::header::HOST {
                authority = field.value;
                head_bytes += field.value.len();
            } else if !OF_CONNECTIONS.contains(&name.as_str()) {
                head_bytes += name.as_str().len() + field.value.len();
                let value = HeaderValue::from_bytes(field.value)
                    .map_err(|error| format!("header {}: {error}", field.name))?;
                headers.append(name, value);
            }
        }
        let scheme = if tls { "https" } else { "http" };
        let uri = Uri::builder()
            .scheme(scheme)
            .authority(authority)
            .path_and_query(path)
            .build()
            .map_err(|error| format!("path {path:?}: {error}"))?;
        let mut head = Request::new(());
        *head.method_mut() = method.parse().map_err(|_| format!("method {method:?}"))?;
        *head.uri_mut() = uri;
        *head.headers_mut() = headers;
        Ok(Self {
            head,
            body: Bytes::copy_from_slice(&request[length..]),
            head_bytes: head_bytes + scheme.len(),
        })
    }

    /// A call of gRPC says how long its messages are, and nothing of its whole body.
    pub fn leave_out_length(&mut self) {
        if let Some(length) = self.head.headers_mut().remove(CONTENT_LENGTH) {
            self.head_bytes -= CONTENT_LENGTH.as_str().len() + length.len();
        }
    }
}

/// Whether the request can be sent over HTTP/2; an error says why not, and what to do.
pub fn check(spec: &RequestSpec) -> Result<(), String> {
    for (name, value) in &spec.headers {
        let lower = name.to_ascii_lowercase();
        if OF_CONNECTIONS.contains(&lower.as_str()) {
            return Err(format!(
                "header {name} has no place in HTTP/2, which has no such connections: leave it out"
            ));
        }
        if lower == "te" && !value.trim().eq_ignore_ascii_case("trailers") {
            return Err("header TE can only be \"trailers\" in HTTP/2".into());
        }
    }
    fits(&spec.path).map_err(|problem| format!("path {:?} {problem}", spec.path))?;
    for (name, param) in &spec.params {
        if spec.grpc.is_some() {
            continue; // they stand in its message
        }
        let (ParamSpec::Choice(values) | ParamSpec::InTurn(values)) = param else {
            continue;
        };
        for value in values {
            fits(value).map_err(|problem| format!("parameter {name}: {value:?} {problem}"))?;
        }
    }
    Ok(())
}

/// Whether the text can stand in a path.
fn fits(text: &str) -> Result<(), &'static str> {
    let path = format!("/{text}");
    let whole = PathAndQuery::try_from(path.as_str());
    if whole.is_ok_and(|whole| whole.as_str() == path) {
        return Ok(());
    }
    Err("has a character that a path in HTTP/2 cannot have: percent-encode it")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_loses_what_belongs_to_connections_and_keeps_all_else() {
        let text = b"POST /a?b=c HTTP/1.1\r\nHost: example:81\r\nUser-Agent: x\r\nX-Two: 1\r\nX-Two: 2\r\n\
                     Content-Length: 2\r\nConnection: close\r\n\r\nhi";
        let message = Message::of(text, true).unwrap();
        assert_eq!(message.head.method(), "POST");
        assert_eq!(message.head.uri(), "https://example:81/a?b=c");
        assert_eq!(&message.body[..], b"hi");
        let fields = message.head.headers();
        let listed: Vec<_> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        let expected = [
            ("user-agent", "x"),
            ("x-two", "1"),
            ("x-two", "2"),
            ("content-length", "2"),
        ];
        assert_eq!(listed.len(), expected.len());
        for pair in expected {
            assert!(
                listed
                    .iter()
                    .any(|(name, value)| (*name, value.to_str().unwrap()) == pair)
            );
        }
        let sizes = [
            "POST",
            "/a?b=c",
            "https",
            "example:81",
            ":method:path:scheme:authority",
        ];
        let fields: usize = expected
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        let whole = sizes.iter().map(|text| text.len()).sum::<usize>() + fields;
        assert_eq!(message.head_bytes, whole);
    }

    fn checked(change: &serde_json::Value) -> Result<(), String> {
        let mut spec = json!({"name": "r", "method": "GET", "path": "/"});
        spec.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        check(&serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn what_cannot_be_sent_is_said_before_the_run() {
        assert_eq!(
            checked(&json!({"path": "/a{x}?q=%3C", "headers": [["TE", "trailers"]]})),
            Ok(())
        );
        for name in [
            "Connection",
            "upgrade",
            "Transfer-Encoding",
            "HTTP2-Settings",
        ] {
            let problem = checked(&json!({"headers": [[name, "x"]]})).unwrap_err();
            assert!(
                problem.contains(name) && problem.contains("leave it out"),
                "{problem}"
            );
        }
        for path in ["/a<b", "/a#b", "/?a>b"] {
            let problem = checked(&json!({"path": path})).unwrap_err();
            assert!(problem.contains("percent-encode"), "{problem}");
        }
        let values = json!({"params": {"id": {"choice": ["ok", "a<"]}}, "path": "/{id}"});
        assert!(
            checked(&values)
                .unwrap_err()
                .starts_with("parameter id: \"a<\"")
        );
    }
}
