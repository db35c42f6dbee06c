use crate::spec::{ParamSpec, RequestSpec};
use crate::template::request::{EncodeError, Placeholder, Template, encode_request};

fn spec(method: &str, path: &str) -> RequestSpec {
    serde_json::from_value(serde_json::json!({ "name": "it", "method": method, "path": path }))
        .unwrap()
}

fn with_header(name: &str, value: &str) -> RequestSpec {
    RequestSpec {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..spec("GET", "/")
    }
}

fn encode(spec: &RequestSpec) -> Result<Template, EncodeError> {
    encode_request(spec, "localhost:8080", true)
}

fn text(spec: &RequestSpec) -> String {
    String::from_utf8(
        encode(spec)
            .unwrap()
            .fixed()
            .expect("no parameters")
            .to_vec(),
    )
    .unwrap()
}

const AGENT: &str = concat!("User-Agent: jostle/", env!("CARGO_PKG_VERSION"), "\r\n");

#[test]
fn a_plain_get() {
    assert_eq!(
        text(&spec("GET", "/hello?a=1")),
        format!("GET /hello?a=1 HTTP/1.1\r\nHost: localhost:8080\r\n{AGENT}\r\n")
    );
}

#[test]
fn a_parameter_may_be_the_whole_path() {
    let mut request = spec("GET", "{path}");
    let listed = |values: &[&str]| {
        ParamSpec::Choice(values.iter().map(|value| (*value).to_owned()).collect())
    };
    request.params = [("path".to_owned(), listed(&["/a", "/b?c=/"]))].into();
    let mut sent = Vec::new();
    encode(&request)
        .unwrap()
        .write(&mut sent, |_, out| out.extend_from_slice(b"/b?c=/"));
    assert!(sent.starts_with(b"GET /b?c=/ HTTP/1.1\r\n"));
    for values in [&["/a", "b"], &["/a", "http://h/"]] {
        request.params = [("path".to_owned(), listed(values))].into();
        assert!(matches!(encode(&request), Err(EncodeError::Path { .. })));
    }
    assert!(matches!(
        encode(&spec("GET", "{path}")),
        Err(EncodeError::Path { .. })
    ));
}

#[test]
fn a_body_brings_its_length() {
    let mut post = spec("POST", "/");
    assert!(text(&post).ends_with("\r\nContent-Length: 0\r\n\r\n"));
    post.body_base64 = Some("aGVsbG8=".to_owned());
    assert!(text(&post).ends_with("\r\nContent-Length: 5\r\n\r\nhello"));
}

#[test]
fn a_transfer_encoding_is_refused_since_the_body_is_sent_whole() {
    for method in ["POST", "GET"] {
        let mut request = spec(method, "/");
        request.headers = vec![("transfer-encoding".to_owned(), "chunked".to_owned())];
        assert_eq!(
            encode_request(&request, "h", true),
            Err(EncodeError::TransferEncoding)
        );
    }
}

#[test]
fn without_keep_alive_the_server_is_asked_to_close() {
    let template = encode_request(&spec("GET", "/"), "h", false).unwrap();
    assert!(
        template
            .fixed()
            .unwrap()
            .ends_with(b"\r\nConnection: close\r\n\r\n")
    );
}

#[test]
fn given_headers_take_the_place_of_added_ones() {
    let request = RequestSpec {
        headers: [
            ("host", "other"),
            ("USER-AGENT", ""),
            ("content-length", "5"),
            ("connection", "x"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        body_base64: Some("aGVsbG8=".to_owned()),
        ..spec("PUT", "/")
    };
    let bytes = encode_request(&request, "localhost", false)
        .unwrap()
        .fixed()
        .unwrap()
        .to_vec();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "PUT / HTTP/1.1\r\nhost: other\r\nUSER-AGENT: \r\ncontent-length: 5\r\nconnection: x\r\n\r\nhello"
    );
}

#[test]
fn headers_that_are_left_out_are_not_added() {
    let request = RequestSpec {
        left_out: ["user-agent", "Content-Length"].map(str::to_owned).to_vec(),
        ..spec("POST", "/")
    };
    assert_eq!(
        text(&request),
        "POST / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"
    );
}

#[test]
fn parameters_are_filled_in_by_position() {
    let mut request = spec("GET", "/{b}/x{a}{b}");
    request
        .params
        .insert("a".to_owned(), ParamSpec::Range { from: 0, to: 9 });
    request
        .params
        .insert("b".to_owned(), ParamSpec::Choice(vec!["y".to_owned()]));
    let template = encode(&request).unwrap();
    assert_eq!(template.fixed(), None);
    let mut out = b"before ".to_vec();
    template.write(&mut out, |placeholder, out| {
        let Placeholder::Param(position, _) = placeholder else {
            panic!("there are no cookies")
        };
        out.extend_from_slice([b"AA", b"BB"][position]);
    });
    assert!(out.starts_with(b"before GET /BB/xAABB HTTP/1.1\r\nHost: "));
    assert!(out.ends_with(b"\r\n\r\n"));
}

#[test]
fn without_parameters_write_gives_the_fixed_bytes() {
    let template = encode(&spec("HEAD", "/")).unwrap();
    assert!(template.is_head());
    let mut out = Vec::new();
    template.write(&mut out, |_, _| panic!("there is no parameter"));
    assert_eq!(Some(out.as_slice()), template.fixed());
}

#[track_caller]
fn refused(spec: &RequestSpec, words: &[&str]) {
    let message = encode(spec).unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
}

#[test]
fn characters_that_would_break_the_request_apart_are_refused() {
    refused(&spec("GE T", "/"), &["method", "a space", "byte 2"]);
    refused(&spec("GET\r\n", "/"), &["method", "a carriage return"]);
    refused(&spec("", "/"), &["method is empty"]);
    refused(&spec("CONNECT", "/"), &["CONNECT"]);
    refused(
        &spec("GET", "/a b"),
        &["path", "a space", "byte 2", "percent-encode"],
    );
    refused(&spec("GET", "/a\nb"), &["path", "a line feed"]);
    refused(&spec("GET", "/a\0b"), &["path", "a NUL"]);
    refused(&spec("GET", "/\u{e9}"), &["path", "0xc3", "percent-encode"]);
    refused(&with_header("X Y", "z"), &["name of header 1", "a space"]);
    refused(&with_header("X:", "z"), &["name of header 1", "':'"]);
    refused(
        &with_header("X-Y", "a\r\nb: c"),
        &["header X-Y", "a carriage return"],
    );
    refused(&with_header("X-Y", "a\nb"), &["header X-Y", "a line feed"]);
    refused(&with_header("X-Y", "a\0"), &["header X-Y", "a NUL"]);
    let error = encode_request(&spec("GET", "/"), "a b", true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("host"), "{error}");
}

#[test]
fn values_of_parameters_are_checked_before_the_run() {
    for values in [ParamSpec::Choice, ParamSpec::InTurn] {
        let mut request = spec("GET", "/{city}");
        let cities = ["Bonn", "Bad Ems"].map(str::to_owned).to_vec();
        request.params.insert("city".to_owned(), values(cities));
        refused(
            &request,
            &[
                "value 2 of parameter city",
                "a space",
                "byte 3",
                "percent-encode",
            ],
        );
    }
}

#[test]
fn paths_and_bodies_that_cannot_be_meant() {
    refused(
        &spec("GET", "http://localhost/"),
        &["does not begin with '/'"],
    );
    refused(&spec("GET", "/{id}"), &["{id}", "params has none"]);
    refused(&spec("GET", "/{id"), &["without '}'"]);
    let mut request = spec("GET", "/{id}");
    request
        .params
        .insert("ident".to_owned(), ParamSpec::Range { from: 0, to: 1 });
    refused(&request, &["{id}", "params has ident"]);
    refused(
        &RequestSpec {
            body_base64: Some("%".to_owned()),
            ..spec("POST", "/")
        },
        &["body_base64"],
    );
    refused(
        &with_header("Content-Length", "5"),
        &["Content-Length", "\"5\"", "0 bytes"],
    );
    assert!(text(&spec("OPTIONS", "*")).starts_with("OPTIONS * HTTP/1.1\r\n"));
}
