//! What each route answers, and how much service it demands. No I/O: request target in, plan out.

use crate::http::{HELLO, JSON, Response, TEXT};
use crate::scheduler::Need;
use jostle_discipline::Nanos;
use std::fmt::Display;

const MICROSECOND: Nanos = 1_000;
pub const MILLISECOND: Nanos = 1_000_000;

const HELLO_DEMAND: Nanos = 5 * MICROSECOND;
const FAST_DEMAND: Nanos = 20 * MICROSECOND;
const FIBONACCI_CALL: Nanos = 3;

const MAX_COUNT: u64 = 10_000_000_000;
const MAX_FAST: u64 = 1_000_000;
const MAX_FIBONACCI: u64 = 60;
const MAX_WORK_US: u64 = 60_000_000;
const MAX_SLEEP_MS: f64 = 60_000.0;

/// How one request is answered.
#[derive(Debug)]
pub struct Plan {
    pub response: Response,
    pub wait: Wait,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// Answered at once.
    No,
    For(Need),
    /// A pure delay of `mean`·(1 + U(−`jitter`, `jitter`)) nanoseconds.
    Jittered {
        mean: f64,
        jitter: f64,
    },
}

pub fn path_and_query(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

/// Plans the response to `GET target`; `about` is the body of `/`.
pub fn plan(target: &str, about: &str) -> Plan {
    let (path, query) = path_and_query(target);
    let plan = match path {
        "/" => Ok(service(HELLO_DEMAND, Response::ok(JSON, about.to_owned()))),
        "/hello" => Ok(service(HELLO_DEMAND, Response::ok(TEXT, HELLO))),
        "/sleep" => sleep(query),
        "/work" => work(query),
        _ => numbered(path),
    };
    plan.unwrap_or_else(|response| Plan {
        response,
        wait: Wait::No,
    })
}

/// The routes that end in a number.
fn numbered(path: &str) -> Result<Plan, Response> {
    let (route, text) = path.rsplit_once('/').unwrap_or_default();
    match route {
        "/count" => {
            let n = whole("N", text, MAX_COUNT)?;
            Ok(service(
                n,
                Response::ok(TEXT, format!("Hello, World {n}\n")),
            ))
        }
        "/fast" => {
            let n = whole("N", text, MAX_FAST)?;
            Ok(service(
                FAST_DEMAND,
                Response::ok(TEXT, (n * n).to_string()),
            ))
        }
        "/slow" => {
            let n = whole("N", text, MAX_FIBONACCI)?;
            Ok(service(
                fibonacci_demand(n),
                Response::ok(TEXT, fibonacci(n).to_string()),
            ))
        }
        "/fibs" => {
            let n = whole("N", text, MAX_FIBONACCI)?;
            let body = format!("{{\"fibResult\": {}}}", fibonacci(n));
            Ok(service(fibonacci_demand(n), Response::ok(JSON, body)))
        }
        _ => Err(Response::refusal(404, "there is no such page")),
    }
}

fn sleep(query: &str) -> Result<Plan, Response> {
    let ms = real("ms", parameter(query, "ms").unwrap_or("100"), MAX_SLEEP_MS)?;
    let jitter = real("jitter", parameter(query, "jitter").unwrap_or("0"), 1.0)?;
    let wait = Wait::Jittered {
        mean: ms * MILLISECOND as f64,
        jitter,
    };
    Ok(Plan {
        response: Response::ok(TEXT, HELLO),
        wait,
    })
}

fn work(query: &str) -> Result<Plan, Response> {
    let us = whole(
        "us",
        parameter(query, "us").unwrap_or_default(),
        MAX_WORK_US,
    )?;
    Ok(service(
        us * MICROSECOND,
        Response::ok(TEXT, us.to_string()),
    ))
}

fn service(demand: Nanos, response: Response) -> Plan {
    Plan {
        response,
        wait: Wait::For(Need::Service(demand)),
    }
}

/// Returns the value of a parameter of the query.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// Parses a whole number up to `max`, or returns the response that refuses it.
pub fn whole(name: &str, text: &str, max: u64) -> Result<u64, Response> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|&value| digits && value <= max);
    value.ok_or_else(|| out_of_range(name, "whole number", max))
}

/// Parses a number from 0 to `max`, or returns the response that refuses it.
pub fn real(name: &str, text: &str, max: f64) -> Result<f64, Response> {
    let value = text
        .parse()
        .ok()
        .filter(|value| (0.0..=max).contains(value));
    value.ok_or_else(|| out_of_range(name, "number", max))
}

fn out_of_range(name: &str, kind: &str, max: impl Display) -> Response {
    Response::refusal(400, format!("{name} must be a {kind} from 0 to {max}"))
}

/// The n-th Fibonacci number, starting from fib(0) = 0 and fib(1) = 1.
fn fibonacci(n: u64) -> u64 {
    let (mut this, mut next) = (0, 1);
    for _ in 0..n {
        (this, next) = (next, this + next);
    }
    this
}

/// What the naive double recursion would cost: 3 ns for each of its fib(n + 1) leaves.
fn fibonacci_demand(n: u64) -> Nanos {
    fibonacci(n + 1) * FIBONACCI_CALL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(target: &str) -> (u16, String, Wait) {
        let Plan { response, wait } = plan(target, "{}");
        (
            response.status,
            String::from_utf8(response.body.into_owned()).unwrap(),
            wait,
        )
    }

    fn demand(nanos: Nanos) -> Wait {
        Wait::For(Need::Service(nanos))
    }

    #[test]
    fn every_route_has_its_body_and_its_demand() {
        assert_eq!(served("/"), (200, "{}".into(), demand(5_000)));
        assert_eq!(
            served("/hello"),
            (200, "x".repeat(1023) + "\n", demand(5_000))
        );
        assert_eq!(
            served("/count/1000000"),
            (200, "Hello, World 1000000\n".into(), demand(1_000_000))
        );
        assert_eq!(served("/fast/44"), (200, "1936".into(), demand(20_000)));
        assert_eq!(served("/slow/20"), (200, "6765".into(), demand(10_946 * 3)));
        assert_eq!(
            served("/fibs/20"),
            (200, "{\"fibResult\": 6765}".into(), demand(10_946 * 3))
        );
        assert_eq!(served("/slow/0"), (200, "0".into(), demand(3)));
        assert_eq!(served("/slow/60").1, "1548008755920");
        assert_eq!(served("/work?us=250"), (200, "250".into(), demand(250_000)));
    }

    #[test]
    fn sleep_is_a_delay_and_not_a_service() {
        let wait = |mean, jitter| Wait::Jittered { mean, jitter };
        assert_eq!(served("/sleep").2, wait(1e8, 0.0));
        assert_eq!(served("/sleep?ms=2.5&jitter=0.1").2, wait(2.5e6, 0.1));
        assert_eq!(served("/sleep?jitter=1").2, wait(1e8, 1.0));
    }

    #[test]
    fn bad_numbers_are_refused_with_a_reason_and_without_waiting() {
        for target in [
            "/count/10000000001",
            "/fast/-1",
            "/fast/1000001",
            "/slow/61",
            "/slow/",
            "/fibs/1.5",
        ] {
            let (status, body, wait) = served(target);
            assert_eq!((status, wait), (400, Wait::No), "{target}");
            assert!(
                body.starts_with("N must be a whole number from 0 to "),
                "{target}: {body}"
            );
        }
        for target in [
            "/work",
            "/work?us=",
            "/work?us=+5",
            "/work?us=99999999999999999999",
        ] {
            assert_eq!(served(target).0, 400, "{target}");
        }
        for target in [
            "/sleep?ms=x",
            "/sleep?ms=60001",
            "/sleep?ms=NaN",
            "/sleep?jitter=1.1",
            "/sleep?ms=-0.1",
        ] {
            assert_eq!(served(target).0, 400, "{target}");
        }
    }

    #[test]
    fn what_is_not_a_route_is_not_found() {
        for target in [
            "/nope",
            "/slow",
            "/slow/5/6",
            "",
            "*",
            "/hello/",
            "//fast/3",
        ] {
            assert_eq!(served(target).0, 404, "{target}");
        }
    }
}
