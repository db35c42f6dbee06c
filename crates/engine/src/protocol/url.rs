//! Where a redirect or a captured URL leads: resolves references by RFC 3986 section 5, for http and https.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// A server as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub tls: bool,
    /// In ASCII and lower case; an IPv6 address without brackets and zone.
    pub host: String,
    pub port: u16,
}

/// An absolute URL without user and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub origin: Origin,
    /// The path with the query, fit for a request line.
    pub path: String,
}

impl Origin {
    pub fn new(tls: bool, host: &str, port: u16) -> Self {
        Self {
            tls,
            host: bare_host(host).to_ascii_lowercase(),
            port,
        }
    }

    /// Host and port as in a URL and in the `Host` header: an IPv6 address in brackets, the port only if it is not the
    /// scheme's default.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == usual_port(self.tls) {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl Url {
    /// Resolves `reference` in a response from this URL; the error says why it cannot be requested. Characters that
    /// have no place in a URL are percent-encoded, as clients do.
    pub fn join(&self, reference: &[u8]) -> Result<Self, String> {
        let reference = encoded(reference)?;
        let reference = reference.split('#').next().unwrap_or_default();
        if let Some((scheme, rest)) = split_scheme(reference) {
            let tls = match scheme.to_ascii_lowercase().as_str() {
                "http" => false,
                "https" => true,
                other => return Err(format!("{other} is not HTTP")),
            };
            let rest = rest.strip_prefix("//").ok_or("it names no host")?;
            return absolute(tls, rest);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return absolute(self.origin.tls, rest);
        }
        let (base, query) = split_query(&self.path);
        let path = match reference.chars().next() {
            None => format!("{base}{query}"),
            Some('?') => format!("{base}{reference}"),
            Some('/') => without_dots(reference),
            Some(_) => {
                let folder = base.rfind('/').map_or("/", |slash| &base[..=slash]);
                without_dots(&format!("{folder}{reference}"))
            }
        };
        Ok(Self {
            origin: self.origin.clone(),
            path,
        })
    }
}

/// A host without the brackets and the zone of an IPv6 address: no other machine knows the zone (RFC 6874 section 4).
pub fn bare_host(host: &str) -> &str {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.split_once('%') {
        Some((address, _)) if address.contains(':') => address,
        _ => host,
    }
}

/// A host's name as it is looked up: UTS 46, not transitional, as browsers do it. Bytes outside ASCII may be
/// percent-encoded.
pub fn ascii_host(name: &str) -> Result<Cow<'_, str>, String> {
    if !name.contains('%') && name.is_ascii() {
        return Ok(name.into());
    }
    let decoded = decoded(name.as_bytes());
    let encoded = idna::domain_to_ascii_cow(&decoded, idna::AsciiDenyList::URL);
    let encoded = encoded.map(Cow::into_owned).map(Cow::Owned);
    encoded.map_err(|_| format!("{name:?} cannot be the name of a host"))
}

/// Text without its percent-encoding.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let digits = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    bytes
}

/// Whether a path may contain the byte (RFC 3986 section 3.3, and more characters, which servers accept as well).
pub fn fits_path(byte: u8) -> bool {
    !matches!(byte, 0..=b' ' | b'#' | b'<' | b'>' | b'`' | 0x7f)
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Makes text fit for a request line, without the white space around it.
fn encoded(reference: &[u8]) -> Result<String, String> {
    let mut text = String::with_capacity(reference.len());
    for byte in reference.trim_ascii() {
        match byte {
            byte if byte.is_ascii_control() => return Err("it has a control character".into()),
            b'{' | b'}' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|' | b' ' | 0x80.. => {
                write!(text, "%{byte:02X}").expect("writing into memory does not fail");
            }
            byte => text.push(char::from(*byte)),
        }
    }
    Ok(text)
}

/// `scheme ":"` of RFC 3986 section 3.1, and what follows it.
fn split_scheme(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once(':')?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_scheme && scheme.chars().all(allowed)).then_some((scheme, rest))
}

/// Path and query; the query with its question mark.
fn split_query(path: &str) -> (&str, &str) {
    path.split_at(path.find('?').unwrap_or(path.len()))
}

/// Parses what follows `//`.
fn absolute(tls: bool, rest: &str) -> Result<Url, String> {
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("it names a user".into());
    }
    let after_address = authority.rfind(']').map_or(0, |end| end + 1);
    let colon = authority[after_address..].find(':');
    let (host, port) = authority.split_at(colon.map_or(authority.len(), |at| after_address + at));
    let port = match port.strip_prefix(':').unwrap_or_default() {
        "" => usual_port(tls),
        digits => Some(digits)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .filter(|port| *port > 0)
            .ok_or_else(|| format!("{digits:?} is no port"))?,
    };
    if host.is_empty() {
        return Err("it names no host".into());
    }
    let host = if after_address > 0 {
        host.into()
    } else {
        ascii_host(host)?
    };
    let origin = Origin::new(tls, &host, port);
    let path = match path.chars().next() {
        Some('/') => without_dots(path),
        _ => format!("/{path}"),
    };
    Ok(Url { origin, path })
}

/// Removes the dot segments of a path that begins with `/` (RFC 3986 section 5.2.4); the query stays as it is.
fn without_dots(path: &str) -> String {
    let (path, query) = split_query(path);
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(base: &str, reference: &str) -> Result<String, String> {
        let base = absolute(false, base.strip_prefix("http://").unwrap()).unwrap();
        let url = base.join(reference.as_bytes())?;
        Ok(format!("{}{}", url.origin, url.path))
    }

    /// RFC 3986 section 5.4, without fragments and without schemes that are not HTTP.
    #[test]
    fn references_mean_what_rfc_3986_says() {
        for (reference, target) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("http://other:8080/x", "http://other:8080/x"),
            ("HTTPS://Other", "https://other/"),
            ("https://[::1]:8443?q", "https://[::1]:8443/?q"),
            ("http://h:80/", "http://h/"),
        ] {
            assert_eq!(
                joined("http://a/b/c/d;p?q", reference),
                Ok(target.into()),
                "{reference:?}"
            );
        }
    }

    #[test]
    fn what_has_no_place_in_a_request_line_is_encoded() {
        assert_eq!(
            joined("http://a/", " /ü {x}?q=a b\t"),
            Ok("http://a/%C3%BC%20%7Bx%7D?q=a%20b".into())
        );
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        for (reference, why) in [
            ("ftp://h/", "ftp is not HTTP"),
            ("javascript:alert(1)", "javascript is not HTTP"),
            ("http:/x", "it names no host"),
            ("http:///x", "it names no host"),
            ("//user:secret@h/", "it names a user"),
            ("//h:0/", "\"0\" is no port"),
            ("//h:http/", "\"http\" is no port"),
            ("//h:::80/", "\"::80\" is no port"),
            ("//h:+80/", "\"+80\" is no port"),
            ("//h:8 0/", "\"8%200\" is no port"),
            ("//a%20b/", "\"a%20b\" cannot be the name of a host"),
            ("//%FF/", "\"%FF\" cannot be the name of a host"),
            ("/a\r\nX: y", "it has a control character"),
        ] {
            assert_eq!(joined("http://a/", reference), Err(why.into()));
        }
    }

    /// The table that Node's URL class made, for the Python side as well.
    #[test]
    fn names_of_hosts_are_encoded_as_browsers_do_it() {
        let table = include_str!("../../../../tests/oracles/data/hosts_of_node_20.json");
        let table: Vec<(String, Option<String>)> = serde_json::from_str(table).unwrap();
        let newer = ["ẞ.example", "Ⴀ.example", "\u{660}.example"];
        let others = table
            .iter()
            .filter(|(name, _)| !name.is_ascii() && !newer.contains(&name.as_str()));
        for (name, expected) in others {
            assert_eq!(
                ascii_host(name).ok().as_deref(),
                expected.as_deref(),
                "{name:?}"
            );
        }
        assert_eq!(
            ascii_host("b%C3%BCcher.example").unwrap(),
            "xn--bcher-kva.example"
        );
    }

    #[test]
    fn hosts_are_written_as_in_urls() {
        let authority = |tls, host, port| Origin::new(tls, host, port).authority();
        assert_eq!(authority(false, "example.org", 80), "example.org");
        assert_eq!(authority(true, "example.org", 443), "example.org");
        assert_eq!(authority(false, "example.org", 443), "example.org:443");
        assert_eq!(authority(false, "::1", 8080), "[::1]:8080");
        assert_eq!(authority(false, "[::1]", 80), "[::1]");
        assert_eq!(authority(false, "fe80::1%eth0", 80), "[fe80::1]");
    }
}
