"""Requests of raw bytes: how a plan and the command line say them, and what is told of mistakes."""

import base64
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import BadValue, PlanError
from jostle.plan import parse_plan, to_toml
from jostle.plan.raw import unescaped
from support.one_request import asked, hit, plan, sent

URL = "tcp://localhost:6379"


def delimiter(data: bytes) -> dict[str, Any]:
    return {"until": {"delimiter-base64": base64.b64encode(data).decode()}}


def test_a_text_is_sent_and_its_answer_ends_with_a_text() -> None:
    made = plan(r'{ tcp = "PING {n}\r\n", until = "\r\n", expect = "+PONG\r\n", params.n = ["1"] }')
    request = asked(made)
    assert (request["name"], request["method"], request["path"]) == ("tcp", "GET", "/")
    assert sent(request) == b"PING {n}\r\n"
    assert request["raw"] == delimiter(b"\r\n")
    assert request["expect"]["body"] == {"exact": "+PONG\r\n"}
    assert request["params"] == {"n": {"choice": ["1"]}}
    assert parse_plan(to_toml(made), "again") == made


@pytest.mark.parametrize(
    ("until", "spec"),
    [
        ("{ length = 7 }", {"until": {"length": 7}}),
        ('{ regex = "[+-].*\\n" }', {"until": {"regex": "[+-].*\n"}}),
        ("{ close = true }", {"until": "close"}),
        ('{ hex = "0d 0a" }', delimiter(b"\r\n")),
    ],
)
def test_an_answer_ends_as_the_plan_says(until: str, spec: dict[str, Any]) -> None:
    made = plan(f'{{ tcp = {{ hex = "00 ff" }}, until = {until} }}')
    assert asked(made)["raw"] == spec
    assert sent(asked(made)) == b"\x00\xff"
    assert parse_plan(to_toml(made), "again") == made


def test_escapes_are_bytes() -> None:
    assert unescaped(r"PING\r\n") == b"PING\r\n"
    assert unescaped(r"\\n\t\0\xff\x41ü") == b"\\n\t\0\xffA\xc3\xbc"
    assert unescaped("a\r\nb") == b"a\r\nb"
    for wrong in (r"\q", r"\x4", r"\xgg", "end\\"):
        with pytest.raises(BadValue, match="is no escape"):
            unescaped(wrong)


@pytest.mark.parametrize(
    ("until", "spec"),
    [
        (r"\r\n", delimiter(b"\r\n")),
        (r"\xff", delimiter(b"\xff")),
        ("hex:0d0a", delimiter(b"\r\n")),
        ("length:7", {"until": {"length": 7}}),
        (r"regex:\d\n", {"until": {"regex": r"\d\n"}}),
        ("close", {"until": "close"}),
        (r"clos\x65", delimiter(b"close")),
    ],
)
def test_the_command_line_says_it_in_one_text(until: str, spec: dict[str, Any]) -> None:
    assert asked(hit(URL, send="x", until=until))["raw"] == spec


def test_what_is_sent_is_text_bytes_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "query"
    file.write_bytes(b"\x00\x01")
    assert sent(asked(hit(URL, send=r"\xff\r\n", until="close"))) == b"\xff\r\n"
    assert sent(asked(hit(URL, send="hex:00 01", until="close"))) == b"\x00\x01"
    assert sent(asked(hit(URL, send=f"@{file}", until="close"))) == b"\x00\x01"
    made = hit(URL, send="PING", until="close", expect="PONG")
    assert (made.title, made.contestant["localhost"].url) == (URL, "http://localhost:6379")
    assert asked(made)["expect"]["body"] == {"contains": "PONG"}


@pytest.mark.parametrize(
    ("request_", "message", "hint"),
    [
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
    ],
)
def test_a_mistake_is_told_with_its_place(request_: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan(request_)
    assert "workload.w" in refused.value.message
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("redirects = 3", "redirects has no meaning"),
        ("connection = { http2 = {} }", "http2 has no meaning"),
        ('body-limit = "10B"', "longer than body-limit"),
    ],
)
def test_what_belongs_to_http_or_ends_before_the_answer_is_refused(more: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan('{ tcp = "x", until = { length = 11 } }', more)


@pytest.mark.parametrize(
    ("url", "options", "message", "hint"),
    [
        ("tcp://localhost", {}, "is not a host and a port", "tcp://127.0.0.1:6379"),
        (f"{URL}/path", {}, "is not a host and a port", "tcp://"),
        (URL, {"until": "x"}, "--send is missing", "PING"),
        (URL, {"send": "x"}, "--until is missing", "length:7"),
        (URL, {"send": r"\q", "until": "x"}, r"--send: \q in", r"\xHH"),
        (URL, {"send": "x", "until": "length:0"}, "--until", ""),
        (URL, {"send": "x", "until": "length:many"}, "is no number of bytes", "length:7"),
        (URL, {"send": "x", "until": "regex:x*"}, "--until", "at least one byte"),
        (URL, {"send": "hex:xy", "until": "x"}, "--send", "two digits"),
        (URL, {"send": "@nowhere", "until": "x"}, "--send: there is no file", ""),
        (URL, {"send": "x", "until": "x", "stream": "lines"}, "--stream has no meaning", "http://"),
        (URL, {"body": "x", "until": "x"}, "-b has no meaning", "--send"),
        (URL, {"send": "x", "until": "x", "headers": ["A: b"]}, "-H has no meaning", "leave it out"),
        (URL, {"send": "x", "until": "x", "http2": True}, "http2 has no meaning", "leave it out"),
        (URL, {"send": "x", "until": "x", "redirects": 3}, "redirects has no meaning", "leave it out"),
        (URL, {"send": "x", "until": "x", "ca": "ca.pem"}, "does not use TLS", "leave them out"),
        ("http://localhost/", {"until": "x"}, "--until is for raw bytes", "tcp://"),
        ("ws://localhost/", {"send": "x", "until": "x"}, "--until is for raw bytes", "leave it out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    url: str, options: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(PlanError) as refused:
        hit(url, **options)
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize("sent", ["AUTH password\\r\\n", "hex:41555448202870617373776f726429fe"])
def test_what_may_be_a_secret_is_hidden_in_records(sent: str) -> None:
    made = hit(URL, send=sent, until="close")
    recorded = parse_plan(to_toml(made), "recorded").workload["hit"].request[0]
    assert recorded.tcp is not None
    assert recorded.tcp.text == "(hidden)"
