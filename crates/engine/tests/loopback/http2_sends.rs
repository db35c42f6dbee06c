//! When a request over a shared connection counts as sent: when its first byte goes to the kernel.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::http2::{Responder, hello, over_http2, serving};
use crate::http2_hostile::{SETTINGS, frame};
use crate::support::*;
use h2::server::Builder;
use jostle_engine::outcome::Outcome;
use serde_json::json;
use tokio::io::AsyncWriteExt;

const CLIENTS: usize = 32;
const MANY: u64 = 600;

#[test]
fn what_leaves_in_one_write_was_sent_at_one_moment() {
    let begin = || RefCell::new(Vec::<Responder>::new());
    // All are answered together, so that all ask together.
    let address = serving(Builder::new(), begin, |waiting, _, respond| async move {
        waiting.borrow_mut().push(respond);
        if waiting.borrow().len() == CLIENTS {
            waiting.take().into_iter().for_each(hello);
        }
    });
    let requests = CLIENTS * 20;
    let load = json!({"closed": {"clients": CLIENTS, "requests": requests}});
    let spec = one(over_http2(address, json!({"connections": 1}), load), 0);
    let seen = run(with(spec, "", json!({"threads": 1})));
    assert_eq!(seen.outcomes(), ok(requests as u64));
    let moments: BTreeSet<u64> = seen.rows().flat_map(|rows| rows.sent_ns.clone()).collect();
    assert!(moments.len() <= requests / 2, "{}", moments.len());
}

/// Clients that send more than the kernel takes to a server that says hello and reads nothing.
fn behind_a_full_socket(total_ns: u64, duration_ms: u64) -> Seen {
    let address = serve(|mut stream| async move {
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        let _open = stream;
        std::future::pending::<()>().await;
    });
    let load = json!({"closed": {"clients": MANY, "requests": MANY}});
    let spec = over_http2(address, json!({"connections": 1}), load);
    let large = json!({"headers": [["x-large", "x".repeat(30_000)]]});
    let timeouts = json!({"timeouts": {"connect_ns": 5 * SECOND, "total_ns": total_ns}});
    let spec = with(with(spec, "/requests/0", large), "", timeouts);
    run(with(one(spec, duration_ms), "", json!({"threads": 1})))
}

#[test]
fn what_waits_behind_a_full_socket_has_not_been_sent() {
    let seen = behind_a_full_socket(5 * SECOND, 500);
    let (sent, waiting) = (
        seen.count(Outcome::Unfinished),
        seen.count(Outcome::NeverSent),
    );
    // On a busy machine the last clients may not have begun.
    assert_eq!(sent + waiting, seen.outcomes().values().sum::<u64>());
    assert!(sent > 0 && waiting > 0, "{sent} sent, {waiting} not");
}

#[test]
fn what_cannot_be_sent_in_time_is_told_as_that() {
    let seen = behind_a_full_socket(300 * MS, 0);
    assert_eq!(seen.count(Outcome::ResponseTimeout), MANY);
    let why = "the server reads so slowly that the request could not be sent in time";
    let told = seen.failures();
    let slow = told.get(&("response_timeout", why.to_owned()));
    assert!(slow.is_some_and(|count| *count > 0), "{told:?}");
}
