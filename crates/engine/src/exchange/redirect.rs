//! Where redirects lead, and URLs that steps and scripts ask for. Each redirect that is followed is a request of its own.

use std::sync::{Arc, Mutex, PoisonError};

use crate::net::target::Target;
use crate::outcome::{Failure, Outcome};
use crate::protocol::location::Location;
use crate::protocol::url::{Origin, Url, bare_host};
use crate::spec::error::StartError;
use crate::spec::{Http2Spec, RedirectSpec, RequestSpec, TargetSpec, TlsSpec, WorkloadSpec};
use crate::template::request::{Template, encode_request};
use crate::template::scripted_request::ScriptedRequest;

/// How many other servers a workload's redirects may lead to. Each takes memory for its certificates.
const MAX_OTHER_SERVERS: usize = 16;

/// Headers that are for the workload's own server and go to no other (curl does the same).
const FOR_OWN_SERVER_ONLY: [&str; 4] = ["authorization", "cookie", "host", "proxy-authorization"];

/// How the redirects of one workload are followed, and which URLs its journeys may ask for. Shared by all workers.
#[derive(Debug)]
pub struct Redirects {
    rule: RedirectSpec,
    /// The workload's own server.
    own_origin: Origin,
    target: TargetSpec,
    requests: Vec<RequestSpec>,
    workload: String,
    /// The other servers that were needed so far.
    other_servers: Mutex<Vec<(Origin, Arc<Target>)>>,
}

/// A response that sends its client elsewhere.
#[derive(Debug)]
pub struct Redirect {
    pub status: u16,
    pub location: Location,
    /// Path and query of the request that it answers.
    pub from: String,
}

/// A request to which a redirect led, or that asks for a URL.
#[derive(Debug)]
pub struct Hop {
    url: Url,
    method: String,
    /// Whether it carries the body of the first request.
    with_body: bool,
    /// How many redirects have led here.
    count: u32,
    pub keep_alive: Template,
    pub close: Template,
    /// `None` if it goes to the workload's own server.
    pub other_target: Option<Arc<Target>>,
}

impl Redirects {
    pub fn new(spec: &WorkloadSpec) -> Option<Self> {
        let rule = spec.redirects.clone()?;
        let target = &spec.target;
        Some(Self {
            rule,
            own_origin: Origin::new(target.tls.is_some(), &target.host, target.port),
            target: target.clone(),
            requests: spec.requests.clone(),
            workload: spec.name.clone(),
            other_servers: Mutex::default(),
        })
    }

    /// Whether any redirect is followed.
    pub fn follows(&self) -> bool {
        self.rule.max_redirects > 0
    }

    /// The URL of a request: that of its hop, or this path at the workload's own server.
    pub fn url_of(&self, hop: Option<&Hop>, path: &[u8]) -> String {
        match hop {
            Some(hop) => hop.url.to_string(),
            None => format!("{}{}", self.own_origin, String::from_utf8_lossy(path)),
        }
    }

    /// Prepares request number `request`, which asks for a URL. `reference` is absolute or relative to `base`; `scripted`
    /// is as for [`Self::next`].
    pub fn begin(
        &self,
        request: usize,
        scripted: Option<&ScriptedRequest>,
        base: Option<&[u8]>,
        reference: &[u8],
    ) -> Result<Hop, Failure> {
        self.to_url(request, scripted, base, reference)
            .map_err(|why| Failure::new(Outcome::RedirectFailed, format!("its URL {why}")))
    }

    fn to_url(
        &self,
        request: usize,
        scripted: Option<&ScriptedRequest>,
        base: Option<&[u8]>,
        reference: &[u8],
    ) -> Result<Hop, String> {
        let unfit = |why: String| format!("cannot be asked for: {why}");
        if reference.trim_ascii().is_empty() {
            return Err("is empty".into());
        }
        let mut url = Url {
            origin: self.own_origin.clone(),
            path: "/".into(),
        };
        for reference in base.into_iter().chain([reference]) {
            url = url.join(reference).map_err(unfit)?;
        }
        let first = &self.requests[request];
        let scripted = scripted.map(|scripted| scripted.spec(first));
        let first = scripted.as_ref().unwrap_or(first);
        self.hop(first, url, first.method.clone(), true, 0)
            .map_err(|why| format!("leads {why}"))
    }

    /// Prepares the next request of a chain of redirects that began with request number `request` and has led to `hop`.
    /// `scripted`: the first request, if a script composed it.
    pub fn next(
        &self,
        request: usize,
        scripted: Option<&ScriptedRequest>,
        hop: Option<&Hop>,
        redirect: &Redirect,
    ) -> Result<Hop, Failure> {
        self.follow(request, scripted, hop, redirect)
            .map_err(|why| Failure::new(Outcome::RedirectFailed, why))
    }

    fn follow(
        &self,
        request: usize,
        scripted: Option<&ScriptedRequest>,
        hop: Option<&Hop>,
        redirect: &Redirect,
    ) -> Result<Hop, String> {
        let first = &self.requests[request];
        let scripted = scripted.map(|scripted| scripted.spec(first));
        let first = scripted.as_ref().unwrap_or(first);
        let count = hop.map_or(0, |hop| hop.count) + 1;
        if count > self.rule.max_redirects {
            return Err(format!("more than {} redirects", self.rule.max_redirects));
        }
        let (origin, method, with_body) = match hop {
            Some(hop) => (&hop.url.origin, &hop.method, hop.with_body),
            None => (&self.own_origin, &first.method, true),
        };
        let current = Url {
            origin: origin.clone(),
            path: redirect.from.clone(),
        };
        let location = match &redirect.location {
            Location::To(location) => location,
            Location::Conflict(one, other) => {
                let [one, other] = [one, other].map(|line| String::from_utf8_lossy(line));
                return Err(format!(
                    "two Location lines lead to different places: {one} and {other}"
                ));
            }
        };
        let url = current
            .join(location)
            .map_err(|why| format!("its Location cannot be followed: {why}"))?;
        let (method, with_body) = method_after(redirect.status, method, with_body);
        self.hop(first, url, method, with_body, count)
    }

    /// Prepares a request for `url` that is modelled on `first`.
    fn hop(
        &self,
        first: &RequestSpec,
        url: Url,
        method: String,
        with_body: bool,
        count: u32,
    ) -> Result<Hop, String> {
        if !self.allows(&url.origin.host) {
            return Err(format!("to {}, which may not be loaded", url.origin));
        }
        let spec = self.request(first, &url, &method, with_body);
        let encode = |keep_alive| {
            encode_request(&spec, &url.origin.authority(), keep_alive).map_err(|e| e.to_string())
        };
        Ok(Hop {
            keep_alive: encode(true)?,
            close: encode(false)?,
            other_target: self.target_of(&url.origin)?,
            url,
            method,
            with_body,
            count,
        })
    }

    /// Whether `host` may be loaded: a server must not be able to direct the load at somebody else.
    fn allows(&self, host: &str) -> bool {
        let listed = |allowed: &String| bare_host(allowed).eq_ignore_ascii_case(host);
        host == self.own_origin.host || self.rule.hosts.iter().any(listed)
    }

    fn request(
        &self,
        first: &RequestSpec,
        url: &Url,
        method: &str,
        with_body: bool,
    ) -> RequestSpec {
        let mut spec = first.clone();
        method.clone_into(&mut spec.method);
        spec.path.clone_from(&url.path);
        if spec.fill.is_some() {
            // Headers and body are filled with the client's values, but a server must not get them into its own URL.
            spec.path = spec.path.replace('{', "%7B");
        } else {
            spec.params.clear();
        }
        if !with_body {
            spec.body_base64 = None;
        }
        let is_own = url.origin == self.own_origin;
        spec.cookies &= is_own;
        spec.headers.retain(|(name, _)| {
            let name = name.to_ascii_lowercase();
            (with_body || !name.starts_with("content-"))
                && (is_own || !FOR_OWN_SERVER_ONLY.contains(&name.as_str()))
        });
        spec
    }

    fn target_of(&self, origin: &Origin) -> Result<Option<Arc<Target>>, String> {
        if *origin == self.own_origin {
            return Ok(None);
        }
        let mut other_servers = self
            .other_servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, target)) = other_servers.iter().find(|(known, _)| known == origin) {
            return Ok(Some(target.clone()));
        }
        if other_servers.len() >= MAX_OTHER_SERVERS {
            return Err(format!("to more than {MAX_OTHER_SERVERS} other servers"));
        }
        let target = self.target_at(origin).map_err(|error| error.to_string())?;
        let target = Arc::new(target);
        other_servers.push((origin.clone(), target.clone()));
        Ok(Some(target))
    }

    fn target_at(&self, origin: &Origin) -> Result<Target, StartError> {
        // Only the target says through which network interface its address is reached.
        let host = if origin.host == self.own_origin.host {
            &self.target.host
        } else {
            &origin.host
        };
        let spec = TargetSpec {
            host: host.clone(),
            port: origin.port,
            connect_to: Vec::new(),
            // Each client has a connection of its own there.
            http2: self.target.http2.map(|_| Http2Spec::default()),
            resolve_each: true,
            tls: origin.tls.then(|| self.tls_for(&origin.host)),
            ..self.target.clone()
        };
        Target::resolved_later(&self.workload, &spec)
    }

    /// The client's certificate is for the workload's own host only.
    fn tls_for(&self, host: &str) -> TlsSpec {
        let own = self.target.tls.clone().unwrap_or_default();
        if host == self.own_origin.host {
            return own;
        }
        TlsSpec {
            client_cert_pem: None,
            client_key_pem: None,
            server_name: None,
            ..own
        }
    }
}

impl Hop {
    pub fn template(&self, last: bool) -> &Template {
        if last { &self.close } else { &self.keep_alive }
    }
}

/// The next request's method, and whether it carries the body: by RFC 9110 section 15.4, where 301 and 302 turn POST
/// into GET, as all clients do it, and leave other methods as they are.
fn method_after(status: u16, method: &str, with_body: bool) -> (String, bool) {
    match (status, method) {
        (301 | 302, "POST") => ("GET".to_owned(), false),
        (301 | 302 | 307 | 308, _) => (method.to_owned(), with_body),
        (_, "HEAD") => (method.to_owned(), false),
        _ => ("GET".to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn redirects(request: &Value, rule: &Value) -> Redirects {
        let spec = json!({
            "name": "w", "role": "measured", "target": {"host": "home", "port": 80},
            "requests": [request], "load": {"closed": {"clients": 1}}, "redirects": rule,
            "timeouts": {"connect_ns": 1, "total_ns": 1},
        });
        Redirects::new(&serde_json::from_value(spec).unwrap()).unwrap()
    }

    fn post() -> Value {
        json!({
            "name": "r", "method": "POST", "path": "/a/b", "body_base64": "aGk=",
            "headers": [["Content-Type", "text/plain"], ["Cookie", "c"], ["Authorization", "a"], ["X", "y"]],
        })
    }

    fn response(status: u16, location: &str) -> Redirect {
        let from = "/a/b".into();
        let location = Location::To(location.as_bytes().into());
        Redirect {
            status,
            location,
            from,
        }
    }

    fn text(hop: &Hop) -> &str {
        std::str::from_utf8(hop.keep_alive.fixed().unwrap()).unwrap()
    }

    #[test]
    fn methods_and_bodies_change_as_clients_change_them() {
        for (status, method, becomes, body) in [
            (301, "POST", "GET", false),
            (302, "PUT", "PUT", true),
            (301, "DELETE", "DELETE", true),
            (303, "POST", "GET", false),
            (303, "HEAD", "HEAD", false),
            (301, "HEAD", "HEAD", true),
            (302, "GET", "GET", true),
            (307, "POST", "POST", true),
            (308, "DELETE", "DELETE", true),
        ] {
            assert_eq!(
                method_after(status, method, true),
                (becomes.to_owned(), body),
                "{status} {method}"
            );
        }
        assert_eq!(method_after(307, "GET", false), ("GET".to_owned(), false));
    }

    #[test]
    fn a_post_becomes_a_get_without_body_and_its_headers_or_stays_whole() {
        let redirects = redirects(&post(), &json!({"most": 5}));
        let seen = redirects
            .next(0, None, None, &response(302, "c?q=1"))
            .unwrap();
        assert!(seen.other_target.is_none());
        let agent = concat!("User-Agent: jostle/", env!("CARGO_PKG_VERSION"), "\r\n");
        let start = format!("GET /a/c?q=1 HTTP/1.1\r\nHost: home\r\n{agent}");
        let own = "Cookie: c\r\nAuthorization: a\r\nX: y\r\n";
        assert_eq!(text(&seen), format!("{start}{own}\r\n"));
        let seen = redirects.next(0, None, None, &response(307, "/d")).unwrap();
        assert!(text(&seen).starts_with("POST /d HTTP/1.1\r\n"));
        assert!(text(&seen).ends_with("Content-Length: 2\r\n\r\nhi"));
    }

    #[test]
    fn credentials_stay_at_home() {
        let redirects = redirects(&post(), &json!({"most": 5, "hosts": ["other"]}));
        for location in ["http://other/", "https://home/", "http://home:81/"] {
            let seen = redirects
                .next(0, None, None, &response(307, location))
                .unwrap();
            assert!(seen.other_target.is_some());
            assert!(text(&seen).contains("X: y\r\n"), "{}", text(&seen));
            assert!(!text(&seen).contains("Cookie") && !text(&seen).contains("Authorization"));
        }
        let away = redirects
            .next(0, None, None, &response(307, "//other/"))
            .unwrap();
        let back = redirects.next(0, None, Some(&away), &response(307, "//home/"));
        assert!(text(&back.unwrap()).contains("Authorization: a\r\n"));
    }

    #[test]
    fn a_client_s_certificate_stays_with_its_host() {
        let mut redirects = redirects(&post(), &json!({"most": 5}));
        redirects.target.tls = Some(TlsSpec {
            client_key_pem: Some("key".into()),
            insecure: true,
            ..TlsSpec::default()
        });
        assert!(redirects.tls_for("home").client_key_pem.is_some());
        let other = redirects.tls_for("other");
        assert!(other.client_key_pem.is_none() && other.insecure);
    }

    #[test]
    fn a_server_cannot_turn_the_load_on_another_host() {
        let redirects = redirects(&post(), &json!({"most": 5, "hosts": ["Other", "[::1]"]}));
        let next = |location| redirects.next(0, None, None, &response(302, location));
        for allowed in ["//OTHER:81/", "//[::1]/", "//home/"] {
            assert!(next(allowed).is_ok(), "{allowed}");
        }
        let failure = next("https://stranger/").unwrap_err();
        assert_eq!(failure.outcome, Outcome::RedirectFailed);
        assert_eq!(failure.why, "to https://stranger, which may not be loaded");
        let failure = next("ftp://home/").unwrap_err();
        assert_eq!(
            failure.why,
            "its Location cannot be followed: ftp is not HTTP"
        );
    }

    #[test]
    fn a_step_asks_for_a_url_relative_to_the_response_that_it_comes_from() {
        let redirects = redirects(&post(), &json!({"most": 0, "hosts": ["other"]}));
        assert!(!redirects.follows());
        let begin = |base: Option<&str>, reference: &str| {
            let base = base.map(str::as_bytes);
            redirects.begin(0, None, base, reference.as_bytes())
        };
        for (base, reference, target) in [
            (None, "c?x=1", "http://home/c?x=1"),
            (None, "http://HOME:80/{c} d#e", "http://home/%7Bc%7D%20d"),
            (Some("http://home/a/b?q"), "../c", "http://home/c"),
            (Some("http://other:81/a/b"), "c", "http://other:81/a/c"),
            (Some("http://other:81/a/b"), "//home", "http://home/"),
        ] {
            let hop = begin(base, reference).unwrap();
            assert_eq!(redirects.url_of(Some(&hop), b"/a/b"), target);
            let own_origin = target.starts_with("http://home/");
            assert_eq!(hop.other_target.is_none(), own_origin);
            assert!(text(&hop).starts_with("POST "));
            assert_eq!(text(&hop).contains("Cookie: c"), own_origin);
        }
        assert_eq!(redirects.url_of(None, b"/a/b"), "http://home/a/b");
        for (reference, why) in [
            (
                "//stranger/x",
                "leads to http://stranger, which may not be loaded",
            ),
            ("ftp://home/", "cannot be asked for: ftp is not HTTP"),
            (" ", "is empty"),
        ] {
            let failure = begin(Some("http://other/"), reference).unwrap_err();
            assert_eq!(failure.outcome, Outcome::RedirectFailed);
            assert_eq!(failure.why, format!("its URL {why}"));
        }
    }

    #[test]
    fn two_different_places_are_no_redirect() {
        let redirects = redirects(&post(), &json!({"most": 2}));
        let conflict = Redirect {
            location: Location::Conflict(b"/b"[..].into(), b"/c"[..].into()),
            ..response(302, "")
        };
        let failed = redirects.next(0, None, None, &conflict).unwrap_err();
        assert_eq!(failed.outcome, Outcome::RedirectFailed);
        assert_eq!(
            failed.why,
            "two Location lines lead to different places: /b and /c"
        );
    }

    #[test]
    fn redirects_end() {
        let redirects = redirects(&post(), &json!({"most": 2}));
        let first = redirects
            .next(0, None, None, &response(302, "/a/b"))
            .unwrap();
        let second = redirects
            .next(0, None, Some(&first), &response(302, "/a/b"))
            .unwrap();
        let third = redirects.next(0, None, Some(&second), &response(302, "/a/b"));
        assert_eq!(third.unwrap_err().why, "more than 2 redirects");
    }

    #[test]
    fn a_server_cannot_fill_the_memory_with_other_servers() {
        let redirects = redirects(&post(), &json!({"most": 5}));
        let next = |port| {
            let location = format!("http://home:{port}/");
            redirects.next(0, None, None, &response(302, &location))
        };
        for port in 1000..1000 + MAX_OTHER_SERVERS {
            assert!(next(port).is_ok());
        }
        assert!(next(1000).is_ok(), "known");
        assert_eq!(next(999).unwrap_err().why, "to more than 16 other servers");
    }
}
