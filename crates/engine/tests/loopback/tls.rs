//! TLS: certificates, names, versions, sessions, and the protocol that both sides choose.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::*;
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
