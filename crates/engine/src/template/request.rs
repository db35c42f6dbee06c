//! Requests, encoded once before the run, so that the hot path only has to copy bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use crate::spec::{Fill, ParamSpec, RequestSpec};
use crate::template::escape::EscapeContext;

/// Why a request cannot be sent as it is written. Every message names the field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    #[error(
        "{field} contains {what} at byte {at}, which has no place there in HTTP/1.1: remove it{remedy}"
    )]
    Character {
        field: String,
        what: String,
        at: usize,
        remedy: &'static str,
    },
    #[error("{field} is empty")]
    Empty { field: String },
    #[error(
        "method CONNECT asks for a tunnel, which is not a load of requests: use another method"
    )]
    Connect,
    #[error(
        "path {path:?} does not begin with '/': give the path and query only, without scheme and host"
    )]
    Path { path: String },
    #[error(
        "{target:?} is neither a path, which begins with '/', nor a URL with http:// or https://"
    )]
    Target { target: String },
    #[error(
        "path {path:?} has '{{' without '}}': close the parameter's name, or write %7B for a brace"
    )]
    OpenBrace { path: String },
    #[error(
        "path names the parameter {{{name}}}, and params has {known}: add it, or write %7B and %7D for braces"
    )]
    UnknownParam { name: String, known: String },
    #[error("body_base64 is not base64: {0}")]
    Body(#[from] base64::DecodeError),
    #[error(
        "header Transfer-Encoding is not for a body that is sent whole: leave it out, Content-Length is added"
    )]
    TransferEncoding,
    #[error(
        "header Content-Length says {given:?} and the body has {bytes} bytes: leave the header out, it is added"
    )]
    ContentLength { given: String, bytes: usize },
    #[error("header {name} is added by itself: leave it out")]
    Added { name: String },
}

/// A whole request as bytes, with placeholders for what is known only when it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    segments: Vec<Segment>,
    head: bool,
    closes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(Vec<u8>),
    Placeholder(Placeholder),
    /// The place of the body's length, if the body has placeholders.
    Length,
    /// The body begins.
    Body,
}

/// What is filled in when the request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// Position of the parameter in the spec's `params`, and where its value stands.
    Param(usize, EscapeContext),
    /// The client's cookies, to the end of the `Cookie` header's line. `begun`: other cookies are there already; if
    /// not, a client without cookies sends no such line.
    Cookies { begun: bool },
    /// A part of a request that a script composes.
    Scripted(Part),
}

/// A part of a request that a script composes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Path,
    /// All header lines but `Connection` and the line of the client's cookies.
    Headers,
    Body,
}

impl Template {
    /// The request's bytes if they are always the same, that is, if it has no placeholders.
    #[must_use]
    pub fn fixed(&self) -> Option<&[u8]> {
        match self.segments.as_slice() {
            [Segment::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Appends the request to `out`; `fill` appends what belongs into a placeholder. It is called once for each place where a
    /// parameter is named; positions are in the order of the spec's `params` (by name). `out` must be empty if there
    /// are cookies, because `fill` looks for the request's path at its beginning.
    pub fn write(&self, out: &mut Vec<u8>, mut fill: impl FnMut(Placeholder, &mut Vec<u8>)) {
        let (mut length, mut body) = (None, 0);
        for segment in &self.segments {
            match segment {
                Segment::Literal(bytes) => out.extend_from_slice(bytes),
                Segment::Placeholder(placeholder) => fill(*placeholder, out),
                Segment::Length => length = Some(out.len()),
                Segment::Body => body = out.len(),
            }
        }
        if let Some(position) = length {
            let digits = (out.len() - body).to_string();
            out.splice(position..position, digits.into_bytes());
        }
    }

    /// Whether it is a HEAD request, whose response has no body.
    #[must_use]
    pub fn is_head(&self) -> bool {
        self.head
    }

    /// Whether a header of its own says that the connection will not be used again.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.closes
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if let Some(Segment::Literal(literal)) = self.segments.last_mut() {
            literal.extend_from_slice(bytes);
        } else {
            self.segments.push(Segment::Literal(bytes.to_vec()));
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        for part in [name, ": ", value, "\r\n"] {
            self.text(part);
        }
    }

    /// `{name}` becomes a placeholder if `name` is a parameter; other braces are text.
    fn text_with_placeholders(&mut self, text: &[u8], spec: &RequestSpec, context: EscapeContext) {
        let mut rest = text;
        while let Some(open) = memchr::memchr(b'{', rest) {
            let inside = &rest[open + 1..];
            let close = memchr::memchr2(b'}', b'{', inside).filter(|at| inside[*at] == b'}');
            let name = close.map(|close| &inside[..close]);
            let known = spec.params.keys();
            let position =
                name.and_then(|name| known.into_iter().position(|known| known.as_bytes() == name));
            if let (Some(close), Some(position)) = (close, position) {
                self.bytes(&rest[..open]);
                self.segments
                    .push(Segment::Placeholder(Placeholder::Param(position, context)));
                rest = &inside[close + 1..];
            } else {
                self.bytes(&rest[..=open]);
                rest = inside;
            }
        }
        self.bytes(rest);
    }
}

/// Encodes a request. `host_header` is what goes into `Host`; without `keep_alive` the server is asked to close.
/// `Host`, `User-Agent`, `Content-Length` and `Connection` are added unless the spec gives them or leaves them out.
pub fn encode_request(
    spec: &RequestSpec,
    host_header: &str,
    keep_alive: bool,
) -> Result<Template, EncodeError> {
    check("method", &spec.method, is_token, "")?;
    if spec.method == "CONNECT" {
        return Err(EncodeError::Connect);
    }
    check(
        "the target's host",
        host_header,
        |byte| byte.is_ascii_graphic(),
        "",
    )?;
    check_headers(&spec.headers)?;
    check_params(spec)?;
    let body = STANDARD.decode(spec.body_base64.as_deref().unwrap_or_default())?;
    check_content_length(spec, body.len())?;
    if given(spec, "transfer-encoding") {
        return Err(EncodeError::TransferEncoding);
    }

    let mut template = Template {
        segments: Vec::new(),
        head: spec.method == "HEAD",
        closes: spec.headers.iter().any(is_close),
    };
    template.text(&spec.method);
    template.text(" ");
    path(&mut template, spec)?;
    template.text(" HTTP/1.1\r\n");
    if !given(spec, "host") {
        template.header("Host", host_header);
    }
    if !given(spec, "user-agent") {
        template.header("User-Agent", concat!("jostle/", env!("CARGO_PKG_VERSION")));
    }
    let is_cookie = |name: &str| spec.cookies && name.eq_ignore_ascii_case("cookie");
    let (cookies, headers): (Vec<_>, Vec<_>) =
        spec.headers.iter().partition(|(name, _)| is_cookie(name));
    for (name, value) in headers {
        if spec.fill.is_some() {
            template.text(name);
            template.text(": ");
            template.text_with_placeholders(value.as_bytes(), spec, EscapeContext::Header);
            template.text("\r\n");
        } else {
            template.header(name, value);
        }
    }
    if spec.cookies {
        // Never more than one Cookie header (RFC 6265 section 5.4).
        for (index, (_, value)) in cookies.iter().enumerate() {
            template.text(if index == 0 { "Cookie: " } else { "; " });
            template.text_with_placeholders(value.as_bytes(), spec, EscapeContext::Header);
        }
        let begun = !cookies.is_empty();
        template
            .segments
            .push(Segment::Placeholder(Placeholder::Cookies { begun }));
    }
    let filled = filled_body(spec, &body);
    // A server may wait for a body after these methods unless it is told that there is none (RFC 9110 section 8.6).
    let has_body =
        spec.body_base64.is_some() || matches!(spec.method.as_str(), "POST" | "PUT" | "PATCH");
    if filled.is_some() {
        template.text("Content-Length: ");
        template.segments.push(Segment::Length);
        template.text("\r\n");
    } else if has_body && !given(spec, "content-length") {
        template.header("Content-Length", &body.len().to_string());
    }
    if !keep_alive && !given(spec, "connection") {
        template.header("Connection", "close");
    }
    template.text("\r\n");
    if let Some(segments) = filled {
        template.segments.push(Segment::Body);
        template.segments.extend(segments);
    } else {
        template.bytes(&body);
    }
    Ok(template)
}

/// The template of a request that a script composes.
pub fn encode_scripted(
    method: &str,
    keep_alive: bool,
    cookies: bool,
) -> Result<Template, EncodeError> {
    check("method", method, is_token, "")?;
    let mut template = Template {
        segments: Vec::new(),
        head: method == "HEAD",
        closes: false,
    };
    let placeholder = |part| Segment::Placeholder(Placeholder::Scripted(part));
    template.text(method);
    template.text(" ");
    template.segments.push(placeholder(Part::Path));
    template.text(" HTTP/1.1\r\n");
    template.segments.push(placeholder(Part::Headers));
    if cookies {
        let begun = false;
        template
            .segments
            .push(Segment::Placeholder(Placeholder::Cookies { begun }));
    }
    if !keep_alive {
        template.header("Connection", "close");
    }
    template.text("\r\n");
    template.segments.push(placeholder(Part::Body));
    Ok(template)
}

/// Encodes a message that is sent without a head, over a WebSocket, as raw bytes or as a datagram: the body, in which
/// `{name}` is a placeholder if `params` has the name.
pub fn encode_message(spec: &RequestSpec) -> Result<Template, EncodeError> {
    let body = STANDARD.decode(spec.body_base64.as_deref().unwrap_or_default())?;
    let mut template = Template {
        segments: Vec::new(),
        head: false,
        closes: false,
    };
    template.text_with_placeholders(
        &body,
        spec,
        spec.fill.map_or(EscapeContext::Bare, context_in),
    );
    Ok(template)
}

/// The place of values in such a body, which decides how they are escaped.
fn context_in(body: Fill) -> EscapeContext {
    match body {
        Fill::Text => EscapeContext::Bare,
        Fill::Json => EscapeContext::Json,
        Fill::Form => EscapeContext::Url,
    }
}

/// The segments of the body, if it has placeholders.
fn filled_body(spec: &RequestSpec, body: &[u8]) -> Option<Vec<Segment>> {
    let context = context_in(spec.fill?);
    let mut split = Template {
        segments: Vec::new(),
        head: false,
        closes: false,
    };
    split.text_with_placeholders(body, spec, context);
    let is_placeholder = |segment: &Segment| matches!(segment, Segment::Placeholder(_));
    split
        .segments
        .iter()
        .any(is_placeholder)
        .then_some(split.segments)
}

/// Whether the spec says itself what becomes of a header: which value it has, or that it is left out.
fn given(spec: &RequestSpec, name: &str) -> bool {
    let names = spec.headers.iter().map(|(other, _)| other);
    names
        .chain(&spec.left_out)
        .any(|other| other.eq_ignore_ascii_case(name))
}

/// Whether it is `Connection: close`, after which no request may follow (RFC 9112 section 9.6).
fn is_close((name, value): &(String, String)) -> bool {
    let is_close = |option: &str| option.trim().eq_ignore_ascii_case("close");
    name.eq_ignore_ascii_case("connection") && value.split(',').any(is_close)
}

/// Adds the path and query, split at its parameters.
fn path(template: &mut Template, spec: &RequestSpec) -> Result<(), EncodeError> {
    check("path", &spec.path, |byte| byte.is_ascii_graphic(), ENCODE)?;
    let asterisk = spec.method == "OPTIONS" && spec.path == "*";
    if !spec.path.starts_with('/') && !asterisk && !is_whole_path(spec) {
        return Err(EncodeError::Path {
            path: spec.path.clone(),
        });
    }
    let mut rest = spec.path.as_str();
    while let Some((literal, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| EncodeError::OpenBrace {
                path: spec.path.clone(),
            })?;
        let position = spec.params.keys().position(|known| known == name);
        let position = position.ok_or_else(|| EncodeError::UnknownParam {
            name: name.to_owned(),
            known: match spec.params.len() {
                0 => "none".to_owned(),
                _ => spec
                    .params
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            },
        })?;
        template.text(literal);
        let context = match spec.fill {
            Some(_) => EscapeContext::Url,
            None => EscapeContext::Bare,
        };
        template
            .segments
            .push(Segment::Placeholder(Placeholder::Param(position, context)));
        rest = after;
    }
    template.text(rest);
    Ok(())
}

/// Whether the path is a parameter alone, whose values are whole paths.
fn is_whole_path(spec: &RequestSpec) -> bool {
    let name = spec
        .path
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    match name.and_then(|name| spec.params.get(name)) {
        Some(ParamSpec::Choice(values) | ParamSpec::InTurn(values)) => {
            values.iter().all(|value| value.starts_with('/'))
        }
        _ => false,
    }
}

const ENCODE: &str = ", or percent-encode it";

fn check_headers(headers: &[(String, String)]) -> Result<(), EncodeError> {
    for (index, (name, value)) in headers.iter().enumerate() {
        check(&format!("name of header {}", index + 1), name, is_token, "")?;
        let allowed = |byte: u8| byte == b'\t' || !byte.is_ascii_control();
        match check(&format!("header {name}"), value, allowed, "") {
            Ok(()) | Err(EncodeError::Empty { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Values are put into the path as they are, so they are checked before the run.
fn check_params(spec: &RequestSpec) -> Result<(), EncodeError> {
    for (name, param) in &spec.params {
        if spec.fill.is_some() {
            continue; // they are escaped
        }
        let (ParamSpec::Choice(values) | ParamSpec::InTurn(values)) = param else {
            continue;
        };
        for (index, value) in values.iter().enumerate() {
            let field = format!("value {} of parameter {name}", index + 1);
            check(&field, value, |byte| byte.is_ascii_graphic(), ENCODE)?;
        }
    }
    Ok(())
}

fn check_content_length(spec: &RequestSpec, bytes: usize) -> Result<(), EncodeError> {
    for (name, value) in &spec.headers {
        if name.eq_ignore_ascii_case("content-length") && value.trim() != bytes.to_string() {
            return Err(EncodeError::ContentLength {
                given: value.clone(),
                bytes,
            });
        }
    }
    Ok(())
}

pub(super) fn check(
    field: &str,
    text: &str,
    allowed: impl Fn(u8) -> bool,
    remedy: &'static str,
) -> Result<(), EncodeError> {
    if text.is_empty() {
        let field = field.to_owned();
        return Err(EncodeError::Empty { field });
    }
    let Some(at) = text.bytes().position(|byte| !allowed(byte)) else {
        return Ok(());
    };
    let what = match text.as_bytes()[at] {
        b' ' => "a space".to_owned(),
        b'\r' => "a carriage return".to_owned(),
        b'\n' => "a line feed".to_owned(),
        0 => "a NUL".to_owned(),
        byte if byte.is_ascii_graphic() => format!("'{}'", char::from(byte)),
        byte => format!("byte 0x{byte:02x}"),
    };
    Err(EncodeError::Character {
        field: field.to_owned(),
        what,
        at,
        remedy,
    })
}

/// `tchar` of RFC 9110 section 5.6.2.
pub(super) fn is_token(byte: u8) -> bool {
    matches!(
        byte,
        b'0'..=b'9' | b'A'..=b'Z' | b'^'..=b'z' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'|' | b'~'
    )
}

#[cfg(test)]
mod tests;
