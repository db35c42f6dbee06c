"""Requests of raw bytes: how a plan and the command line say them, and what is told of mistakes."""

import base64
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import BadValue, PlanError
from jostle.plan import parse_plan, to_toml
from jostle.plan.requests.raw import unescaped
from support.one_request import asked, hit, plan, sent

URL = "tcp://localhost:6379"


def delimiter(data: bytes) -> dict[str, Any]:
    return {"until": {"delimiter-base64": base64.b64encode(data).decode()}}


def test_a_text_is_sent_and_its_response_ends_with_a_text() -> None:
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
def test_a_response_ends_as_the_plan_says(until: str, spec: dict[str, Any]) -> None:
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


def test_a_number_of_a_width_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PlanError, match=r"--send: \{id:u24\} has an unknown width"):
        hit(URL, send="x{id:u24}", until="close")
    assert sent(asked(hit(URL, send="{id:x24} {id}", until="close"))) == b"{id:x24} {id}"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("redirects = 3", "redirects has no meaning"),
        ("connection = { http2 = {} }", "http2 has no meaning"),
        ('body-limit = "10B"', "longer than body-limit"),
    ],
)
def test_what_belongs_to_http_or_ends_before_the_response_is_refused(more: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan('{ tcp = "x", until = { length = 11 } }', more)


@pytest.mark.parametrize("sent", ["AUTH password\\r\\n", "hex:41555448202870617373776f726429fe"])
def test_what_may_be_a_secret_is_hidden_in_records(sent: str) -> None:
    made = hit(URL, send=sent, until="close")
    recorded = parse_plan(to_toml(made), "recorded").workload["hit"].request[0]
    assert recorded.tcp is not None
    assert recorded.tcp.text == "(hidden)"
