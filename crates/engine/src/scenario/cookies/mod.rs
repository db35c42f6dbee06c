//! The cookies of one client: RFC 6265bis, as browsers implement it, for the one host of a workload.
//!
//! A jar holds at most `MAX_COOKIES`; when it is full, a new cookie replaces the oldest. There is no list of public
//! suffixes: with only one host, there are no other site's cookies to protect.

mod date;
mod parse;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

pub use parse::Refusal;
use parse::{bare, parse, path_matches};

const MAX_COOKIES: usize = 50;

/// Where a client's requests go.
#[derive(Debug, Clone)]
pub struct Site {
    /// Lower case, without a port.
    host: String,
    /// Whether it may set and gets cookies that are `Secure`.
    secure: bool,
}

impl Site {
    /// A host in a URL. Loopback is as good as TLS, as in browsers (W3C Secure Contexts section 3.1).
    pub fn new(host: &str, tls: bool) -> Self {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        let secure = tls || is_loopback(&host);
        Self { host, secure }
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let address = name.parse::<IpAddr>();
    address.is_ok_and(|address| address.to_canonical().is_loopback())
        || name == "localhost"
        || name.ends_with(".localhost")
}

/// What became of a cookie that is kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// It is sent to this path and what lies below.
    pub path: &'a [u8],
    /// The cookie that had to leave for it.
    pub dropped: Option<String>,
}

/// Boxed because every client has a jar, but most have no cookies.
#[derive(Debug, Default)]
pub struct Jar(#[expect(clippy::box_collection, reason = "thin")] Option<Box<Vec<Cookie>>>);

/// Name and value share one allocation, in the form in which they are sent.
#[derive(Debug)]
struct Cookie {
    /// `name=value`.
    pair: Box<[u8]>,
    name_length: u16,
    path: Box<[u8]>,
    /// Unix seconds; `None` if it lasts as long as the client.
    expires: Option<i64>,
    secure: bool,
}

impl Cookie {
    fn name(&self) -> &[u8] {
        &self.pair[..self.name_length as usize]
    }

    fn expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl Jar {
    /// Takes one `Set-Cookie` header of the answer to a request for `path` (section 5.7). `now` is in Unix seconds.
    ///
    /// Returns what became of it; `None` for one that has expired, and removes an earlier one.
    pub fn set(
        &mut self,
        header: &[u8],
        path: &[u8],
        site: &Site,
        now: i64,
    ) -> Result<Option<Kept<'_>>, Refusal> {
        let cookie = parse(header, path, site, now)?;
        let cookies = self.0.get_or_insert_default();
        let same = |known: &Cookie| known.name() == cookie.name() && known.path == cookie.path;
        let place = cookies.iter().position(same);
        if cookie.expired(now) {
            place.map(|place| cookies.remove(place));
            return Ok(None);
        }
        let mut dropped = None;
        let place = place.unwrap_or_else(|| {
            cookies.retain(|known| !known.expired(now));
            if cookies.len() == MAX_COOKIES {
                let oldest = cookies.remove(0);
                dropped = Some(String::from_utf8_lossy(oldest.name()).into_owned());
            }
            cookies.len()
        });
        if place == cookies.len() {
            cookies.push(cookie);
        } else {
            cookies[place] = cookie;
        }
        let path = &cookies[place].path;
        Ok(Some(Kept { path, dropped }))
    }

    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|cookies| cookies.is_empty())
    }

    /// Appends the `Cookie` header for a request to `path`, including its line end, if there are any cookies (section
    /// 5.4: longer paths first, then older ones). `begun` says that the header already has other cookies.
    pub fn write(&self, path: &[u8], site: &Site, now: i64, begun: bool, out: &mut Vec<u8>) {
        let mut sent: Vec<&Cookie> = self
            .0
            .iter()
            .flat_map(|cookies| cookies.iter())
            .filter(|cookie| {
                !cookie.expired(now)
                    && (site.secure || !cookie.secure)
                    && path_matches(bare(path), &cookie.path)
            })
            .collect();
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        for (index, cookie) in sent.iter().enumerate() {
            let first = index == 0 && !begun;
            out.extend_from_slice(if first { b"Cookie: " } else { b"; " });
            out.extend_from_slice(&cookie.pair);
        }
        if begun || !sent.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |cookies| cookies.len())
    }
}
