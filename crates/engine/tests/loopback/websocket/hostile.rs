//! Servers that do not upgrade, break off, break the rules, or are not courteous: each ends in an outcome of its own.

use std::collections::BTreeMap;

use super::server::*;
use crate::support::*;
use serde_json::json;
use tokio::io::AsyncWriteExt;

#[test]
fn a_server_that_does_not_upgrade_is_told_of_by_its_status() {
    let address = answering(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 5\r\n\r\nhello");
    let seen = run(ten(address, json!({})));
    assert_eq!(seen.outcomes(), all("upgrade_refused"));
    assert!(why(&seen).contains("with status 426, not with 101"));
    assert_eq!(seen.sum(0, |state| state.sent), 0);
    assert!(
        seen.sum(0, |state| state.backoffs) > 0,
        "it is not asked again at once"
    );
}

#[test]
fn a_server_that_does_not_answer_the_handshake_is_a_connect_timeout() {
    let address =
        serve(|mut stream| async move { while read_request(&mut stream).await.is_some() {} });
    let timeouts = json!({"connect_ns": 50 * MS, "total_ns": 5 * SECOND});
    let spec = with(ten(address, json!({})), "/workloads/0/timeouts", timeouts);
    let seen = run(with(spec, "/workloads/0/load/closed/requests", json!(2)));
    assert_eq!(seen.outcomes(), BTreeMap::from([("connect_timeout", 2)]));
    assert!(why(&seen).contains("did not answer the WebSocket handshake in time"));
}

#[test]
fn a_server_that_breaks_the_rules_is_counted_with_the_rule_it_broke() {
    let long = |length: u64| {
        let mut head = vec![0x82, 127];
        head.extend_from_slice(&length.to_be_bytes());
        head
    };
    for (response, outcome, text) in [
        (frame(0xC1, b"x"), "malformed", "reserved bits"),
        (vec![0x81, 0x81, 1, 2, 3, 4, 5], "malformed", "is masked"),
        (frame(0x09, b"x"), "malformed", "is fragmented"),
        (frame(0x89, &[b'x'; 126]), "malformed", "more than 125"),
        (frame(0x83, b"x"), "malformed", "opcode 0x3"),
        (frame(0x80, b"x"), "malformed", "none had begun"),
        (frame(TEXT, b"\xff"), "malformed", "not UTF-8"),
        (long(1 << 40), "too_large", "longer than is allowed"),
        (
            frame(CLOSE, b"\x03\xf0no pets"),
            "closed_early",
            "closed the WebSocket with code 1008 (no pets)",
        ),
        (
            frame(CLOSE, b""),
            "closed_early",
            "closed the WebSocket without a code",
        ),
        (frame(CLOSE, b"\x03\xed"), "malformed", "the code 1005"),
    ] {
        let spec = ten(saying(response), json!({}));
        let seen = run(with(spec, "/workloads/0", json!({"body_limit": 1_000_000})));
        assert_eq!(seen.outcomes(), all(outcome), "{text}");
        assert!(why(&seen).contains(text), "{}", why(&seen));
    }
}

#[test]
fn a_server_that_just_goes_away_has_closed_early() {
    let seen = run(ten(
        answering_messages(|mut stream, _| async move {
            // Within a message.
            stream.write_all(&frame(TEXT, b"whole")[..4]).await.ok()?;
            None
        }),
        json!({}),
    ));
    assert_eq!(seen.outcomes(), all("closed_early"));
    assert!(why(&seen).contains("without closing the WebSocket"));
}

#[test]
fn a_server_that_only_pings_and_never_reads_cannot_keep_a_message_from_its_timeout() {
    let address = serve(|mut stream| async move {
        if upgrade(&mut stream).await.is_some() {
            let pings = frame(PING, &[b'?'; 125]).repeat(100);
            while stream.write_all(&pings).await.is_ok() {}
        }
    });
    let timeouts = json!({"total_ns": 50 * MS, "connect_ns": 5 * SECOND});
    let seen = run(with(
        ten(address, json!({})),
        "/workloads/0/timeouts",
        timeouts,
    ));
    assert_eq!(seen.outcomes(), all("response_timeout"));
    assert!(seen.series(0).map(|series| series.bytes_in).sum::<u64>() > 100_000);
}
