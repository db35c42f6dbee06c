//! Cookies as servers set them.

use super::*;
use crate::template::cookies::parse::{MAX_ATTRIBUTE_BYTES, MAX_PAIR_BYTES};

const NOW: i64 = 1_800_000_000;

fn site() -> Site {
    Site::new("shop.example.org", false)
}

fn jar(headers: &[(&str, &str)]) -> Jar {
    let mut jar = Jar::default();
    for (header, path) in headers {
        jar.set(header.as_bytes(), path.as_bytes(), &site(), NOW)
            .ok();
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
    )
    .unwrap();
    jar.set(b"b=; Max-Age=0", b"/", &site(), NOW).unwrap();
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
    let books = Site::new("shop.xn--bcher-kva.example", false);
    let mut jar = Jar::default();
    let kept = jar.set("a=1; Domain=Bücher.example".as_bytes(), b"/", &books, NOW);
    assert!(kept.is_ok());
    let refused = jar.set(b"b=1; Domain=\xff.example", b"/", &books, NOW);
    assert!(refused.is_err());
    assert_eq!(sent(&jar, "/", &books, NOW), "Cookie: a=1\r\n");
    let secure = Site::new("10.0.0.1", true);
    let mut jar = Jar::default();
    jar.set(b"a=1; Secure", b"/", &secure, NOW).unwrap();
    assert!(jar.set(b"b=1; Domain=0.0.1", b"/", &secure, NOW).is_err());
    assert_eq!(sent(&jar, "/", &secure, NOW), "Cookie: a=1\r\n");
    assert_eq!(sent(&jar, "/", &site(), NOW), "");
}

#[test]
fn a_jar_is_bounded() {
    let mut jar = Jar::default();
    let site = site();
    let mut dropped = Vec::new();
    for number in 0..60 {
        let header = format!("c{number}=1");
        let kept = jar.set(header.as_bytes(), b"/", &site, NOW).unwrap();
        dropped.extend(kept.and_then(|kept| kept.dropped));
    }
    assert_eq!(jar.len(), MAX_COOKIES);
    assert_eq!((dropped.len(), dropped[0].as_str()), (10, "c0"));
    assert!(sent(&jar, "/", &site, NOW).starts_with("Cookie: c10=1; c11=1; "));
}

fn set(header: &str, site: &Site) -> Result<String, Refusal> {
    let mut jar = Jar::default();
    jar.set(header.as_bytes(), b"/a/b", site, NOW)?;
    Ok(sent(&jar, "/a/b", site, NOW))
}

/// Browsers and curl keep the cookies of an application that is tried on the developer's own machine.
#[test]
fn loopback_counts_as_secure() {
    for host in [
        "localhost",
        "LOCALHOST.",
        "app.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "[::1]",
    ] {
        let sent = set(
            "sid=1; Secure; HttpOnly; SameSite=None; Path=/",
            &Site::new(host, false),
        );
        assert_eq!(sent.as_deref(), Ok("Cookie: sid=1\r\n"), "{host}");
    }
    for host in ["10.0.0.1", "notlocalhost", "localhost.example", "[::2]"] {
        let sent = set("sid=1; Secure", &Site::new(host, false));
        assert_eq!(sent, Err(Refusal::Secure), "{host}");
    }
}

#[test]
fn prefixes_of_names_are_promises() {
    let secure = Site::new("shop.example.org", true);
    for header in [
        "__Secure-a=1; Secure",
        "__Host-a=1; Secure; Path=/",
        "__Hosta=1",
    ] {
        assert!(set(header, &secure).is_ok(), "{header}");
    }
    assert_eq!(set("__Secure-a=1", &secure), Err(Refusal::SecurePrefix));
    for header in [
        "__Host-a=1; Path=/",
        "__host-a=1; Secure",
        "__Host-a=1; Secure; Path=/a",
        "__Host-a=1; Secure; Path=/; Domain=shop.example.org",
    ] {
        assert_eq!(set(header, &secure), Err(Refusal::HostPrefix), "{header}");
    }
}

#[test]
fn name_and_value_are_limited_together_and_each_attribute_by_itself() {
    let longest = "x".repeat(MAX_PAIR_BYTES - 3);
    let header = format!("sid={longest}; Path=/; HttpOnly; SameSite=Lax");
    assert!(set(&header, &site()).is_ok());
    let refusal = set(&format!("sid={longest}y"), &site()).unwrap_err();
    assert_eq!(refusal, Refusal::TooLong(4097));
    assert!(refusal.to_string().contains("4097 bytes"), "{refusal}");
    let path = "/".repeat(MAX_ATTRIBUTE_BYTES + 1);
    let sent = set(&format!("sid=1; Path={path}"), &site());
    assert_eq!(sent.as_deref(), Ok("Cookie: sid=1\r\n"), "ignored");
}

#[test]
fn the_path_to_which_a_cookie_is_confined_is_told() {
    let site = site();
    let mut jar = Jar::default();
    for (header, path) in [("a=1", "/a"), ("b=1; Path=/", "/"), ("c=1; Path=/x", "/x")] {
        let kept = jar.set(header.as_bytes(), b"/a/b", &site, NOW).unwrap();
        assert_eq!(kept.unwrap().path, path.as_bytes());
    }
    let gone = jar.set(b"a=1; Max-Age=0", b"/a/b", &site, NOW).unwrap();
    assert_eq!(gone, None);
    let refusal = set("a=1; Domain=example.com", &site).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "Domain=example.com is not the host (shop.example.org)"
    );
}
