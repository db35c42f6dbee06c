//! Ways to connect: TLS, unix sockets, IPv6, several addresses, names, source addresses.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::*;
use jostle_engine::StartError;
use jostle_engine::interval::Measure;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

fn closed(clients: u64, requests: u64) -> Value {
    json!({"closed": {"clients": clients, "requests": requests}})
}

fn ok(count: u64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([("ok", count)])
}

/// An authority, and certificates signed by it, in PEM.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// Certificate and private key for a name.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (
            params.signed_by(&key, &self.issuer).unwrap().pem(),
            key.serialize_pem(),
        )
    }
}

/// What TLS servers saw: server name and protocol of each connection.
type Shaken = Arc<Mutex<Vec<(Option<String>, Option<Vec<u8>>, u16)>>>;

fn tls_server(authority: &Authority, clients: Option<&Authority>) -> (SocketAddr, Shaken) {
    tls_server_with(authority, clients, &["http/1.1"])
}

fn tls_server_with(
    authority: &Authority,
    clients: Option<&Authority>,
    alpn: &[&str],
) -> (SocketAddr, Shaken) {
    let (certificate, key) = authority.sign("shop.example");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots
                .add(CertificateDer::from_pem_slice(clients.pem.as_bytes()).unwrap())
                .unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let mut config = builder
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let shaken = Shaken::default();
    let seen = shaken.clone();
    let address = serve(move |stream| {
        let (acceptor, seen) = (acceptor.clone(), seen.clone());
        async move {
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let session = stream.get_ref().1;
            let version = u16::from(session.protocol_version().unwrap());
            let name = session.server_name().map(str::to_owned);
            seen.lock()
                .unwrap()
                .push((name, session.alpn_protocol().map(<[u8]>::to_vec), version));
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                return hello_over_http2(stream).await;
            }
            response(stream).await;
        }
    });
    (address, shaken)
}

async fn hello_over_http2(stream: TlsStream<TcpStream>) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        let mut body = respond
            .send_response(http::Response::new(()), false)
            .unwrap();
        body.send_data(bytes::Bytes::from_static(b"hello"), true)
            .unwrap();
    }
}

fn over_tls(address: SocketAddr, tls: Value) -> Value {
    let target = json!({"host": "shop.example", "connect_to": [address.to_string()], "tls": tls});
    with(
        one(workload(address, closed(3, 12)), 0),
        "/workloads/0/target",
        target,
    )
}

#[test]
fn tls_with_ones_own_authority_names_and_versions() {
    let authority = Authority::new();
    let (address, shaken) = tls_server(&authority, None);
    let seen = run(over_tls(
        address,
        json!({"ca_pem": authority.pem, "alpn": ["http/1.1"]}),
    ));
    assert_eq!(seen.outcomes(), ok(12));
    assert_eq!(
        (seen.recorded(Measure::Tls), seen.recorded(Measure::Tcp)),
        (3, 3)
    );
    let expected = (
        Some("shop.example".to_owned()),
        Some(b"http/1.1".to_vec()),
        0x0304,
    );
    assert!(
        shaken
            .lock()
            .unwrap()
            .drain(..)
            .all(|shaken| shaken == expected)
    );

    let seen = run(over_tls(
        address,
        json!({"ca_pem": authority.pem, "version": "1.2"}),
    ));
    assert_eq!(seen.outcomes(), ok(12));
    assert!(
        shaken
            .lock()
            .unwrap()
            .drain(..)
            .all(|(_, protocol, version)| protocol.is_none() && version == 0x0303)
    );
}

#[test]
fn certificates_that_do_not_fit_are_refused_unless_told_otherwise() {
    let (address, _) = tls_server(&Authority::new(), None);
    let failed = BTreeMap::from([("tls_failed", 12)]);
    let seen = run(over_tls(address, json!({})));
    assert_eq!(
        seen.outcomes(),
        failed,
        "the built-in authorities do not know it"
    );
    let why = "the server's certificate was not issued by an authority that is trusted".to_owned();
    assert_eq!(seen.failures(), BTreeMap::from([(("tls_failed", why), 12)]));
    assert_eq!(
        run(over_tls(address, json!({"insecure": true}))).outcomes(),
        ok(12)
    );
    let authority = Authority::new();
    let (address, _) = tls_server(&authority, None);
    let other = json!({"ca_pem": authority.pem, "server_name": "other.example"});
    assert_eq!(
        run(over_tls(address, other)).outcomes(),
        failed,
        "another name"
    );
}

/// A server whose certificate is as `openssl req -x509` makes it: signed by itself, and an authority's. The certificate.
fn as_openssl_makes_it(last_year: i32) -> (SocketAddr, String) {
    let mut kind = CertificateParams::new(vec!["shop.example".to_owned()]).unwrap();
    kind.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    kind.not_before = date_time_ymd(2000, 1, 1);
    kind.not_after = date_time_ymd(last_year, 12, 31);
    let (acceptor, certificate) = signed_by_itself(&kind);
    let address = serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                response(stream).await;
            }
        }
    });
    (address, certificate)
}

async fn response(mut stream: TlsStream<TcpStream>) {
    let mut buffer = [0; 4096];
    while matches!(stream.read(&mut buffer).await, Ok(1..)) {
        stream.write_all(OK).await.ok();
        stream.flush().await.ok();
    }
}

#[test]
fn a_certificate_that_the_user_named_is_accepted_though_it_is_an_authoritys() {
    let (address, certificate) = as_openssl_makes_it(2999);
    let seen = run(over_tls(address, json!({"ca_pem": certificate})));
    assert_eq!(seen.outcomes(), ok(12));
    let refused = |address, tls| {
        let failures = run(over_tls(address, tls)).failures();
        let (outcome, why) = failures.into_keys().next().unwrap();
        assert_eq!(outcome, "tls_failed");
        why
    };
    let name = json!({"ca_pem": certificate, "server_name": "other.example"});
    assert_eq!(
        refused(address, name),
        "the server's certificate is for shop.example, not for other.example"
    );
    let other = json!({"ca_pem": Authority::new().pem});
    assert!(refused(address, other).contains("is that of an authority, and not trusted itself"));
    let (address, certificate) = as_openssl_makes_it(2001);
    assert_eq!(
        refused(address, json!({"ca_pem": certificate})),
        "the server's certificate has expired"
    );
}

#[test]
fn a_client_shows_its_certificate() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (address, _) = tls_server(&authority, Some(&clients));
    let (certificate, key) = clients.sign("client");
    let tls =
        json!({"ca_pem": authority.pem, "client_cert_pem": certificate, "client_key_pem": key});
    assert_eq!(run(over_tls(address, tls)).outcomes(), ok(12));
    let without = |version| {
        let tls = json!({"ca_pem": authority.pem, "version": version});
        run(over_tls(address, tls)).outcomes()
    };
    assert_eq!(without("1.2"), BTreeMap::from([("tls_failed", 12)]));
    // In TLS 1.3 the server says no only after the client's side of the handshake is done. What was sent
    // by then can reset the connection, and the alert is lost.
    let mut late = without("1.3");
    let resets = late.remove("reset").unwrap_or(0);
    let closed = late.remove("closed_early").unwrap_or(0);
    assert!(late["tls_failed"] > 0, "{late:?}");
    assert_eq!(late.values().sum::<u64>() + resets + closed, 12);
}

#[test]
fn handshakes_are_full_unless_clients_resume_their_own_sessions() {
    let authority = Authority::new();
    let (address, _) = tls_server(&authority, None);
    for version in ["1.2", "1.3"] {
        let each_anew = |tls: Value, renew: bool| {
            let load = json!({"closed": {
                "clients": if renew { 1 } else { 3 }, "requests": 12, "requests_per_connection": 1,
                "requests_per_client": if renew { Some(2) } else { None }, "renew": renew,
            }});
            let tls = with(
                tls,
                "",
                json!({"ca_pem": authority.pem, "version": version}),
            );
            let seen = run(with(
                over_tls(address, tls),
                "/workloads/0",
                json!({"load": load}),
            ));
            assert_eq!(seen.outcomes(), ok(12));
            assert_eq!(seen.sum(0, |state| state.connects), 12);
            seen.sum(0, |state| state.resumed)
        };
        assert_eq!(each_anew(json!({}), false), 0, "{version}");
        assert_eq!(each_anew(json!({"resume": true}), false), 9, "{version}");
        // A new client is no returning visitor: of each one's two connections the second is resumed.
        assert_eq!(each_anew(json!({"resume": true}), true), 6, "{version}");
    }
}

#[test]
fn another_protocol_chosen_by_alpn_is_a_failure_that_says_so() {
    let authority = Authority::new();
    let (address, _) = tls_server_with(&authority, None, &["h2", "http/1.1"]);
    let tls = json!({"ca_pem": authority.pem, "alpn": ["h2", "http/1.1"]});
    let seen = run(over_tls(address, tls));
    let why = "the server chose h2 by ALPN, and this load speaks HTTP/1.1".to_owned();
    assert_eq!(seen.failures(), BTreeMap::from([(("tls_failed", why), 12)]));
    assert_eq!(seen.outcomes(), BTreeMap::from([("tls_failed", 12)]));
    let tls = json!({"ca_pem": authority.pem, "alpn": ["http/1.1"]});
    assert_eq!(run(over_tls(address, tls)).outcomes(), ok(12));
}

#[test]
fn http2_is_chosen_by_alpn_and_a_server_that_chooses_otherwise_says_so() {
    let authority = Authority::new();
    let over_http2 = |address, http2| {
        let spec = over_tls(address, json!({"ca_pem": authority.pem}));
        run(with(spec, "/workloads/0/target", json!({"http2": http2})))
    };
    let (address, shaken) = tls_server_with(&authority, None, &["h2", "http/1.1"]);
    let seen = over_http2(address, json!({"connections": 2}));
    assert_eq!((seen.outcomes(), seen.recorded(Measure::Tls)), (ok(12), 2));
    let shaken = std::mem::take(&mut *shaken.lock().unwrap());
    assert!(
        shaken
            .iter()
            .all(|(_, alpn, _)| alpn.as_deref() == Some(b"h2"))
    );
    let refusals = |alpn: &[&str], why: &str| {
        let (address, _) = tls_server_with(&authority, None, alpn);
        let failures = over_http2(address, json!({})).failures();
        assert_eq!(
            failures,
            BTreeMap::from([(("tls_failed", why.to_owned()), 12)])
        );
    };
    refusals(
        &["http/1.1"],
        "the server chose http/1.1 by ALPN: it does not speak HTTP/2 here",
    );
    refusals(
        &[],
        "the server chose no protocol by ALPN: it does not speak HTTP/2 here",
    );
}

#[test]
fn a_server_without_tls_is_a_tls_failure() {
    let spec = over_tls(answering(OK), json!({"insecure": true}));
    let seen = run(with(
        spec,
        "/workloads/0/timeouts",
        json!({"connect_ns": 100 * MS}),
    ));
    // It waits for the end of a request line that never comes.
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_timeout", 12)]));
    let greeting = serve(|mut stream| async move {
        stream.write_all(b"220 mail.example ESMTP\r\n").await.ok();
        read_request(&mut stream).await;
    });
    let seen = run(over_tls(greeting, json!({"insecure": true})));
    assert_eq!(seen.outcomes(), BTreeMap::from([("tls_failed", 12)]));
}

fn answering_on(listener: std::os::unix::net::UnixListener) {
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while matches!(stream.read(&mut buffer), Ok(1..)) {
                    stream.write_all(OK).ok();
                }
            });
        }
    });
}

fn over(place: &str) -> Seen {
    let anywhere = "127.0.0.1:1".parse().unwrap();
    run(with(
        one(workload(anywhere, closed(8, 80)), 0),
        "/workloads/0/target",
        json!({"connect_to": [place]}),
    ))
}

#[test]
fn unix_sockets() {
    let path = std::env::temp_dir().join(format!("jostle-test-{}.sock", std::process::id()));
    answering_on(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let seen = over(&format!("unix:{}", path.display()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(seen.outcomes(), ok(80));
}

#[test]
fn unix_sockets_of_the_abstract_namespace() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("jostle-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    answering_on(std::os::unix::net::UnixListener::bind_addr(&address).unwrap());
    assert_eq!(over(&format!("unix:@{name}")).outcomes(), ok(80));
}

#[test]
fn the_zone_of_an_address_is_for_connecting_only() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    let address = serve(move |mut stream| {
        let seen = seen.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                seen.lock().unwrap().push(request);
                stream.write_all(OK).await.ok();
            }
        }
    });
    let target = json!({"host": "fe80::1%eth7", "connect_to": [address.to_string()]});
    let spec = one(workload(address, closed(1, 1)), 0);
    assert_eq!(
        run(with(spec, "/workloads/0/target", target)).outcomes(),
        ok(1)
    );
    let head = heads.lock().unwrap().pop().unwrap();
    let host = format!("\r\nHost: [fe80::1]:{}\r\n", address.port());
    assert!(head.contains(&host), "{head}");
}

#[test]
fn an_unknown_network_interface_is_told_before_the_run() {
    let anywhere = "127.0.0.1:1".parse().unwrap();
    let spec = one(workload(anywhere, closed(1, 1)), 0);
    let target = json!({"host": "fe80::1%none7"});
    let refused = start(with(spec.clone(), "/workloads/0/target", target)).unwrap_err();
    assert!(
        refused.to_string().contains("a network interface none7"),
        "{refused}"
    );
    let target = json!({"connect_to": ["[fe80::1%none7]:80"]});
    let refused = start(with(spec, "/workloads/0/target", target)).unwrap_err();
    assert!(
        refused.to_string().contains("an interface of this machine"),
        "{refused}"
    );
}

/// A server that keeps the addresses of its clients.
fn asking_whence() -> (SocketAddr, Arc<Mutex<Vec<SocketAddr>>>) {
    let clients = Arc::new(Mutex::new(Vec::new()));
    let seen = clients.clone();
    let address = serve(move |mut stream| {
        seen.lock().unwrap().push(stream.peer_addr().unwrap());
        async move {
            while read_request(&mut stream).await.is_some() {
                stream.write_all(OK).await.ok();
            }
        }
    });
    (address, clients)
}

#[test]
fn listed_addresses_are_reached_from_every_source_address_in_turn() {
    let servers = [
        asking_whence(),
        asking_whence(),
        asking_whence(),
        asking_whence(),
    ];
    let addresses: Vec<String> = servers
        .iter()
        .map(|(address, _)| address.to_string())
        .collect();
    let sources = ["127.0.0.2", "127.0.0.3", "::1"];
    let target = json!({"connect_to": addresses, "source_addresses": sources});
    let spec = one(workload(servers[0].0, closed(32, 32)), 0);
    assert_eq!(
        run(with(spec, "/workloads/0/target", target)).outcomes(),
        ok(32)
    );
    for (_, clients) in &servers {
        let clients = clients.lock().unwrap();
        assert_eq!(clients.len(), 8);
        let from: HashSet<String> = clients.iter().map(|c| c.ip().to_string()).collect();
        assert_eq!(
            from,
            HashSet::from(["127.0.0.2", "127.0.0.3"].map(str::to_owned))
        );
    }
}

#[test]
fn local_ports_are_counted_by_address_and_destination_while_they_are_held() {
    let (address, _) = asking_whence();
    let sources = ["127.0.0.2", "127.0.0.3"];
    let target = json!({"connect_to": [address.to_string()], "source_addresses": sources});
    let load = json!({"closed": {"clients": 8, "requests_per_client": 2, "think": {"constant": {"ns": 250_000_000}}}});
    let spec = with(
        one(workload(address, load), 0),
        "/workloads/0/target",
        target,
    );
    let seen = run(with(spec, "/interval_ns", json!(100_000_000)));
    assert_eq!(seen.outcomes(), ok(16));
    let mut held: Vec<(String, SocketAddr, u64)> = seen.0[0]
        .ports
        .iter()
        .map(|port| (port.from.unwrap().to_string(), port.to, port.held))
        .collect();
    held.sort();
    assert_eq!(held, sources.map(|source| (source.to_owned(), address, 4)));
    assert_eq!(seen.0.last().unwrap().ports, []);
}

#[test]
fn a_listed_address_that_refuses_is_a_failure_of_its_own() {
    let (good, _) = asking_whence();
    let bad = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let target = json!({"connect_to": [good.to_string(), bad.to_string()]});
    let spec = one(
        workload(
            good,
            json!({"closed": {"clients": 1, "requests": 4, "requests_per_connection": 1}}),
        ),
        0,
    );
    let spec = with(
        with(spec, "", json!({"threads": 1})),
        "/workloads/0/target",
        target,
    );
    assert_eq!(
        run(spec).outcomes(),
        BTreeMap::from([("ok", 2), ("connect_refused", 2)])
    );
}

#[test]
fn names_are_resolved_before_the_run_or_for_every_connection() {
    let (address, clients) = asking_whence();
    // Where localhost is ::1 as well, one of its two addresses refuses; nobody shall notice.
    let target = json!({"host": "localhost"});
    let spec = with(
        one(workload(address, closed(6, 30)), 0),
        "/workloads/0/target",
        target,
    );
    let seen = run(spec.clone());
    assert_eq!((seen.outcomes(), seen.recorded(Measure::Dns)), (ok(30), 0));
    let seen = run(with(
        spec,
        "/workloads/0/target",
        json!({"resolve_each": true}),
    ));
    assert_eq!((seen.outcomes(), seen.recorded(Measure::Dns)), (ok(30), 6));
    assert_eq!(clients.lock().unwrap().len(), 12);
}

#[test]
fn what_cannot_start_says_why() {
    let address = "127.0.0.1:80".parse().unwrap();
    let spec = || one(workload(address, closed(1, 1)), 0);
    let error = |spec| match start(spec) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it started"),
    };
    let many = with(
        spec(),
        "/workloads/0/load/closed",
        json!({"clients": 3_000_000}),
    );
    assert!(matches!(start(many), Err(StartError::OpenFiles { needed, .. }) if needed > 3_000_000));
    let numbers = |place: &str, change| error(with(spec(), place, change));
    let clients = |count: u64| numbers("/workloads/0/load/closed", json!({"clients": count}));
    assert!(clients(0).contains("give at least one client"));
    assert!(clients(1 << 32).contains("give at most 4294967295 clients"));
    for think in [
        json!({"constant": {"ns": u64::MAX}}),
        json!({"exponential": {"mean_ns": u64::MAX}}),
        json!({"list": {"ns": [1, u64::MAX]}}),
    ] {
        let refused = numbers("/workloads/0/load/closed", json!({"think": think}));
        assert!(
            refused.contains("load.think: it is longer than 400 days"),
            "{refused}"
        );
    }
    let open = json!({"open": {"arrivals": "constant", "max_connections": 1_u64 << 32}});
    let open = numbers("/workloads/0", json!({"load": open}));
    assert!(open.contains("give at most 4294967295 connections"));
    let many = vec![spec()["workloads"][0]["requests"][0].clone(); 1 << 16];
    let many = numbers("/workloads/0", json!({"requests": many}));
    assert!(many.contains("give at most 65535 requests"));
    assert!(numbers("", json!({"workloads": []})).contains("give at least one workload"));
    let unknown = with(
        spec(),
        "/workloads/0/target",
        json!({"host": "no-such-host.invalid"}),
    );
    assert!(error(unknown).contains("\"no-such-host.invalid\""));
    assert!(error(with(spec(), "", json!({"cores": [4000]}))).contains("core 4000"));
    assert!(
        error(with(
            spec(),
            "/workloads/0/load/closed",
            json!({"requests": null})
        ))
        .contains("never ends")
    );
    let to = with(
        spec(),
        "/workloads/0/target",
        json!({"connect_to": ["localhost:80"]}),
    );
    assert!(error(to).contains("neither IP:PORT"));
    let tls = |tls| error(with(spec(), "/workloads/0/target", json!({"tls": tls})));
    assert!(tls(json!({"version": "1.1"})).contains("target.tls.version"));
    assert!(tls(json!({"ca_pem": "nothing"})).contains("target.tls.ca_pem"));
    assert!(tls(json!({"client_key_pem": "x"})).contains("target.tls.client_cert_pem"));
    let path = with(spec(), "/workloads/0/requests/0", json!({"path": "/a b"}));
    assert!(error(path).contains("request \"get\""));
}
