//! Requests that a script composes at run time, so that they cannot be encoded before the run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::spec::{Fill, RequestSpec};
use crate::template::request::{EncodeError, Part, check, is_token};

/// The content that is filled into the template of such a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ScriptedRequest {
    /// Path or URL, header lines and body, one after another.
    bytes: Vec<u8>,
    path: usize,
    headers: usize,
    /// Which of [`DEFAULTED`] the script has given.
    set_by_script: [bool; DEFAULTED.len()],
}

/// What a request needs besides what its script says.
#[derive(Debug, Clone, Copy)]
pub struct RequestDefaults<'a> {
    /// What goes into `Host`.
    pub authority: &'a str,
    /// The value of `Authorization` unless the script sets one; `None` to send none.
    pub authorization: Option<&'a str>,
    pub method: &'a str,
    /// Whether the client's cookies are sent automatically.
    pub cookies: bool,
}

/// Determined by the connection or the body's length, so a script must not set them.
const ADDED: [&str; 3] = ["connection", "content-length", "transfer-encoding"];

/// Added if the script does not set them.
const DEFAULTED: [&str; 4] = ["host", "user-agent", "content-type", "authorization"];
const HOST: usize = 0;
const USER_AGENT: usize = 1;
const CONTENT_TYPE: usize = 2;
const AUTHORIZATION: usize = 3;

/// Initial room, enough for most requests, as a buffer that grows is copied.
const USUAL_REQUEST_BYTES: usize = 384;
/// The memory of a longer request is not kept for the next one.
const MAX_KEPT_BYTES: usize = 4096;

const ENCODE: &str = ", or percent-encode it: escape(text)";

impl ScriptedRequest {
    /// Starts a new request with its path or URL.
    pub fn begin(&mut self, target: &[u8]) -> Result<(), EncodeError> {
        if !is_path(target) && !is_url(target) {
            let path = std::str::from_utf8(target).unwrap_or("\u{fffd}");
            check("the path", path, |byte| byte.is_ascii_graphic(), ENCODE)?;
            let target = path.to_owned();
            return Err(EncodeError::Target { target });
        }
        if self.bytes.capacity() > MAX_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.bytes.reserve(USUAL_REQUEST_BYTES);
        self.bytes.extend_from_slice(target);
        self.path = target.len();
        self.headers = target.len();
        self.set_by_script = [false; DEFAULTED.len()];
        Ok(())
    }

    /// Appends a header line.
    pub fn header(
        &mut self,
        name: &[u8],
        value: &[u8],
        defaults: RequestDefaults<'_>,
    ) -> Result<(), EncodeError> {
        if name.is_empty() || !all(name, is_token) {
            let name = std::str::from_utf8(name).unwrap_or("\u{fffd}");
            check("the name of a header", name, is_token, "")?;
        }
        let is = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        if ADDED.iter().any(is) || (defaults.cookies && is(&"cookie")) {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(EncodeError::Added { name });
        }
        let fit = |byte: u8| byte == b'\t' || !byte.is_ascii_control();
        if !all(value, fit) {
            let field = format!("header {}", String::from_utf8_lossy(name));
            check(&field, &String::from_utf8_lossy(value), fit, "")?;
        }
        for (set_by_script, known) in self.set_by_script.iter_mut().zip(DEFAULTED) {
            *set_by_script |= is(&known);
        }
        self.append(&[name, b": ", value, b"\r\n"]);
        Ok(())
    }

    /// What it asks for, if that is a URL. Such a request goes where the URL leads, not to the workload's own server.
    pub fn url(&self) -> Option<&[u8]> {
        Some(self.part(Part::Path)).filter(|target| is_url(target))
    }

    /// Whether it has a `Content-Type`.
    pub fn has_type(&self) -> bool {
        self.set_by_script[CONTENT_TYPE]
    }

    /// Adds the missing header lines and the body.
    pub fn finish(&mut self, body: Option<&[u8]>, defaults: RequestDefaults<'_>) {
        if !self.set_by_script[HOST] {
            self.append(&[b"Host: ", defaults.authority.as_bytes(), b"\r\n"]);
        }
        if !self.set_by_script[USER_AGENT] {
            let agent = concat!("User-Agent: jostle/", env!("CARGO_PKG_VERSION"), "\r\n");
            self.append(&[agent.as_bytes()]);
        }
        if let Some(login) = defaults.authorization
            && !self.set_by_script[AUTHORIZATION]
        {
            self.append(&[b"Authorization: ", login.as_bytes(), b"\r\n"]);
        }
        if body.is_some() || matches!(defaults.method, "POST" | "PUT" | "PATCH") {
            let length = body.map_or(0, <[u8]>::len);
            let length = length.to_string();
            self.append(&[b"Content-Length: ", length.as_bytes(), b"\r\n"]);
        }
        self.headers = self.bytes.len();
        self.bytes.extend_from_slice(body.unwrap_or_default());
    }

    pub fn part(&self, part: Part) -> &[u8] {
        match part {
            Part::Path => &self.bytes[..self.path],
            Part::Headers => &self.bytes[self.path..self.headers],
            Part::Body => &self.bytes[self.headers..],
        }
    }

    /// Converts it to the specification of a request, for a redirect or a URL. Everything else is taken from `site`.
    pub fn spec(&self, site: &RequestSpec) -> RequestSpec {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let added = |name: &str| {
            let is = |known| name.eq_ignore_ascii_case(known);
            is("content-length") || (is("host") && !self.set_by_script[HOST])
        };
        let own = self
            .lines()
            .map(|(name, value)| (text(name), text(value)))
            .filter(|(name, _)| !added(name));
        let body = self.part(Part::Body);
        RequestSpec {
            path: text(self.part(Part::Path)),
            headers: own.collect(),
            body_base64: (!body.is_empty()).then(|| STANDARD.encode(body)),
            fill: Some(Fill::Text),
            ..site.clone()
        }
    }

    fn append(&mut self, line: &[&[u8]]) {
        for part in line {
            self.bytes.extend_from_slice(part);
        }
    }

    fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self
            .part(Part::Headers)
            .split_inclusive(|byte| *byte == b'\n');
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        })
    }
}

fn is_path(target: &[u8]) -> bool {
    target.first() == Some(&b'/') && all(target, |byte| byte.is_ascii_graphic())
}

/// Looks at all bytes, because stopping at the first unfit one would take several times as long.
fn all(bytes: &[u8], fit: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(true, |all, byte| all & fit(*byte))
}

/// Whether it begins like a URL and not like a path.
fn is_url(target: &[u8]) -> bool {
    let begins = |scheme: &str| {
        let start = target.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    begins("http://") || begins("https://")
}

#[cfg(test)]
mod tests {
    use super::super::request::encode_scripted;
    use super::*;
    use crate::template::request::Placeholder;

    const DEFAULTS: RequestDefaults<'_> = RequestDefaults {
        authority: "shop:81",
        authorization: None,
        method: "POST",
        cookies: true,
    };

    fn begun(target: &[u8]) -> Result<ScriptedRequest, EncodeError> {
        let mut scripted = ScriptedRequest::default();
        scripted.begin(target)?;
        Ok(scripted)
    }

    fn sent(scripted: &ScriptedRequest, keep_alive: bool) -> String {
        let template = encode_scripted("POST", keep_alive, true).unwrap();
        let mut out = Vec::new();
        template.write(&mut out, |placeholder, out| match placeholder {
            Placeholder::Scripted(part) => out.extend_from_slice(scripted.part(part)),
            Placeholder::Cookies { begun } => {
                out.extend_from_slice(if begun { b"?" } else { b"Cookie: a=1\r\n" });
            }
            Placeholder::Param(..) => unreachable!(),
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_request_is_written_whole() {
        let mut scripted = begun(b"/orders?x={1}").unwrap();
        scripted.header(b"X-One", "ü".as_bytes(), DEFAULTS).unwrap();
        scripted.finish(Some(b"hi"), DEFAULTS);
        let agent = concat!("User-Agent: jostle/", env!("CARGO_PKG_VERSION"));
        let head = format!(
            "POST /orders?x={{1}} HTTP/1.1\r\nX-One: ü\r\nHost: shop:81\r\n{agent}\r\nContent-Length: 2\r\nCookie: a=1\r\n"
        );
        assert_eq!(sent(&scripted, true), format!("{head}\r\nhi"));
        assert_eq!(
            sent(&scripted, false),
            format!("{head}Connection: close\r\n\r\nhi")
        );
    }

    #[test]
    fn host_and_agent_can_be_another_s() {
        let mut scripted = begun(b"/").unwrap();
        scripted.header(b"HOST", b"other", DEFAULTS).unwrap();
        scripted.header(b"user-agent", b"me", DEFAULTS).unwrap();
        scripted.finish(None, DEFAULTS);
        let lines = "HOST: other\r\nuser-agent: me\r\nContent-Length: 0\r\n";
        assert_eq!(scripted.part(Part::Headers), lines.as_bytes());
    }

    #[test]
    fn the_servers_login_is_sent_unless_the_script_has_another() {
        let defaults = RequestDefaults {
            authorization: Some("Basic eDp5"),
            ..DEFAULTS
        };
        let mut scripted = begun(b"/").unwrap();
        scripted.finish(None, defaults);
        let sent = String::from_utf8(scripted.part(Part::Headers).to_vec()).unwrap();
        assert!(sent.contains("Authorization: Basic eDp5\r\n"), "{sent}");
        let mut scripted = begun(b"/").unwrap();
        scripted
            .header(b"authorization", b"Bearer t", defaults)
            .unwrap();
        scripted.finish(None, defaults);
        let sent = String::from_utf8(scripted.part(Part::Headers).to_vec()).unwrap();
        assert!(sent.starts_with("authorization: Bearer t\r\n"), "{sent}");
        assert!(!sent.contains("Basic"), "{sent}");
    }

    #[test]
    fn a_url_is_known_by_its_scheme() {
        for target in ["http://a/b c", "HTTPS://a", "http://"] {
            let scripted = begun(target.as_bytes()).unwrap();
            assert_eq!(scripted.url(), Some(target.as_bytes()));
        }
        assert_eq!(begun(b"/http://").unwrap().url(), None);
        assert!(begun(b"ftp://a/").is_err());
    }

    #[test]
    fn what_would_break_the_request_is_refused() {
        for path in [
            &b"/a b"[..],
            b"/a\r\nX: y",
            b"",
            b"a",
            "/ü".as_bytes(),
            b"/\xff",
        ] {
            assert!(begun(path).is_err(), "{path:?}");
        }
        let mut scripted = begun(b"/").unwrap();
        for (name, value) in [
            ("X", "a\r\nY: b"),
            ("X Y", "a"),
            ("", "a"),
            ("Content-length", "3"),
            ("Connection", "close"),
            ("Cookie", "a=1"),
        ] {
            let refused = scripted.header(name.as_bytes(), value.as_bytes(), DEFAULTS);
            assert!(refused.is_err(), "{name}: {value}");
        }
        assert_eq!(scripted.part(Part::Headers), b"");
    }

    #[test]
    fn a_redirect_takes_headers_and_body_along() {
        let site = serde_json::json!({"name": "r", "method": "POST", "path": "/"});
        let site: RequestSpec = serde_json::from_value(site).unwrap();
        let mut scripted = begun(b"/a").unwrap();
        scripted.header(b"X", b"{y}", DEFAULTS).unwrap();
        scripted.finish(Some(b"hi"), DEFAULTS);
        let spec = scripted.spec(&site);
        assert_eq!(spec.headers[0], ("X".into(), "{y}".into()));
        assert_eq!(spec.headers.len(), 2, "{:?}", spec.headers);
        assert_eq!(spec.body_base64.as_deref(), Some("aGk="));
        let mut scripted = begun(b"/a").unwrap();
        scripted.header(b"Host", b"other", DEFAULTS).unwrap();
        scripted.finish(None, DEFAULTS);
        let spec = scripted.spec(&site);
        assert_eq!(
            spec.headers[0],
            ("Host".into(), "other".into()),
            "its own word"
        );
    }
}
