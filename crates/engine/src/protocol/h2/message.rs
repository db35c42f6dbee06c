//! Requests in the form of HTTP/2. They are built from the bytes that HTTP/1.1 would send, so that parameters, captures
//! and cookies are filled in in one place for both.

use httparse::EMPTY_HEADER;

use crate::protocol::h2 as codec;
use crate::protocol::url::fits_path;
use crate::spec::{ParamSpec, RequestSpec};

/// A request may have this many headers.
const MAX_HEADERS: usize = 100;

/// Headers that describe an HTTP/1.1 connection, and would make an HTTP/2 message malformed (RFC 9113 section 8.2.2).
pub const OF_CONNECTIONS: [&str; 6] = [
    "connection",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// How a request is sent.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub tls: bool,
    /// Whether it is a gRPC call, which states the length of each message but not that of the whole body.
    pub call: bool,
}

/// Appends the header block of a whole request in HTTP/1.1 to `block`, and returns its body. The error says why it
/// cannot be sent.
pub fn encode<'a>(request: &'a [u8], form: Form, block: &mut Vec<u8>) -> Result<&'a [u8], String> {
    let mut fields = [EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(request) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Err("its head has no end".into()),
        Err(error) => return Err(error.to_string()),
    };
    let path = parsed.path.unwrap_or("");
    fits(path).map_err(|problem| format!("path {path:?} {problem}"))?;
    let host = |field: &&httparse::Header<'_>| field.name.eq_ignore_ascii_case("host");
    let authority = parsed.headers.iter().find(host);
    let method = parsed.method.unwrap_or("");
    codec::encode(b":method", method.as_bytes(), block);
    codec::encode(b":scheme", if form.tls { b"https" } else { b"http" }, block);
    if let Some(authority) = authority {
        codec::encode(b":authority", authority.value, block);
    }
    codec::encode(b":path", path.as_bytes(), block);
    for field in parsed.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        let left_out = is("host")
            || (form.call && is("content-length"))
            || OF_CONNECTIONS.iter().any(|name| is(name));
        if !left_out {
            codec::encode(field.name.as_bytes(), field.value, block);
        }
    }
    Ok(&request[length..])
}

/// Checks that the request can be sent over HTTP/2. The error says why not, and what to do.
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
            continue; // they go into its message, not into the path
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

/// Checks that a path may contain the text.
fn fits(text: &str) -> Result<(), &'static str> {
    if !text.bytes().all(fits_path) {
        return Err("has a character that a path in HTTP/2 cannot have: percent-encode it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_loses_what_belongs_to_connections_and_keeps_all_else() {
        let text = b"POST /a?b=c HTTP/1.1\r\nHost: example:81\r\nUser-Agent: x\r\nX-Two: 1\r\nX-Two: 2\r\n\
                     Content-Length: 2\r\nConnection: close\r\n\r\nhi";
        let mut block = Vec::new();
        let form = Form {
            tls: true,
            call: false,
        };
        let body = encode(text, form, &mut block).unwrap();
        assert_eq!(body, b"hi");
        let mut fields = Vec::new();
        let decoded = codec::FieldDecoder::default().decode(&block, 1000, &mut fields);
        assert_eq!(decoded, Ok(true));
        let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
        let listed: Vec<_> = codec::Fields(&fields)
            .map(|(name, value)| (text(name), text(value)))
            .collect();
        let expected = [
            (":method", "POST"),
            (":scheme", "https"),
            (":authority", "example:81"),
            (":path", "/a?b=c"),
            ("user-agent", "x"),
            ("x-two", "1"),
            ("x-two", "2"),
            ("content-length", "2"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(listed, expected);
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
