//! `Set-Cookie` as browsers read it (RFC 6265bis section 5.6), and why a cookie is not kept.

use std::fmt;

use crate::protocol::head::name_and_value;
use crate::protocol::url::ascii_host;
use crate::template::cookies::date::date;
use crate::template::cookies::site::Site;

/// Name and value may have so many bytes together.
pub const MAX_PAIR_BYTES: usize = 4096;
/// Longer attributes are ignored.
pub const MAX_ATTRIBUTE_BYTES: usize = 1024;

/// Name and value share one allocation, in the form in which they are sent.
#[derive(Debug)]
pub struct Cookie {
    /// `name=value`.
    pub pair: Box<[u8]>,
    pub name_length: u16,
    pub path: Box<[u8]>,
    /// Unix seconds; `None` if it lasts as long as the client.
    pub expires: Option<i64>,
    pub secure: bool,
}

impl Cookie {
    pub fn name(&self) -> &[u8] {
        &self.pair[..self.name_length as usize]
    }

    pub fn expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Why a cookie is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NoName,
    Control,
    TooLong(usize),
    /// Its Domain, and the host.
    Domain(String, String),
    Secure,
    SecurePrefix,
    HostPrefix,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("it has no name"),
            Self::Control => f.write_str("a control character is in it"),
            Self::TooLong(bytes) => write!(
                f,
                "its name and value have {bytes} bytes together; {MAX_PAIR_BYTES} are the most"
            ),
            Self::Domain(domain, host) => write!(f, "Domain={domain} is not the host ({host})"),
            Self::Secure => f.write_str("it is Secure, and this is neither TLS nor loopback"),
            Self::SecurePrefix => f.write_str("__Secure- asks for Secure"),
            Self::HostPrefix => f.write_str("__Host- asks for Secure, Path=/ and no Domain"),
        }
    }
}

/// The attributes of a cookie.
#[derive(Default)]
struct Attributes<'a> {
    path: Option<&'a [u8]>,
    domain: Option<&'a [u8]>,
    max_age: Option<i64>,
    expires: Option<i64>,
    secure: bool,
}

/// Reads a header of the response to a request for `request_path`. `now` is in Unix seconds.
pub fn parse(header: &[u8], request_path: &[u8], site: &Site, now: i64) -> Result<Cookie, Refusal> {
    let (name, value) = name_and_value(header).ok_or(Refusal::NoName)?;
    let unfit = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    if name.iter().chain(value).any(unfit) {
        return Err(Refusal::Control);
    }
    if name.len() + value.len() > MAX_PAIR_BYTES {
        return Err(Refusal::TooLong(name.len() + value.len()));
    }
    let attributes = Attributes::read(header, now);
    let Attributes { path, secure, .. } = attributes;
    if let Some(domain) = attributes.domain
        && !domain_matches(&site.host, domain)
    {
        let domain = String::from_utf8_lossy(domain).into_owned();
        return Err(Refusal::Domain(domain, site.host.clone()));
    }
    if secure && !site.secure {
        return Err(Refusal::Secure);
    }
    if has_prefix(name, b"__Secure-") && !secure {
        return Err(Refusal::SecurePrefix);
    }
    let only_host = secure && path == Some(b"/") && attributes.domain.is_none();
    if has_prefix(name, b"__Host-") && !only_host {
        return Err(Refusal::HostPrefix);
    }
    Ok(Cookie {
        pair: [name, b"=", value].concat().into(),
        name_length: name.len() as u16,
        path: path.unwrap_or_else(|| default_path(request_path)).into(),
        expires: attributes.max_age.or(attributes.expires),
        secure,
    })
}

impl<'a> Attributes<'a> {
    fn read(header: &'a [u8], now: i64) -> Self {
        let mut read = Self::default();
        for attribute in header.split(|byte| *byte == b';').skip(1) {
            let equals = attribute.iter().position(|byte| *byte == b'=');
            let (key, value) = match equals {
                Some(equals) => (&attribute[..equals], attribute[equals + 1..].trim_ascii()),
                None => (attribute, &b""[..]),
            };
            if value.len() > MAX_ATTRIBUTE_BYTES {
                continue;
            }
            let is = |name: &str| key.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            if is("path") {
                read.path = value.starts_with(b"/").then_some(value);
            } else if is("domain") {
                read.domain = Some(value).filter(|value| !value.is_empty());
            } else if is("max-age") {
                read.max_age = seconds(value)
                    .map(|seconds| now.saturating_add(seconds))
                    .or(read.max_age);
            } else if is("expires") {
                read.expires = date(value).or(read.expires);
            } else if is("secure") {
                read.secure = true;
            }
        }
        read
    }
}

fn seconds(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok();
    text.filter(|text| !text.starts_with('+'))?.parse().ok()
}

fn has_prefix(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// The path without its query.
pub fn bare(path: &[u8]) -> &[u8] {
    path.split(|byte| *byte == b'?').next().unwrap_or_default()
}

/// The default path of a cookie (section 5.1.4).
fn default_path(request_path: &[u8]) -> &[u8] {
    let path = bare(request_path);
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(last) => &path[..last],
    }
}

pub fn path_matches(path: &[u8], cookie: &[u8]) -> bool {
    path.strip_prefix(cookie)
        .is_some_and(|rest| rest.is_empty() || cookie.ends_with(b"/") || rest.starts_with(b"/"))
}

/// Whether `host` matches `domain` (section 5.1.3); an IP address matches only itself.
fn domain_matches(host: &str, domain: &[u8]) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain);
    let Some(domain) = std::str::from_utf8(domain)
        .ok()
        .and_then(|name| ascii_host(name).ok())
    else {
        return false;
    };
    let domain = domain.as_bytes().to_ascii_lowercase();
    let host = host.as_bytes();
    let is_name = host.iter().any(u8::is_ascii_alphabetic) && !host.contains(&b':');
    host == domain
        || (is_name
            && host
                .strip_suffix(domain.as_slice())
                .is_some_and(|rest| rest.ends_with(b".")))
}
