//! Where a redirect or a captured URL leads: resolves references by RFC 3986 section 5, for http and https.

use std::fmt::{self, Write as _};

/// A server as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub tls: bool,
    /// In lower case; an IPv6 address without brackets.
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
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Self {
            tls,
            host: host.to_ascii_lowercase(),
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
    /// Resolves `reference` in an answer from this URL; the error says why it cannot be requested. Characters that have
    /// no place in a URL are percent-encoded, as clients do.
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
    let port = match port.trim_start_matches(':') {
        "" => usual_port(tls),
        digits => digits
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| format!("{digits:?} is no port"))?,
    };
    let origin = Origin::new(tls, host, port);
    if origin.host.is_empty() {
        return Err("it names no host".into());
    }
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
            ("/a\r\nX: y", "it has a control character"),
        ] {
            assert_eq!(joined("http://a/", reference), Err(why.into()));
        }
    }

    #[test]
    fn hosts_are_written_as_in_urls() {
        let authority = |tls, host, port| Origin::new(tls, host, port).authority();
        assert_eq!(authority(false, "example.org", 80), "example.org");
        assert_eq!(authority(true, "example.org", 443), "example.org");
        assert_eq!(authority(false, "example.org", 443), "example.org:443");
        assert_eq!(authority(false, "::1", 8080), "[::1]:8080");
        assert_eq!(authority(false, "[::1]", 80), "[::1]");
    }
}
