//! Journeys that are scripts, on servers: what is sent, and how it is recorded.
#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{MS, SECOND, Seen, answering_with, one, run, several, start, with, workload};
use jostle_engine::interval::{JourneyMeasure, Measure};
use jostle_engine::outcome::Outcome;
use jostle_engine::script;
use jostle_engine::spec::FeedRows;
use serde_json::{Value, json};

/// A shop: a login gives a token and a cookie, `/slow` takes 50 ms, `/moved` leads to `/login`; all requests, as they
/// came.
fn shop() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    answering_with(async |request| {
        if request.contains(" /slow ") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        response(request)
    })
}

fn response(request: &str) -> String {
    let (status, headers, body) = match request.split(' ').nth(1).unwrap() {
        "/login" => (
            "200 OK",
            "Set-Cookie: sid=abc; Path=/\r\n",
            r#"{"token": "t1"}"#,
        ),
        "/moved" => ("307 Temporary Redirect", "Location: /login\r\n", ""),
        "/missing" => ("404 Not Found", "", "no"),
        "/large" => {
            return format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 1500000\r\n\r\n{}",
                "x".repeat(1_500_000)
            );
        }
        _ => ("200 OK", "", "{}"),
    };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// A workload whose clients go through this script; `change` of the workload.
fn going(address: SocketAddr, load: Value, source: &str, change: Value) -> Value {
    let sites = script::requests("s.luau", source).unwrap();
    let cookies = change["cookies"] == json!(true);
    let requests: Vec<Value> = sites
        .iter()
        .map(|site| {
            json!({
                "name": site.name, "method": site.method, "path": "/", "cookies": cookies,
                "expect": {"status": site.expect},
            })
        })
        .collect();
    let steps: Vec<Value> = (0..sites.len()).map(|n| json!({"request": n})).collect();
    let mut journey = json!({
        "name": "j", "steps": steps, "script": {"file": "s.luau", "source": source, "columns": [["user", 0]]},
    });
    if let Some(feeds) = change.get("feeds") {
        journey["feeds"] = feeds.clone();
    }
    let mut spec = with(
        workload(address, load),
        "",
        json!({"slots": 1, "requests": requests, "journeys": [journey]}),
    );
    if let Some(redirects) = change.get("redirects") {
        spec["redirects"] = redirects.clone();
    }
    spec
}

fn closed(clients: u64, journeys: u64) -> Value {
    json!({"closed": {"clients": clients, "requests": journeys}})
}

/// Completed, unfinished, ended.
fn journeys(seen: &Seen) -> (u64, u64, u64) {
    let all = seen.0.iter().flat_map(|interval| &interval.journeys);
    all.fold((0, 0, 0), |(completed, unfinished, ended), one| {
        let more = one.ended.iter().map(|(_, _, count)| count).sum::<u64>();
        (
            completed + one.completed,
            unfinished + one.unfinished,
            ended + more,
        )
    })
}

fn by_request(seen: &Seen, request: u32, outcome: Outcome) -> u64 {
    let series = seen.series(0).filter(|series| series.request == request);
    series.map(|series| series.outcomes[outcome as usize]).sum()
}

#[test]
fn who_asks_only_for_what_is_refused_does_not_keep_others_from_running() {
    let (address, requests) = shop();
    let source = r#"return function() while true do http.get("http://stranger/") end end"#;
    let load = json!({"closed": {"clients": 2}});
    let refused = going(address, load, source, json!({"redirects": {"most": 0}}));
    let spec = with(one(refused, 0), "", json!({"duration_ns": 100 * MS}));
    let seen = run(spec);
    let failed = by_request(&seen, 0, Outcome::RedirectFailed);
    assert!((1..=200).contains(&failed), "{failed}");
    assert!(requests.lock().unwrap().is_empty());
}

#[test]
fn the_rest_after_what_is_refused_is_no_part_of_it() {
    let (address, _) = shop();
    let source = r#"return function() http.get("http://stranger/") end"#;
    let refused = going(
        address,
        closed(1, 50),
        source,
        json!({"redirects": {"most": 0}}),
    );
    let seen = run(one(refused, 0));
    let (shortest, _) = seen.range_ms(Measure::Failed);
    assert!(
        shortest < 1.0,
        "a request that is refused at once took {shortest} ms"
    );
    let journeys = seen.0.iter().flat_map(|interval| &interval.journeys);
    let times = journeys.filter_map(|one| {
        let times = &one.histograms[JourneyMeasure::Whole as usize];
        (!times.is_empty()).then(|| times.min())
    });
    let shortest = times.min().unwrap();
    assert!(shortest < 1000, "its journey took {shortest} µs");
}

#[test]
fn a_script_that_may_ask_for_urls_says_to_which_hosts() {
    let (address, _) = shop();
    let source = "return function() http.get(`{1}`) end";
    let spec = one(going(address, closed(1, 1), source, json!({})), 0);
    let problem = start(spec).err().unwrap().to_string();
    assert!(
        problem.contains("to which hosts they may lead"),
        "{problem}"
    );
}

#[test]
fn clients_carry_values_on_and_every_request_is_recorded_under_its_name() {
    let (address, seen_by_server) = shop();
    let source = r#"
        return function(client)
            if not client.token then
                local response = http.post("/login", { name = "login", json = { user = client.feed.user } })
                client.token = response:json().token
            end
            http.get(`/items/{client.number}/{client.iteration}`, { headers = { Authorization = client.token } })
        end
    "#;
    let rows: FeedRows = ["ann", "bob"].into_iter().collect();
    let feeds = json!([{"each": "client", "order": "in-turn", "columns": [0], "rows": rows}]);
    let load = json!({"closed": {"clients": 2, "requests_per_client": 3}});
    let spec = going(
        address,
        load,
        source,
        json!({"cookies": true, "feeds": feeds}),
    );
    let seen = run(one(spec, 0));
    assert_eq!(journeys(&seen), (6, 0, 0));
    assert_eq!(by_request(&seen, 0, Outcome::Ok), 2);
    assert_eq!(by_request(&seen, 1, Outcome::Ok), 6);
    let sent = seen_by_server.lock().unwrap();
    let mut logins: Vec<&str> = sent
        .iter()
        .filter_map(|r| r.split("\r\n\r\n").nth(1))
        .filter(|body| !body.is_empty())
        .collect();
    logins.sort_unstable();
    assert_eq!(logins, [r#"{"user":"ann"}"#, r#"{"user":"bob"}"#]);
    let items: Vec<&String> = sent
        .iter()
        .filter(|r| r.starts_with("GET /items/"))
        .collect();
    assert_eq!(items.len(), 6);
    for request in items {
        assert!(request.contains("\r\nAuthorization: t1\r\n"), "{request}");
        assert!(request.contains("\r\nCookie: sid=abc\r\n"), "{request}");
    }
}

#[test]
fn a_check_ends_the_journey_and_is_counted_with_its_text_and_line() {
    let (address, _) = shop();
    let source = "return function()\nlocal a = http.get('/missing')\ncheck(a.status == 200, 'it is missing')\nhttp.get('/')\nend";
    let seen = run(one(going(address, closed(2, 10), source, json!({})), 0));
    assert_eq!(journeys(&seen), (0, 0, 10));
    assert_eq!(by_request(&seen, 0, Outcome::WrongStatus), 10);
    assert_eq!(by_request(&seen, 0, Outcome::ScriptFailed), 0);
    assert_eq!(by_request(&seen, 1, Outcome::Ok), 0);
    let text = ("script_failed", "s.luau:3: it is missing".to_owned());
    assert_eq!(seen.failures()[&text], 10);
}

#[test]
fn a_status_that_is_expected_is_right() {
    let (address, _) = shop();
    let source = "return function() check(http.get('/missing', {expect = 404}).ok) end";
    let seen = run(one(going(address, closed(1, 5), source, json!({})), 0));
    assert_eq!(journeys(&seen), (5, 0, 0));
    assert_eq!(by_request(&seen, 0, Outcome::Ok), 5);
}

#[test]
fn pauses_count_from_the_end_of_the_response_and_are_no_part_of_the_active_time() {
    let (address, _) = shop();
    let source = "return function() http.get('/slow') sleep('300ms') http.get('/') end";
    let seen = run(one(going(address, closed(1, 1), source, json!({})), 0));
    let journey = seen
        .0
        .iter()
        .flat_map(|interval| &interval.journeys)
        .next()
        .unwrap();
    let whole = journey.histograms[JourneyMeasure::Whole as usize].max();
    let active = journey.histograms[JourneyMeasure::Active as usize].max();
    assert!(whole >= 350_000, "{whole}");
    assert!(
        (299_000..301_000).contains(&(whole - active)),
        "{whole} {active}"
    );
    let pacing = seen.recorded(Measure::Pacing);
    assert!(
        pacing >= 1,
        "the request after the pause was due at a moment of its own"
    );
}

#[test]
fn computing_is_the_generator_s_lateness_and_no_part_of_the_service_time() {
    let (address, _) = shop();
    let source = "return function()
        http.get('/')
        local n = now()
        while now() < n + 20 do end
        http.get('/late')
    end";
    let seen = run(one(going(address, closed(1, 3), source, json!({})), 0));
    assert_eq!(journeys(&seen), (3, 0, 0));
    let late: Vec<_> = seen
        .series(0)
        .filter(|series| series.request == 1)
        .collect();
    let pacing: Vec<_> = late
        .iter()
        .map(|series| &series.histograms[Measure::Pacing as usize])
        .collect();
    assert_eq!(pacing.iter().map(|h| h.len()).sum::<u64>(), 3);
    let filled = pacing.iter().filter(|h| !h.is_empty());
    let shortest = filled.map(|h| h.min()).min().unwrap();
    assert!(shortest >= 19_000, "{shortest}");
    for series in late {
        let lateness = series.response_sum_ns - series.service_sum_ns;
        assert!(lateness >= 19 * u128::from(MS), "{lateness}");
    }
}

#[test]
fn a_script_that_computes_for_ever_fails_and_other_clients_go_on() {
    let (address, _) = shop();
    let source = "return function(client)
        http.get('/')
        if client.number % 2 == 0 then while true do end end
    end";
    let load = json!({"closed": {"clients": 4, "requests_per_client": 2}});
    let seen = run(one(going(address, load, source, json!({})), 0));
    assert_eq!(journeys(&seen), (4, 0, 4));
    let failures = seen.failures();
    let text = "s.luau:3: it computed for more than 100 ms without a request or a pause";
    assert_eq!(failures[&("script_failed", text.to_owned())], 4);
}

#[test]
fn a_journey_without_a_request_fails_and_its_client_backs_off() {
    let (address, _) = shop();
    let source = "return function(client) if client.number == 0 then http.get('/') end end";
    let load = json!({"closed": {"clients": 2, "requests_per_client": 3}});
    let seen = run(one(going(address, load, source, json!({})), 0));
    assert_eq!(seen.count(Outcome::ScriptFailed), 6);
    assert_eq!(journeys(&seen), (0, 0, 6));
    assert_eq!(seen.sum(0, |state| state.backoffs), 6);
}

#[test]
fn a_script_without_an_end_is_cut_off_with_the_run_or_when_its_client_has_to_go() {
    let (address, _) = shop();
    let source = "return function() while true do http.get('/') end end";
    // As long as another load needs for its requests.
    let beside = |load: Value| {
        let endless = going(address, load, source, json!({}));
        let endless = with(
            endless,
            "",
            json!({"name": "endless", "role": "background"}),
        );
        let slow = json!([{"name": "slow", "method": "GET", "path": "/slow"}]);
        let slow = with(
            workload(address, closed(1, 20)),
            "",
            json!({"requests": slow}),
        );
        run(several(vec![slow, endless], 0))
    };
    let seen = beside(json!({"closed": {"clients": 3}}));
    assert_eq!(journeys(&seen), (0, 3, 0));
    assert!(seen.outcomes_of(1)[Outcome::Ok as usize] > 3);
    let phases = json!([
        {"name": "up", "duration_ns": 500 * MS, "from": 3, "to": 3},
        {"name": "down", "duration_ns": 3600 * SECOND, "from": 1, "to": 1},
    ]);
    let seen = beside(json!({"closed": {"clients": 3, "phases": phases}}));
    assert_eq!(journeys(&seen), (0, 3, 0));
    let last = seen.0.last().unwrap();
    assert_eq!(last.workloads[1].clients, 1);
}

#[test]
fn at_a_rate_every_arrival_is_a_new_client() {
    let (address, _) = shop();
    let source = "return function(client)
        check(client.iteration == 1 and client.seen == nil)
        client.seen = true
        sleep('20ms')
        http.get(`/{client.number}`)
        sleep('20ms')
        http.get('/b')
    end";
    let load = json!({"open": {"arrivals": "constant", "rates": [{"name": "", "from": 100.0, "to": 100.0}], "max_connections": 50, "requests": 20}});
    let seen = run(one(going(address, load, source, json!({})), 0));
    assert_eq!(journeys(&seen), (20, 0, 0));
    assert_eq!(by_request(&seen, 0, Outcome::Ok), 20);
    // Some are asleep before their first request when the run ends.
    let load = json!({"open": {"arrivals": "constant", "rates": [{"name": "", "from": 200.0, "to": 200.0}], "max_connections": 50}});
    let source = source.replace(
        "sleep('20ms')\n        http.get(`",
        "sleep('1h')\n        http.get(`",
    );
    let seen = run(one(going(address, load, &source, json!({})), 200));
    assert_eq!(seen.count(Outcome::Ok), 0);
    assert!(seen.count(Outcome::NeverSent) > 0);
}

#[test]
fn redirects_take_the_headers_and_the_body_of_the_script_along() {
    let (address, seen_by_server) = shop();
    let source = "return function()
        local a = http.post('/moved', {json = {a = 1}, headers = {X = 'y'}})
        check(a:json().token == 't1' and a.status == 200)
    end";
    let change = json!({"redirects": {"most": 3}, "cookies": true});
    let seen = run(one(going(address, closed(1, 2), source, change), 0));
    assert_eq!(journeys(&seen), (2, 0, 0));
    let sent = seen_by_server.lock().unwrap();
    assert_eq!(sent.len(), 4);
    let second = &sent[1];
    assert!(second.starts_with("POST /login HTTP/1.1\r\n"), "{second}");
    assert!(
        second.contains("\r\nX: y\r\n") && second.ends_with("\r\n\r\n{\"a\":1}"),
        "{second}"
    );
    assert!(
        second.contains("Content-Type: application/json"),
        "{second}"
    );
    assert!(sent[2].contains("\r\nCookie: sid=abc\r\n"), "{}", sent[2]);
}

#[test]
fn a_large_body_is_only_an_error_for_who_looks_at_it() {
    let (address, _) = shop();
    let source = "return function() check(http.get('/large').status == 200) end";
    let seen = run(one(going(address, closed(1, 2), source, json!({})), 0));
    assert_eq!(journeys(&seen), (2, 0, 0));
    let source = "return function() check(#http.get('/large').body > 0) end";
    let seen = run(one(going(address, closed(1, 2), source, json!({})), 0));
    assert_eq!(journeys(&seen), (0, 0, 2));
}

#[test]
fn a_server_that_is_not_there_gives_an_outcome_to_the_script() {
    let (address, _) = shop();
    let source = "return function()
        local a = http.get('/')
        check(a.ok, `it is {a.outcome}`)
    end";
    let closed = going(address, closed(1, 2), source, json!({}));
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let spec = with(closed, "/target", json!({"port": gone.port()}));
    let seen = run(one(spec, 0));
    let text = "s.luau:3: it is connect_refused".to_owned();
    assert_eq!(seen.failures()[&("script_failed", text)], 2);
}

#[test]
fn a_trial_run_shows_what_was_said_and_does_not_sleep() {
    let (address, _) = shop();
    let source = "return function() http.get('/') sleep('1h') http.get('/b') end";
    let spec = with(
        going(address, closed(1, 1), source, json!({})),
        "/journeys/0/script",
        json!({"sleeps": false}),
    );
    let mut spec = one(spec, 0);
    spec["trace"] = json!(true);
    let seen = run(spec);
    let traces: Vec<_> = seen
        .0
        .iter()
        .flat_map(|interval| &interval.traces)
        .collect();
    assert_eq!(traces.len(), 2);
    assert!(
        traces[1]
            .transcript
            .request
            .starts_with(b"GET /b HTTP/1.1\r\nHost: ")
    );
    assert_eq!(traces[1].step, 1);
}

#[test]
fn a_script_that_cannot_run_is_refused_before_the_run() {
    let (address, _) = shop();
    let source = "return function() http.get('/') end";
    let spec = going(address, closed(1, 1), source, json!({}));
    let refused = |source: &str| {
        let spec = with(
            spec.clone(),
            "/journeys/0/script",
            json!({"source": source}),
        );
        start(one(spec, 0)).err().unwrap().to_string()
    };
    assert_eq!(
        refused("return function() http.get('/') \n end end"),
        "s.luau:2: Expected <eof>, got 'end'"
    );
    assert!(
        refused("return function() http.post('/') end")
            .contains("its steps are not the requests of its script")
    );
    assert!(refused("error('no') return function() http.get('/') end").starts_with("s.luau:1: no"));
}
