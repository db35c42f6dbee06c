//! Datagrams: which one is the response, and what is counted of those that are not.

#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jostle_engine::interval::Measure;
use serde_json::{Value, json};

/// Answers the datagrams of every client with what `responses` gives for each, by its number from 0.
fn answering_datagrams(
    mut responses: impl FnMut(usize, &[u8]) -> Vec<Vec<u8>> + Send + 'static,
) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        for number in 0.. {
            let (length, from) = socket.recv_from(&mut buffer).unwrap();
            for response in responses(number, &buffer[..length]) {
                socket.send_to(&response, from).unwrap();
            }
        }
    });
    address
}

fn echo() -> SocketAddr {
    answering_datagrams(|_, datagram| vec![datagram.to_vec()])
}

/// The fields of a request that begins with a number of two bytes.
fn numbered(matched: Value) -> Value {
    json!({
        "body_base64": STANDARD.encode("{id:u16}ping"),
        "params": {"id:u16": {"serial": {"bytes": 2}}},
        "datagram": {"match": matched},
    })
}

fn first_two() -> Value {
    json!({"bytes": {"from": 0, "to": 2}})
}

/// A run of twelve exchanges, one after another on one socket.
fn twelve(address: SocketAddr, request: Value) -> Value {
    let load = json!({"closed": {"clients": 1, "requests": 12}});
    with(
        one(workload(address, load), 0),
        "/workloads/0/requests/0",
        request,
    )
}

/// Long enough for a response that comes at all; one that does not costs that much.
fn impatient(spec: Value) -> Value {
    let timeouts = json!({"timeouts": {"connect_ns": SECOND, "total_ns": 4 * SECOND}});
    with(spec, "/workloads/0", timeouts)
}

fn counts(seen: &Seen) -> [u64; 4] {
    [
        seen.sum(0, |state| state.late_responses),
        seen.sum(0, |state| state.overtaken_responses),
        seen.sum(0, |state| state.duplicate_responses),
        seen.sum(0, |state| state.stray_responses),
    ]
}

fn refusal(spec: Value) -> String {
    start(spec).expect_err("it is refused").to_string()
}

#[test]
fn exchanges_follow_one_another_on_a_socket_and_each_has_its_number() {
    let address = answering_datagrams(|number, datagram| {
        assert_eq!(datagram[..2], (number as u16).to_be_bytes());
        vec![datagram.to_vec()]
    });
    for matched in [json!("order"), json!("echo"), first_two()] {
        let seen = run(twelve(echo(), numbered(matched)));
        assert_eq!(seen.outcomes(), ok(12));
        assert_eq!(seen.sum(0, |state| state.connects), 1);
        assert_eq!(counts(&seen), [0; 4]);
    }
    let seen = run(twelve(
        address,
        numbered(json!({"regex": "(?s-u)^(..)ping"})),
    ));
    assert_eq!(seen.outcomes(), ok(12));
    let tcp = seen
        .series(0)
        .map(|s| s.histograms[Measure::Tcp as usize].len());
    assert_eq!(tcp.sum::<u64>(), 0, "no connection was made");
}

#[test]
fn a_fixed_datagram_is_answered_in_order_and_its_response_is_checked() {
    let fixed = |expect: &str| {
        let expect = json!({"body": {"exact": expect}});
        json!({"body_base64": STANDARD.encode("ping"), "datagram": {}, "expect": expect})
    };
    assert_eq!(run(twelve(echo(), fixed("ping"))).outcomes(), ok(12));
    let seen = run(twelve(echo(), fixed("pong")));
    assert_eq!(seen.outcomes(), BTreeMap::from([("wrong_body", 12)]));
    let empty = answering_datagrams(|_, _| vec![vec![]]);
    assert_eq!(run(twelve(empty, fixed(""))).outcomes(), ok(12));
}

#[test]
fn what_is_lost_times_out_and_the_socket_stays() {
    let address = answering_datagrams(|number, datagram| match number {
        5 => vec![],
        _ => vec![datagram.to_vec()],
    });
    let seen = run(impatient(twelve(address, numbered(first_two()))));
    assert_eq!(
        seen.outcomes(),
        BTreeMap::from([("ok", 11), ("response_timeout", 1)])
    );
    assert_eq!(seen.sum(0, |state| state.connects), 1);
    assert_eq!(
        seen.failures()
            .into_keys()
            .map(|(_, why)| why)
            .collect::<Vec<_>>(),
        ["no response came in time"]
    );
}

#[test]
fn in_order_a_socket_that_lost_something_is_given_up() {
    let address = answering_datagrams(|number, datagram| match number {
        5 => vec![],
        _ => vec![datagram.to_vec()],
    });
    let seen = run(impatient(twelve(address, numbered(json!("order")))));
    assert_eq!(
        seen.outcomes(),
        BTreeMap::from([("ok", 11), ("response_timeout", 1)])
    );
    assert_eq!(seen.sum(0, |state| state.connects), 2);
}

#[test]
fn what_comes_twice_late_or_to_nobody_is_counted_and_answers_nothing() {
    let twice = answering_datagrams(|number, datagram| match number {
        5 => vec![datagram.to_vec(); 2],
        _ => vec![datagram.to_vec()],
    });
    let seen = run(twelve(twice, numbered(first_two())));
    assert_eq!((seen.outcomes(), counts(&seen)), (ok(12), [0, 0, 1, 0]));
    let mut held = Vec::new();
    let swapped = answering_datagrams(move |number, datagram| match number {
        5 => {
            held = datagram.to_vec();
            vec![]
        }
        6 => vec![datagram.to_vec(), held.clone()],
        _ => vec![datagram.to_vec()],
    });
    let seen = run(impatient(twelve(swapped, numbered(first_two()))));
    assert_eq!(
        (seen.outcomes(), counts(&seen)),
        (
            BTreeMap::from([("ok", 11), ("response_timeout", 1)]),
            [1, 1, 0, 0]
        )
    );
    let noisy = answering_datagrams(|number, datagram| match number {
        5 => vec![b"\xff\xffping".to_vec(), vec![], datagram.to_vec()],
        _ => vec![datagram.to_vec()],
    });
    let seen = run(twelve(noisy, numbered(first_two())));
    assert_eq!((seen.outcomes(), counts(&seen)), (ok(12), [0, 0, 0, 2]));
}

#[test]
fn where_nobody_listens_the_refusal_is_told() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let spec = twelve(address, numbered(first_two()));
    let few = json!({"load": {"closed": {"clients": 1, "requests": 4}}});
    let seen = run(with(spec, "/workloads/0", few));
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_refused", 4)]));
    let (_, why) = seen.failures().into_keys().next().unwrap();
    assert_eq!(why, "refused (ICMP): nothing listens there");
}

#[test]
fn an_address_of_a_name_that_refuses_is_passed_over() {
    let address = echo();
    let spec = twelve(address, numbered(first_two()));
    let name = json!({"host": "localhost", "port": address.port()});
    let seen = run(with(spec, "/workloads/0/target", name));
    assert_eq!(seen.outcomes(), ok(12));
}

#[test]
fn a_response_may_be_too_large() {
    let address = answering_datagrams(|_, _| vec![vec![b'x'; 60_000]]);
    let spec = twelve(address, numbered(json!("order")));
    assert_eq!(run(spec.clone()).outcomes(), ok(12));
    let spec = with(spec, "/workloads/0", json!({"body_limit": 59_999}));
    assert_eq!(run(spec).outcomes(), BTreeMap::from([("too_large", 12)]));
}

#[test]
fn an_open_load_goes_by_datagrams_too() {
    let load = json!({"open": {
        "arrivals": "constant", "rates": [{"from": 200.0, "to": 200.0}], "requests": 20, "max_connections": 4,
    }});
    let spec = one(workload(echo(), load), 0);
    let seen = run(with(spec, "/workloads/0/requests/0", numbered(first_two())));
    assert_eq!(seen.outcomes(), ok(20));
}

#[test]
fn what_can_never_be_known_as_a_response_is_refused() {
    let address: SocketAddr = "127.0.0.1:9".parse().unwrap();
    let refused = |request: Value| refusal(twelve(address, request));
    let fixed = |matched: Value| {
        refused(json!({"body_base64": STANDARD.encode("ping"), "datagram": {"match": matched}}))
    };
    assert!(fixed(json!("echo")).contains("are the same there"));
    assert!(fixed(first_two()).contains("are the same there"));
    let late = json!({"bytes": {"from": 2, "to": 4}});
    assert!(refused(numbered(late)).contains("are the same there"));
    let beyond = json!({"bytes": {"from": 4, "to": 7}});
    assert!(refused(numbered(beyond)).contains("has 6 bytes, and none at 4..7"));
    let none = json!({"bytes": {"from": 2, "to": 2}});
    assert!(refused(numbered(none)).contains("no bytes 2..2"));
    assert!(refused(numbered(json!({"regex": "("}))).contains("not a regular expression"));
    assert!(refused(numbered(json!({"regex": "pong"}))).contains("finds nothing"));
    let large = STANDARD.encode(vec![b'x'; 65_508]);
    assert!(
        refused(json!({"body_base64": large, "datagram": {}})).contains("at most 65,507 bytes")
    );
    assert!(refused(json!({"datagram": {}})).contains("nothing is sent"));
    let spec = twelve(address, numbered(json!("order")));
    let tls = with(spec.clone(), "/workloads/0/target", json!({"tls": {}}));
    assert!(refusal(tls).contains("without TLS"));
    let unix = json!({"connect_to": ["unix:/run/x"]});
    assert!(refusal(with(spec, "/workloads/0/target", unix)).contains("over a unix socket"));
}

#[test]
fn a_new_client_numbers_its_datagrams_from_0() {
    let address = answering_datagrams(|number, datagram| {
        let right = datagram[..2] == ((number % 3) as u16).to_be_bytes();
        vec![if right { datagram.to_vec() } else { vec![] }]
    });
    let load =
        json!({"closed": {"clients": 1, "requests": 12, "requests_per_client": 3, "renew": true}});
    let expect = json!({"expect": {"body": {"contains": "ping"}}});
    let spec = twelve(address, with(numbered(json!("order")), "", expect));
    let seen = run(with(spec, "/workloads/0", json!({"load": load})));
    assert_eq!(seen.outcomes(), ok(12));
}
