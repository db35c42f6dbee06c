//! Values keep their own text from where they are read to where they are sent; what does not fit is not sent.
#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use jostle_engine::spec::FeedRows;
use serde_json::{Value, json};

use crate::http2::{over_http2, serving};
use crate::support::{answering_with, one, run, with, workload};

/// Answers every request with this body; the requests, as they came.
fn saying(body: String) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    answering_with(async move |_| {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}")
    })
}

fn once() -> Value {
    json!({"closed": {"clients": 1, "requests": 1}})
}

/// A journey that asks for `/list`, captures `capture` of the response into slot 0, and sends `order`, in which it is
/// the parameter `id`, written so.
fn carrying(workload: Value, capture: &Value, written: &str, order: Value) -> Value {
    let order = with(
        json!({"name": "order", "method": "POST", "path": "/orders", "fill": "json"}),
        "",
        order,
    );
    let order = with(
        order,
        "",
        json!({"params": {"id": {"slot": {"slot": 0, "written": written}}}}),
    );
    let change = json!({
        "slots": 1,
        "requests": [{"name": "list", "method": "GET", "path": "/list", "fill": "json"}, order],
        "journeys": [{"name": "j", "steps": [{"request": 0, "capture": [capture]}, {"request": 1}]}],
    });
    one(with(workload, "", change), 0)
}

fn captured(from: Value) -> Value {
    json!({"name": "id", "slot": 0, "from": from})
}

/// The body of a request that holds only the value: `{"n":{id}}`.
fn body() -> Value {
    json!({"body_base64": "eyJuIjp7aWR9fQ=="})
}

fn order_of(requests: &Mutex<Vec<String>>) -> String {
    let requests = requests.lock().unwrap();
    let order = requests.iter().find(|request| request.starts_with("POST"));
    order.cloned().unwrap_or_default()
}

#[test]
fn numbers_and_documents_are_sent_as_they_are_written() {
    for (written, value) in [
        ("number", "2733382000000000049"),
        ("number", "1.10"),
        ("number", "-0"),
        ("number", "1E400"),
        ("json", "{ \"a\":1.0 ,\"b\": [ ]}"),
        ("json", "true"),
    ] {
        let (address, requests) = saying(format!("\u{feff}{{\"id\": 0, \"id\": {value}}}"));
        let capture = captured(json!({"json": "/id"}));
        let seen = run(carrying(
            workload(address, once()),
            &capture,
            written,
            body(),
        ));
        assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 2)]), "{value}");
        let order = order_of(&requests);
        let sent = format!("\r\n\r\n{{\"n\":{value}}}");
        assert!(order.ends_with(&sent), "{order}");
    }
}

#[test]
fn a_value_that_is_no_number_is_not_sent() {
    for (written, value, why) in [
        (
            "number",
            "\"7 apples\"",
            "{id}: its value is no JSON number",
        ),
        ("number", "true", "{id}: its value is no JSON number"),
        (
            "json",
            "\"seven\"",
            "{id}: its value cannot be read as JSON: 's' at byte 0",
        ),
    ] {
        let (address, requests) = saying(format!("{{\"id\": {value}}}"));
        let capture = captured(json!({"json": "/id"}));
        let seen = run(carrying(
            workload(address, once()),
            &capture,
            written,
            body(),
        ));
        let expected = BTreeMap::from([("ok", 1), ("unsendable", 1)]);
        assert_eq!(seen.outcomes(), expected, "{value}");
        let failures = BTreeMap::from([(("unsendable", why.to_owned()), 1)]);
        assert_eq!(seen.failures(), failures);
        assert_eq!(order_of(&requests), "");
    }
}

/// A journey of one step whose path has a raw value of a feed.
fn with_raw_path(workload: Value, value: &str) -> Value {
    let feed = json!({
        "each": "iteration", "order": "in-turn", "columns": [0], "rows": FeedRows::from_iter([value]),
    });
    let change = json!({
        "slots": 1,
        "requests": [{
            "name": "item", "method": "GET", "path": "/items/{id}", "fill": "text",
            "params": {"id": {"slot": {"slot": 0, "written": "raw"}}},
        }],
        "journeys": [{"name": "j", "steps": [{"request": 0}], "feeds": [feed]}],
    });
    one(with(workload, "", change), 0)
}

#[test]
fn a_raw_value_that_a_path_cannot_have_is_not_sent_over_either_protocol() {
    let (address, requests) = saying("{}".into());
    let over_2 = serving(
        h2::server::Builder::new(),
        || (),
        |_, _, respond| async move { crate::http2::hello(respond) },
    );
    for (value, byte) in [
        ("a b", "0x20 at 1"),
        ("a\rb", "0x0D at 1"),
        ("x#y", "0x23 at 1"),
        ("\n", "0x0A at 0"),
    ] {
        let why = format!(
            "{{id}}: its value has byte {byte}, which a path cannot have: leave out :raw, or percent-encode it"
        );
        for spec in [
            workload(address, once()),
            over_http2(over_2, json!({}), once()),
        ] {
            let seen = run(with_raw_path(spec, value));
            let failures = BTreeMap::from([(("unsendable", why.clone()), 1)]);
            assert_eq!(seen.failures(), failures, "{value:?}");
        }
    }
    assert_eq!(requests.lock().unwrap().len(), 0);
    let seen = run(with_raw_path(workload(address, once()), "a/b?c=%20"));
    assert_eq!(seen.outcomes(), BTreeMap::from([("ok", 1)]));
    assert!(requests.lock().unwrap()[0].starts_with("GET /items/a/b?c=%20 HTTP/1.1\r\n"));
}

#[test]
fn a_hidden_field_is_captured_up_to_the_limit_that_is_given() {
    let value = "aB+/&#43;&#x3D;&amp;=".repeat(3000);
    let page = format!("<input name=\"state\" value=\"{value}\">");
    let pattern = "value=\"([^\"]*)\"";
    let form = json!({"fill": "form", "body_base64": "cz17aWR9"}); // s={id}
    for (kind, limit, sent) in [
        (
            "regex",
            json!(100_000),
            Some("aB%2B%2F%26%2343%3B%26%23x3D%3B%26amp%3B%3D"),
        ),
        ("html", json!(100_000), Some("aB%2B%2F%2B%3D%26%3D")),
        ("regex", json!(null), None),
    ] {
        let (address, requests) = saying(page.clone());
        let capture = with(
            captured(json!({kind: pattern})),
            "",
            json!({"limit": limit}),
        );
        let workload = workload(address, once());
        let seen = run(carrying(workload, &capture, "escaped", form.clone()));
        let order = order_of(&requests);
        let Some(sent) = sent else {
            let why = format!(
                "id: regex:{pattern} found no match of at most 16384 bytes, which is its limit, in {} bytes",
                page.len()
            );
            let failures = BTreeMap::from([(("capture_failed", why), 1)]);
            assert_eq!(seen.failures(), failures);
            continue;
        };
        let expected = format!("\r\n\r\ns={}", sent.repeat(3000));
        assert!(order.ends_with(&expected), "{kind}");
    }
}

#[test]
fn a_check_of_a_body_that_cannot_be_read_says_why() {
    for (body, why) in [
        (
            "<html>",
            "the response cannot be read as JSON: '<' at byte 0",
        ),
        ("{\"other\": 7}", "the value at /id is missing"),
        (
            "{\"id\": \"\\ud800\"}",
            "the response cannot be read as JSON: half of a surrogate pair \
          (\\ud800 to \\udfff), which is no character, at byte 8",
        ),
    ] {
        let (address, _) = saying(body.to_owned());
        let spec = with(
            workload(address, once()),
            "/requests/0",
            json!({"expect": {"body": {"json": {"pointer": "/id", "value": 7}}}}),
        );
        let failures = BTreeMap::from([(("wrong_body", why.to_owned()), 1)]);
        assert_eq!(run(one(spec, 0)).failures(), failures);
    }
}
