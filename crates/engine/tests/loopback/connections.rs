//! Ways to connect: unix sockets, IPv6, several addresses, names, source addresses.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::*;
use jostle_engine::StartError;
use jostle_engine::interval::Measure;
use serde_json::json;
use tokio::io::AsyncWriteExt;

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
