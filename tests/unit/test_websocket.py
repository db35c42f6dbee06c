"""Requests over WebSockets: how a plan and the command line say them, and what is told of mistakes."""

import json
from pathlib import Path

import pytest

from jostle.errors import PlanError
from jostle.plan import parse_plan, to_toml
from support.one_request import asked, hit, plan, sent


def test_a_message_is_text_or_json_and_its_response_is_checked() -> None:
    made = plan('{ ws = "/chat?room=1", send = "hello", expect = "world" }')
    request = asked(made)
    assert (request["method"], request["path"], request["name"]) == ("GET", "/chat?room=1", "/chat?room=1")
    assert request["websocket"] == {"message": "text", "match": "order", "ping_ns": None}
    assert sent(request) == b"hello"
    assert request["expect"]["body"] == {"exact": "world"}
    assert parse_plan(to_toml(made), "again") == made
    table = plan('{ ws = "/", send = { id = "{n}", tags = ["ü"] }, params.n = { from = 1, to = 9 } }')
    assert json.loads(sent(asked(table))) == {"id": "{n}", "tags": ["ü"]}
    assert asked(table)["params"] == {"n": {"range": {"from": 1, "to": 9}}}
    assert parse_plan(to_toml(table), "again") == table


def test_braces_of_a_message_are_text_unless_they_name_a_parameter() -> None:
    assert sent(asked(plan("{ ws = '/', send = '{\"a\": {b}}' }"))) == b'{"a": {b}}'


def test_a_file_is_text_if_it_is_utf_8_and_else_binary(tmp_path: Path) -> None:
    for content, kind in ((b"gr\xc3\xbc\xc3\x9fe", "text"), (b"\xff\x00", "binary")):
        file = tmp_path / "message"
        file.write_bytes(content)
        request = asked(hit("ws://localhost/", send=f"@{file}"))
        assert (request["websocket"]["message"], sent(request)) == (kind, content)


def test_a_response_may_be_known_by_a_value_of_its_message() -> None:
    made = plan('{ ws = "/", send = { id = 1 }, match = "json:/id", expect = { contains = "ok" } }')
    assert asked(made)["websocket"] == {"message": "text", "match": {"field": "/id"}, "ping_ns": None}
    assert parse_plan(to_toml(made), "again") == made


def test_who_listens_sends_nothing_or_a_subscription() -> None:
    request = asked(plan('{ ws = "/news", stream = { format = "messages", events = 5 } }'))
    assert request["websocket"] == {"message": None, "match": "order", "ping_ns": None}
    assert (request["body_base64"], request["stream"]["events"]) == (None, 5)
    request = asked(hit("ws://localhost/news", send="subscribe", stream="messages", stall="2s"))
    assert (request["websocket"]["message"], request["stream"]["format"]) == ("text", "messages")


def test_the_scheme_says_whether_it_goes_over_tls() -> None:
    made = hit("wss://example.org/chat", send="x", match="echo", insecure=True)
    assert made.contestant["example.org"].url == "https://example.org:443"
    assert made.title == "wss://example.org:443/chat"
    assert made.workload["hit"].connection.tls.verify is False  # type: ignore[union-attr]
    assert asked(made)["websocket"] == {"message": "text", "match": "echo", "ping_ns": None}
    assert hit("ws://localhost/", send="x").contestant["localhost"].url == "http://localhost:80"


def test_several_messages_of_one_socket_are_a_mix() -> None:
    made = plan('[{ ws = "/", name = "a", send = "x", weight = 3 }, { ws = "/", name = "b", send = "y" }]')
    assert [request.label for request in made.workload["w"].request] == ["a", "b"]


def test_redirects_are_for_http() -> None:
    with pytest.raises(PlanError, match="redirects are not followed by a WebSocket"):
        plan('{ ws = "/", send = "x" }', "redirects = 3")


def test_clients_may_ping_their_sockets() -> None:
    made = plan('{ ws = "/", send = "x", ping = "20s" }')
    assert asked(made)["websocket"]["ping_ns"] == 20_000_000_000
    assert parse_plan(to_toml(made), "again") == made
    assert asked(hit("ws://localhost/", send="x", ping="1.5s"))["websocket"]["ping_ns"] == 1_500_000_000


def test_a_ping_is_for_a_socket_and_the_same_for_all_messages_of_it() -> None:
    with pytest.raises(PlanError, match="ping is for a WebSocket"):
        plan('{ get = "/", ping = "20s" }')
    with pytest.raises(PlanError, match="ping is for a WebSocket, and the URL is of HTTP"):
        hit("http://localhost/", ping="20s")
    with pytest.raises(PlanError, match="ping has no meaning for raw bytes"):
        hit("tcp://localhost:1", send="x", until="close", ping="20s")
    with pytest.raises(PlanError, match="ping has no meaning for gRPC"):
        hit("grpc://localhost:1/a.B/C", ping="20s")
    with pytest.raises(PlanError, match="go over one WebSocket"):
        plan('[{ ws = "/", name = "a", send = "x", ping = "1s" }, { ws = "/", name = "b", send = "y" }]')
