//! Parsing of requests.

use super::{Method, Persistence, Response};

const MAX_HEAD_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'b> {
    /// Path and query.
    pub target: &'b str,
    pub head: RequestHead,
    /// The key, if the request asks for a WebSocket.
    pub websocket: Option<&'b str>,
}

/// What the head of a request says of it and its connection, its target apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestHead {
    pub method: Method,
    pub persistence: Persistence,
    /// Bytes up to and including the empty line.
    pub head_length: u64,
    /// Bytes that follow the head.
    pub body_length: u64,
    /// Whether the client speaks HTTP/1.0, which knows no chunks.
    pub version_1_0: bool,
    /// Whether the client sends the body only when it is told to.
    pub expects_continue: bool,
}

#[derive(Debug)]
pub enum Parsed<'b> {
    Incomplete,
    Request(Request<'b>),
    /// The request is not acceptable: send this response and close the connection.
    Refused(Response),
}

/// Parses the request at the start of `input`.
pub fn parse(input: &[u8]) -> Parsed<'_> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(input) {
        Ok(httparse::Status::Complete(head_length)) => match interpret(&request, head_length) {
            Ok(request) => Parsed::Request(request),
            Err(response) => Parsed::Refused(response),
        },
        Ok(httparse::Status::Partial) if input.len() < MAX_HEAD_BYTES => Parsed::Incomplete,
        Ok(httparse::Status::Partial) => Parsed::Refused(Response::refusal(
            431,
            format!("the head of the request exceeds {MAX_HEAD_BYTES} bytes"),
        )),
        Err(httparse::Error::TooManyHeaders) => Parsed::Refused(Response::refusal(
            431,
            format!("the request has more than {MAX_HEADERS} headers"),
        )),
        Err(error) => Parsed::Refused(Response::refusal(
            400,
            format!("malformed request: {error}"),
        )),
    }
}

fn interpret<'b>(
    request: &httparse::Request<'_, 'b>,
    head_length: usize,
) -> Result<Request<'b>, Response> {
    let version_1_0 = request.version == Some(0);
    let persistence = if says(request, "connection", "close") {
        Persistence::Close
    } else if !version_1_0 {
        Persistence::Keep
    } else if says(request, "connection", "keep-alive") {
        Persistence::KeepAndSay
    } else {
        Persistence::Close
    };
    let mut body_length = None;
    for header in request.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let length = parse_length(header.value)?;
            if body_length.is_some_and(|earlier| earlier != length) {
                return Err(Response::refusal(
                    400,
                    "two values of Content-Length contradict each other",
                ));
            }
            body_length = Some(length);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Response::refusal(
                411,
                "a request with a body needs a Content-Length",
            ));
        }
    }
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        _ => Method::Other,
    };
    let websocket = websocket_key(request).filter(|_| method == Method::Get);
    let (head_length, body_length) = (head_length as u64, body_length.unwrap_or(0));
    let target = origin_form(request.path.unwrap_or("/"));
    Ok(Request {
        target,
        head: RequestHead {
            method,
            persistence,
            head_length,
            body_length,
            version_1_0,
            expects_continue: !version_1_0 && says(request, "expect", "100-continue"),
        },
        websocket,
    })
}

/// The key of a WebSocket handshake, if the handshake has all that RFC 6455, section 4.2.1, requires.
fn websocket_key<'b>(request: &httparse::Request<'_, 'b>) -> Option<&'b str> {
    let value = |name: &str| {
        let header = request
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok().map(str::trim)
    };
    if !says(request, "upgrade", "websocket") || !says(request, "connection", "upgrade") {
        return None;
    }
    value("sec-websocket-version").filter(|version| *version == "13")?;
    value("sec-websocket-key")
}

/// Whether any header of this name has this among its options, which commas separate.
fn says(request: &httparse::Request, name: &str, option: &str) -> bool {
    request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name))
        .flat_map(|header| header.value.split(|&byte| byte == b','))
        .any(|said| said.trim_ascii().eq_ignore_ascii_case(option.as_bytes()))
}

fn parse_length(value: &[u8]) -> Result<u64, Response> {
    let digits = value.iter().all(u8::is_ascii_digit);
    let length = std::str::from_utf8(value)
        .ok()
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    length.ok_or_else(|| Response::refusal(400, "Content-Length is not a whole number"))
}

/// The path and query of `http://host/path?query`; other targets are returned unchanged.
fn origin_form(target: &str) -> &str {
    match target.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request<'_> {
        match parse(text.as_bytes()) {
            Parsed::Request(request) => request,
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    fn refusal(text: &str) -> u16 {
        match parse(text.as_bytes()) {
            Parsed::Refused(response) => response.status,
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    #[test]
    fn a_request_is_incomplete_until_its_last_byte_and_leaves_what_follows() {
        let text = "GET /fast/44?x=1 HTTP/1.1\r\nHost: a\r\n\r\n";
        for end in 0..text.len() {
            assert!(
                matches!(parse(&text.as_bytes()[..end]), Parsed::Incomplete),
                "{end} bytes"
            );
        }
        let followed = format!("{text}GET /");
        assert_eq!(request(&followed).target, "/fast/44?x=1");
        assert_eq!(request(&followed).head.head_length, text.len() as u64);
    }

    #[test]
    fn persistence_depends_on_version_and_header() {
        for (version, header, expected) in [
            ("1.1", "", Persistence::Keep),
            ("1.1", "Connection: close\r\n", Persistence::Close),
            ("1.1", "connection: Upgrade , CLOSE\r\n", Persistence::Close),
            ("1.1", "Connection: keep-alive\r\n", Persistence::Keep),
            (
                "1.1",
                "Connection: close\r\nConnection: keep-alive\r\n",
                Persistence::Close,
            ),
            (
                "1.0",
                "Connection: keep-alive\r\nConnection: close\r\n",
                Persistence::Close,
            ),
            ("1.0", "", Persistence::Close),
            ("1.0", "Connection: Keep-Alive\r\n", Persistence::KeepAndSay),
        ] {
            let text = format!("GET / HTTP/{version}\r\n{header}\r\n");
            assert_eq!(request(&text).head.persistence, expected, "{text:?}");
        }
    }

    #[test]
    fn bodies_are_measured_and_unclear_ones_refused() {
        let post = |headers: &str| format!("POST / HTTP/1.1\r\n{headers}\r\n");
        let head = request(&post("Content-Length: 12\r\n")).head;
        assert_eq!((head.method, head.body_length), (Method::Other, 12));
        assert_eq!(
            request(&post("content-length: 3\r\nContent-Length: 3\r\n"))
                .head
                .body_length,
            3
        );
        assert_eq!(
            refusal(&post("Content-Length: 3\r\nContent-Length: 4\r\n")),
            400
        );
        assert_eq!(refusal(&post("Content-Length: -3\r\n")), 400);
        assert_eq!(
            refusal(&post("Content-Length: 99999999999999999999\r\n")),
            400
        );
        assert_eq!(refusal(&post("Transfer-Encoding: chunked\r\n")), 411);
    }

    #[test]
    fn only_http_1_1_waits_to_be_told_to_continue() {
        for (version, expects) in [("1.1", true), ("1.0", false)] {
            let text = format!("POST / HTTP/{version}\r\nExpect: 100-Continue\r\n\r\n");
            let head = request(&text).head;
            assert_eq!(
                (head.expects_continue, head.version_1_0),
                (expects, !expects)
            );
        }
    }

    #[test]
    fn a_handshake_has_its_key_and_all_that_belongs_to_it() {
        let lines = [
            "Upgrade: WebSocket",
            "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: abc",
        ];
        let text = |lines: &[&str]| format!("GET / HTTP/1.1\r\n{}\r\n\r\n", lines.join("\r\n"));
        assert_eq!(request(&text(&lines)).websocket, Some("abc"));
        for left_out in 0..lines.len() {
            let mut others = lines.to_vec();
            others.remove(left_out);
            assert_eq!(request(&text(&others)).websocket, None, "{others:?}");
        }
    }

    #[test]
    fn nonsense_and_excess_are_refused() {
        assert_eq!(refusal("\0\0\0\0\r\n\r\n"), 400);
        assert_eq!(
            refusal(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(101))),
            431
        );
        assert_eq!(
            refusal(&format!(
                "GET / HTTP/1.1\r\nA: {}",
                "b".repeat(MAX_HEAD_BYTES)
            )),
            431
        );
    }

    #[test]
    fn a_target_with_a_host_is_cut_to_its_path() {
        assert_eq!(
            request("GET http://a:1/fast/3 HTTP/1.1\r\n\r\n").target,
            "/fast/3"
        );
        assert_eq!(request("GET http://a HTTP/1.1\r\n\r\n").target, "/");
    }
}
