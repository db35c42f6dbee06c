"""Requests that are datagrams: how a plan and the command line say them, and what is told of mistakes."""

from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan import parse_plan, to_toml
from support.one_request import asked, hit, plan, sent

URL = "udp://localhost:53"


def test_a_query_has_a_number_and_parameters_between_its_bytes() -> None:
    made = plan('{ udp = { hex = "{id:u16} 0100 {n} 00" }, match = "bytes:0..2", params.n = ["a", "b"] }')
    request = asked(made)
    assert (request["name"], request["method"], request["path"]) == ("udp", "GET", "/")
    assert sent(request) == b"{id:u16}\x01\x00{n}\x00"
    assert request["params"] == {"n": {"choice": ["a", "b"]}, "id:u16": {"serial": {"bytes": 2}}}
    assert request["datagram"] == {"match": {"bytes": {"from": 0, "to": 2}}}
    assert request["raw"] is None
    assert parse_plan(to_toml(made), "again") == made


@pytest.mark.parametrize(
    ("match", "spec"),
    [
        (None, "order"),
        ("echo", "echo"),
        ("bytes:4..12", {"bytes": {"from": 4, "to": 12}}),
        (r"regex:id=(\d+)", {"regex": r"id=(\d+)"}),
    ],
)
def test_the_command_line_says_which_datagram_is_the_response(match: str | None, spec: Any) -> None:
    request = asked(hit(URL, send="ping {id:u64}", match=match))
    assert request["datagram"] == {"match": spec}
    assert request["params"] == {"id:u64": {"serial": {"bytes": 8}}}
    assert sent(request) == b"ping {id:u64}"


def test_the_contestant_of_a_hit_takes_datagrams() -> None:
    (contestant,) = hit(URL, send="x").contestant.values()
    assert contestant.url == URL


def test_numbers_stand_in_what_is_sent_over_tcp_too() -> None:
    request = asked(hit("tcp://localhost:53", send="hex:001d {id:u16}", until="length:2"))
    assert sent(request) == b"\x00\x1d{id:u16}"
    assert request["params"] == {"id:u16": {"serial": {"bytes": 2}}}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("redirects = 3", "redirects has no meaning"),
        ("connection = { http2 = {} }", "http2 has no meaning"),
        ("connection = { tls = {} }", "without TLS"),
        ('connection = { connect-to = ["unix:/run/x"] }', "datagrams go over UDP"),
    ],
)
def test_what_belongs_to_connections_is_refused(more: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan('{ udp = "x" }', more)


def test_what_may_be_a_secret_is_hidden_in_records() -> None:
    made = hit(URL, send="hex:{id:u16} 70617373776f7264", match="bytes:0..2")
    recorded = parse_plan(to_toml(made), "recorded").workload["hit"].request[0]
    assert recorded.udp is not None
    assert recorded.udp.text == "(hidden)"
