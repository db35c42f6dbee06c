//! The cookies of one client: RFC 6265bis, as browsers implement it, for the one host of a workload.
//!
//! A jar holds at most `MAX_COOKIES`; when it is full, a new cookie replaces the oldest. There is no list of public
//! suffixes: with only one host, there are no other site's cookies to protect.

pub mod date;
pub mod parse;
pub mod site;
#[cfg(test)]
mod tests;

use crate::template::cookies::parse::{Cookie, bare, parse, path_matches};
pub use parse::Refusal;
pub use site::Site;

const MAX_COOKIES: usize = 50;

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

impl Jar {
    /// Takes one `Set-Cookie` header of the response to a request for `path` (section 5.7). `now` is in Unix seconds.
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
