//! The cookies of one client: RFC 6265 as browsers implement it, for the one host of a workload.
//!
//! A jar holds at most `MOST` cookies, each from a header of at most `LONGEST` bytes; when it is full, a new cookie
//! replaces the oldest. There is no list of public suffixes: with only one host, there are no other site's cookies to
//! protect.

use super::head::name_and_value;
use crate::wire::url::ascii_host;

const MOST: usize = 50;
const LONGEST: usize = 4096;

/// Where a client's requests go.
#[derive(Debug, Clone)]
pub struct Site {
    /// Lower case, without a port.
    pub host: String,
    pub secure: bool,
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
    /// Takes one `Set-Cookie` header of the answer to a request for `path` (section 5.3). `now` is in Unix seconds.
    pub fn set(&mut self, header: &[u8], path: &[u8], site: &Site, now: i64) {
        let Some(cookie) = parse(header, path, site, now) else {
            return;
        };
        let cookies = self.0.get_or_insert_default();
        let same = |known: &Cookie| known.name() == cookie.name() && known.path == cookie.path;
        let place = cookies.iter().position(same);
        match (place, cookie.expired(now)) {
            (Some(place), true) => drop(cookies.remove(place)),
            (None, true) => {}
            (Some(place), false) => cookies[place] = cookie,
            (None, false) => {
                cookies.retain(|known| !known.expired(now));
                if cookies.len() == MOST {
                    cookies.remove(0);
                }
                cookies.push(cookie);
            }
        }
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

fn parse(header: &[u8], request_path: &[u8], site: &Site, now: i64) -> Option<Cookie> {
    let (name, value) = name_and_value(header)?;
    let unfit = |byte: &u8| byte.is_ascii_control();
    if header.len() > LONGEST || name.iter().chain(value).any(unfit) {
        return None;
    }
    let mut path = None;
    let (mut expires, mut max_age) = (None, None);
    let mut secure = false;
    for attribute in header.split(|byte| *byte == b';').skip(1) {
        let equals = attribute.iter().position(|byte| *byte == b'=');
        let (key, value) = match equals {
            Some(equals) => (&attribute[..equals], attribute[equals + 1..].trim_ascii()),
            None => (attribute, &b""[..]),
        };
        let is = |name: &str| key.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        if is("path") {
            path = value.starts_with(b"/").then_some(value);
        } else if is("domain") && !value.is_empty() {
            if !domain_matches(&site.host, value) {
                return None;
            }
        } else if is("max-age") {
            let text = std::str::from_utf8(value).ok();
            let seconds = text
                .filter(|text| !text.starts_with('+'))
                .and_then(|text| text.parse::<i64>().ok());
            max_age = seconds
                .map(|seconds| now.saturating_add(seconds))
                .or(max_age);
        } else if is("expires") {
            expires = date(value).or(expires);
        } else if is("secure") {
            secure = true;
        }
    }
    if secure && !site.secure {
        return None;
    }
    let pair = [name, b"=", value].concat();
    Some(Cookie {
        pair: pair.into(),
        name_length: name.len() as u16,
        path: path.unwrap_or_else(|| default_path(request_path)).into(),
        expires: max_age.or(expires),
        secure,
    })
}

/// The path without its query.
fn bare(path: &[u8]) -> &[u8] {
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

fn path_matches(path: &[u8], cookie: &[u8]) -> bool {
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

/// Parses a date in any form that servers write (section 5.1.1) into Unix seconds.
fn date(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter =
        |byte: &u8| matches!(*byte, b'\t' | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        let digits = token
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let number = std::str::from_utf8(&token[..digits])
            .ok()
            .and_then(|text| text.parse::<i64>().ok());
        if time.is_none()
            && let Some(found) = clock(token)
        {
            time = Some(found);
        } else if day.is_none() && (1..=2).contains(&digits) {
            day = number;
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none() && (2..=4).contains(&digits) {
            year = number;
        }
    }
    let (seconds, day, month, year) = (time?, day?, month?, year?);
    let year = match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        _ => year,
    };
    let first = days(year, month, 1);
    let next_month = days(year + month / 12, month % 12 + 1, 1);
    ((1..=next_month - first).contains(&day) && year >= 1601)
        .then(|| (first + day - 1) * 86_400 + seconds)
}

/// Parses `hours:minutes:seconds` into seconds.
fn clock(token: &[u8]) -> Option<i64> {
    let mut parts = std::str::from_utf8(token).ok()?.splitn(3, ':');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    let right =
        (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..60).contains(&seconds);
    right.then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_of(token: &[u8]) -> Option<i64> {
    let begins = token.get(..3)?.to_ascii_lowercase();
    let months = b"janfebmaraprmayjunjulaugsepoctnovdec".chunks(3);
    let mut numbered = (1..).zip(months);
    let found = numbered.find(|(_, month)| *month == begins);
    found.map(|(number, _)| number)
}

/// Days from 1 January 1970 to a date of the Gregorian calendar (Hinnant, "chrono-compatible low-level date
/// algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn site() -> Site {
        Site {
            host: "shop.example.org".into(),
            secure: false,
        }
    }

    fn jar(headers: &[(&str, &str)]) -> Jar {
        let mut jar = Jar::default();
        for (header, path) in headers {
            jar.set(header.as_bytes(), path.as_bytes(), &site(), NOW);
        }
        jar
    }

    fn sent(jar: &Jar, path: &str, site: &Site, now: i64) -> String {
        let mut out = Vec::new();
        jar.write(path.as_bytes(), site, now, false, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_come_back_in_one_line_longer_paths_first() {
        let jar = jar(&[
            ("a=1", "/"),
            ("b=x=y; Path=/shop; HttpOnly", "/"),
            ("c=; path=/other", "/"),
        ]);
        assert_eq!(
            sent(&jar, "/shop/1?q=/other", &site(), NOW),
            "Cookie: b=x=y; a=1\r\n"
        );
        assert_eq!(sent(&jar, "/shopping", &site(), NOW), "Cookie: a=1\r\n");
        assert_eq!(sent(&Jar::default(), "/", &site(), NOW), "");
    }

    #[test]
    fn without_a_path_it_is_that_of_the_request_up_to_its_last_slash() {
        let jar = jar(&[("a=1", "/shop/cart?x=/y/"), ("b=2; Path=", "/top")]);
        assert_eq!(sent(&jar, "/shop", &site(), NOW), "Cookie: a=1; b=2\r\n");
        assert_eq!(sent(&jar, "/", &site(), NOW), "Cookie: b=2\r\n");
    }

    #[test]
    fn a_later_value_takes_the_place_and_an_old_date_takes_it_away() {
        let mut jar = jar(&[("a=1", "/"), ("b=2", "/"), ("a=3", "/")]);
        assert_eq!(sent(&jar, "/", &site(), NOW), "Cookie: a=3; b=2\r\n");
        jar.set(
            b"a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            b"/",
            &site(),
            NOW,
        );
        jar.set(b"b=; Max-Age=0", b"/", &site(), NOW);
        assert_eq!(jar.len(), 0);
    }

    #[test]
    fn cookies_expire_and_max_age_outranks_expires() {
        let jar = jar(&[("a=1; Expires=Fri, 01-Jan-27 00:00:00 GMT; Max-Age=60", "/")]);
        assert_eq!(sent(&jar, "/", &site(), NOW + 59), "Cookie: a=1\r\n");
        assert_eq!(sent(&jar, "/", &site(), NOW + 60), "");
    }

    #[test]
    fn a_max_age_that_is_no_number_is_ignored() {
        let jar = jar(&[("a=1; Max-Age=+60", "/"), ("b=2; Max-Age=soon", "/")]);
        assert_eq!(sent(&jar, "/", &site(), NOW + 99), "Cookie: a=1; b=2\r\n");
    }

    #[test]
    fn cookies_of_other_hosts_and_secure_ones_without_tls_are_refused() {
        let refused = [
            "a=1; Domain=example.com",
            "a=1; Domain=op.example.org",
            "a=1; Secure",
            "=1",
            "novalue",
            "a=\x01",
        ];
        for header in refused {
            assert_eq!(jar(&[(header, "/")]).len(), 0, "{header:?}");
        }
        for header in [
            "a=1; Domain=.example.org",
            "a=1; domain=SHOP.example.org",
            "a=1; Domain=",
        ] {
            assert_eq!(jar(&[(header, "/")]).len(), 1, "{header:?}");
        }
        let books = Site {
            host: "shop.xn--bcher-kva.example".into(),
            secure: false,
        };
        let mut jar = Jar::default();
        jar.set("a=1; Domain=Bücher.example".as_bytes(), b"/", &books, NOW);
        jar.set(b"b=1; Domain=\xff.example", b"/", &books, NOW);
        assert_eq!(sent(&jar, "/", &books, NOW), "Cookie: a=1\r\n");
        let secure = Site {
            host: "10.0.0.1".into(),
            secure: true,
        };
        let mut jar = Jar::default();
        jar.set(b"a=1; Secure", b"/", &secure, NOW);
        jar.set(b"b=1; Domain=0.0.1", b"/", &secure, NOW);
        assert_eq!(sent(&jar, "/", &secure, NOW), "Cookie: a=1\r\n");
        assert_eq!(sent(&jar, "/", &site(), NOW), "");
    }

    #[test]
    fn a_jar_is_bounded() {
        let mut jar = Jar::default();
        for number in 0..1000 {
            jar.set(format!("c{number}=1").as_bytes(), b"/", &site(), NOW);
        }
        jar.set(
            &[b"long=", [b'x'; LONGEST].as_slice()].concat(),
            b"/",
            &site(),
            NOW,
        );
        assert_eq!(jar.len(), MOST);
        assert!(sent(&jar, "/", &site(), NOW).starts_with("Cookie: c950=1; c951=1; "));
    }

    #[test]
    fn dates_are_read_in_all_three_forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(date(text.as_bytes()), Some(784_111_777), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "06 Nov 1994",
            "06 Nov 1994 25:00:00",
            "31 Nov 1994 08:49:37",
            "29 Feb 2023 08:49:37",
            "0 Nov 1994 08:49:37",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(date(b"29 Feb 2024 00:00:00"), Some(1_709_164_800));
        assert_eq!(date(b"31 Dec 2023 00:00:00"), Some(1_703_980_800));
    }
}
