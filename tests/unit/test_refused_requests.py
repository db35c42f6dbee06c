"""Requests that a plan or the command line cannot make: what is wrong, where, and what to do instead."""

from typing import Any

import pytest

from jostle.errors import PlanError
from support.one_request import hit, plan


@pytest.mark.parametrize(
    ("request_", "message", "hint"),
    [
        ('{ ws = "/" }', "nothing is sent", 'stream = "messages"'),
        ('{ ws = "/", get = "/", send = "x" }', "get and ws in one request", ""),
        ('{ ws = "chat", send = "x" }', "does not begin with /", ""),
        ('{ ws = "/", body = "x" }', "messages and no body", "send"),
        ('{ ws = "/", send = "x", body-file = "y" }', "both say what to send", ""),
        ('{ ws = "/", send = "x", expect = 200 }', "no status to expect", "101"),
        ('{ ws = "/", send = "x", match = "id" }', '"id" does not say which message', '"json:/id"'),
        ('{ ws = "/", send = "x", match = "json:id" }', "does not say which message", '"json:/id"'),
        ('{ ws = "/", stream = "messages", match = "json:/id" }', "for one message that is sent", ""),
        ('{ ws = "/", send = "x", match = "echo", expect = "y" }', "says already what the response is", ""),
        ('{ ws = "/", send = "x", stream = "sse" }', "sse do not come this way", "WebSocket"),
        ('{ get = "/", stream = "messages" }', "messages do not come this way", "WebSocket"),
        ('{ get = "/", send = "x" }', "send is for a WebSocket", "ws ="),
        ('{ get = "/", match = "echo" }', "match is for a WebSocket", "ws ="),
        ('{ ws = "/{n}", send = "x", params.n = ["1"] }', "has no parameters", "%7B"),
        ('{ ws = "/", send = "x", params.n = ["1"] }', "params.n is not used in what is sent", "{n}"),
        ('{ ws = "/", send = "x", headers = { Upgrade = "h2c" } }', "belongs to the handshake", ""),
        ('{ ws = "/", send = 2026-11-23 }', "send holds what JSON has not", ""),
        (
            '{ get = "/", expect.json = { pointer = "/d", value = 2026-11-23 } }',
            "value holds what JSON has not",
            "",
        ),
        ('[{ ws = "/a", send = "x" }, { ws = "/b", send = "x" }]', "go over one WebSocket", "the same ws"),
        ('[{ ws = "/a", send = "x" }, { get = "/b" }]', "go over one WebSocket", "another workload"),
        ('{ tcp = "x" }', "until is missing", "{ length = 7 }"),
        ('{ get = "/", until = "x" }', "until is for raw bytes", "tcp ="),
        ('{ tcp = "x", get = "/", until = "y" }', "get and tcp in one request", ""),
        ('{ tcp = "", until = "y" }', "nothing is sent", ""),
        ('{ tcp = { hex = "" }, until = "y" }', "nothing is sent", ""),
        ('{ tcp = { hex = "0" }, until = "y" }', "not hexadecimal", "two digits"),
        ('{ tcp = { text = "a", hex = "00" }, until = "y" }', "each say what is sent", "one of them"),
        ('{ tcp = "x", until = "" }', "until", ""),
        ('{ tcp = "x", until = { length = 0 } }', "length", ""),
        ('{ tcp = "x", until = { length = 1, close = true } }', "each say where", "one of them"),
        ('{ tcp = "x", until = { close = false } }', "close", ""),
        ('{ tcp = "x", until = { regex = "a*" } }', "matches the empty text", "at least one byte"),
        ('{ tcp = "x", until = { regex = "(" } }', "is not a regular expression", ""),
        ('{ tcp = "x", until = "y", headers = { A = "b" } }', "headers has no meaning", "tcp ="),
        ('{ tcp = "x", until = "y", body = "b" }', "body has no meaning", "tcp ="),
        ('{ tcp = "x", until = "y", stream = "lines" }', "stream has no meaning", ""),
        ('{ tcp = "x", until = "y", send = "b" }', "send has no meaning", "tcp ="),
        ('{ tcp = "x", until = "y", match = "echo" }', "match is for a WebSocket", ""),
        ('{ tcp = "x", until = "y", expect = 200 }', "no status to expect", "a body"),
        ('{ tcp = "x", until = "y", params.n = ["1"] }', "params.n is not used", "{n}"),
        ('[{ tcp = "x", until = "y" }, { get = "/" }]', "all of raw bytes", "another workload"),
        ('[{ tcp = "x", until = "y" }, { tcp = "z", until = "y" }]', "2 requests have the name", "name ="),
        ('{ udp = "x", until = "y" }', "until is for tcp", "match"),
        ('{ udp = "x", tcp = "y", until = "z" }', "tcp and udp in one request", ""),
        ('{ udp = "" }', "nothing is sent", ""),
        ('{ udp = { hex = "0" } }', "not hexadecimal", "two digits"),
        ('{ udp = { hex = "{id:u17}" } }', "{id:u17} has an unknown width", ":u16"),
        ('{ udp = { hex = "{id}" } }', "{id} in hex has no value", "{id:u16}"),
        ('{ udp = { hex = "{hots}" }, params.host = ["a"] }', "{hots} in hex has no value", "host"),
        ('{ udp = "x", params.n = ["1"] }', "params.n is not used", "{n}"),
        ('{ udp = "x", match = "json:/id" }', "is for a WebSocket", "bytes:0..2"),
        ('{ udp = "x", match = "bytes:2..2" }', "names no bytes", "bytes:0..2"),
        ('{ udp = "x", match = "bytes:2" }', "names no bytes", "bytes:0..2"),
        ('{ udp = "x", match = "bytes:0..100000000000000000000" }', "names no bytes", "at most 65,507"),
        ('{ udp = "x", match = "regex:(" }', "is not a regular expression", ""),
        ('{ udp = "x", match = "id" }', "does not say which message", "bytes:0..2"),
        ('{ udp = "x", headers = { A = "b" } }', "headers has no meaning", "udp ="),
        ('{ udp = "x", expect = 200 }', "no status to expect", "a body"),
        ('{ ws = "/", send = "x", match = "bytes:0..1" }', "is for datagrams", "echo"),
        ('[{ udp = "x" }, { get = "/" }]', "all datagrams", "another workload"),
        ('[{ udp = "x" }, { tcp = "x", until = "y" }]', "all datagrams", "another workload"),
        ('[{ udp = "x", name = "a" }, { udp = "y", match = "echo" }]', "known in one way", "the same match"),
        ('{ get = "/", stream = "xml" }', "xml", "'sse', 'lines' or 'messages'"),
        ('{ get = "/", stream = { events = 0 } }', "events", ""),
        ('{ get = "/", stream = { until = "" } }', "until", ""),
        ('{ get = "/", stream = { stall = "soon" } }', "stall", ""),
        ("{ get = \"/\", stream = { usage = '(' } }", "not a regular expression", ""),
        (
            '{ get = "/", stream = { slo = "p99 < 5 ms" } }',
            '"p99 < 5 ms" is no bound of a stream',
            "first event < 500 ms",
        ),
        ('{ get = "/", stream = { slo = "gap p101 < 5 ms" } }', "is no bound of a stream", "gap p99 < 50 ms"),
        ('{ get = "/", stream = { slo = "gap < 5" } }', "slo", "ms"),
        (
            '{ get = "/", stream = { slo = "gap < 5 ms, gap p50 < 1 ms" } }',
            "bounds the same twice",
            "one of the gaps",
        ),
    ],
)
def test_a_mistake_in_a_plan_is_told_with_its_place(request_: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan(request_)
    assert "workload.w" in refused.value.message
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("url", "options", "message", "hint"),
    [
        ("http://localhost/", {"send": "x"}, "--send is for a WebSocket", "ws://"),
        ("http://localhost/", {"match": "echo"}, "--match is for a WebSocket", "ws://"),
        ("http://localhost/", {"stream": "messages"}, "messages come over a WebSocket", "ws://"),
        ("ws://localhost/", {}, "without a message", "--send TEXT"),
        ("ws://localhost/", {"stream": "sse"}, "'sse' is for HTTP", "--stream messages"),
        ("ws://localhost/", {"send": "x", "method": "POST"}, "-m has no meaning", "leave it out"),
        ("ws://localhost/", {"body": "x"}, "-b has no meaning", "--send"),
        ("ws://localhost/", {"send": "x", "redirects": 5}, "redirects are not followed", "leave out"),
        ("ws://localhost/", {"send": "x", "ca": "ca.pem"}, "does not use TLS", "wss://"),
        ("ws://localhost/", {"send": "x", "match": "id"}, 'match: "id" does not say', '"json:/id"'),
        ("tcp://localhost", {}, "names no port", "tcp://127.0.0.1:6379"),
        ("tcp://localhost:6379/path", {}, "is more than a host and a port", "tcp://"),
        ("tcp://localhost:6379", {"until": "x"}, "--send is missing", "PING"),
        ("tcp://localhost:6379", {"send": "x"}, "--until is missing", "length:7"),
        ("tcp://localhost:6379", {"send": r"\q", "until": "x"}, r"--send: \q in", r"\xHH"),
        ("tcp://localhost:6379", {"send": "x", "until": "length:0"}, "--until", ""),
        ("tcp://localhost:6379", {"send": "x", "until": "length:many"}, "is no number of bytes", "length:7"),
        ("tcp://localhost:6379", {"send": "x", "until": "regex:x*"}, "--until", "at least one byte"),
        ("tcp://localhost:6379", {"send": "hex:xy", "until": "x"}, "--send", "two digits"),
        ("tcp://localhost:6379", {"send": "@nowhere", "until": "x"}, "--send: there is no file", ""),
        (
            "tcp://localhost:6379",
            {"send": "x", "until": "x", "stream": "lines"},
            "--stream has no meaning",
            "http://",
        ),
        ("tcp://localhost:6379", {"body": "x", "until": "x"}, "-b has no meaning", "--send"),
        (
            "tcp://localhost:6379",
            {"send": "x", "until": "x", "headers": ["A: b"]},
            "-H has no meaning",
            "leave it out",
        ),
        (
            "tcp://localhost:6379",
            {"send": "x", "until": "x", "http2": True},
            "http2 has no meaning",
            "leave it out",
        ),
        (
            "tcp://localhost:6379",
            {"send": "x", "until": "x", "redirects": 3},
            "redirects has no meaning",
            "leave it out",
        ),
        (
            "tcp://localhost:6379",
            {"send": "x", "until": "x", "ca": "ca.pem"},
            "does not use TLS",
            "leave them out",
        ),
        ("http://localhost/", {"until": "x"}, "--until is for raw bytes", "tcp://"),
        ("ws://localhost/", {"send": "x", "until": "x"}, "--until is for raw bytes", "leave it out"),
        ("udp://localhost", {"send": "x"}, "names no port", "udp://127.0.0.1:53"),
        ("udp://localhost:53", {}, "--send is missing", "--send"),
        (
            "udp://localhost:53",
            {"send": "x", "until": "close"},
            "--until has no meaning",
            "--match says which",
        ),
        ("udp://localhost:53", {"body": "x"}, "-b has no meaning", "--send"),
        ("udp://localhost:53", {"send": "x", "ca": "ca.pem"}, "does not use TLS", "leave them out"),
        ("tcp://localhost:1", {"send": "x", "until": "x", "match": "echo"}, "--match has no meaning", ""),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    url: str, options: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(PlanError) as refused:
        hit(url, **options)
    assert message in refused.value.message
    assert hint in refused.value.hint
