"""Requests over WebSockets: how a plan and the command line say them, and what is told of mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan import parse_plan, to_toml
from support.one_request import asked, hit, plan, sent


def test_a_message_is_text_or_json_and_its_answer_is_checked() -> None:
    made = plan('{ ws = "/chat?room=1", send = "hello", expect = "world" }')
    request = asked(made)
    assert (request["method"], request["path"], request["name"]) == ("GET", "/chat?room=1", "/chat?room=1")
    assert request["websocket"] == {"message": "text", "match": "order"}
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


def test_an_answer_may_be_known_by_a_value_of_its_message() -> None:
    made = plan('{ ws = "/", send = { id = 1 }, match = "json:/id", expect = { contains = "ok" } }')
    assert asked(made)["websocket"] == {"message": "text", "match": {"field": "/id"}}
    assert parse_plan(to_toml(made), "again") == made


def test_who_listens_sends_nothing_or_a_subscription() -> None:
    request = asked(plan('{ ws = "/news", stream = { format = "messages", events = 5 } }'))
    assert request["websocket"] == {"message": None, "match": "order"}
    assert (request["body_base64"], request["stream"]["events"]) == (None, 5)
    request = asked(hit("ws://localhost/news", send="subscribe", stream="messages", stall="2s"))
    assert (request["websocket"]["message"], request["stream"]["format"]) == ("text", "messages")


def test_the_scheme_says_whether_it_goes_over_tls() -> None:
    made = hit("wss://example.org/chat", send="x", match="echo", insecure=True)
    assert made.contestant["example.org"].url == "https://example.org:443"
    assert made.title == "wss://example.org:443/chat"
    assert made.workload["hit"].connection.tls.verify is False  # type: ignore[union-attr]
    assert asked(made)["websocket"] == {"message": "text", "match": "echo"}
    assert hit("ws://localhost/", send="x").contestant["localhost"].url == "http://localhost:80"


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
        ('{ ws = "/", send = "x", match = "echo", expect = "y" }', "says already what the answer is", ""),
        ('{ ws = "/", send = "x", stream = "sse" }', "sse do not come this way", "WebSocket"),
        ('{ get = "/", stream = "messages" }', "messages do not come this way", "WebSocket"),
        ('{ get = "/", send = "x" }', "send is for a WebSocket", "ws ="),
        ('{ get = "/", match = "echo" }', "match is for a WebSocket", "ws ="),
        ('{ ws = "/{n}", send = "x", params.n = ["1"] }', "has no parameters", "%7B"),
        ('{ ws = "/", send = "x", params.n = ["1"] }', "params.n is not used in what is sent", "{n}"),
        ('{ ws = "/", send = "x", headers = { Upgrade = "h2c" } }', "belongs to the handshake", ""),
        ('{ ws = "/", send = 2026-11-23 }', "send holds what JSON has not", ""),
        ('[{ ws = "/a", send = "x" }, { ws = "/b", send = "x" }]', "go over one WebSocket", "the same ws"),
        ('[{ ws = "/a", send = "x" }, { get = "/b" }]', "go over one WebSocket", "another workload"),
    ],
)
def test_a_mistake_is_told_with_its_place(request_: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan(request_)
    assert "workload.w" in refused.value.message
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_several_messages_of_one_socket_are_a_mix() -> None:
    made = plan('[{ ws = "/", name = "a", send = "x", weight = 3 }, { ws = "/", name = "b", send = "y" }]')
    assert [request.label for request in made.workload["w"].request] == ["a", "b"]


def test_redirects_are_for_http() -> None:
    with pytest.raises(PlanError, match="redirects are not followed by a WebSocket"):
        plan('{ ws = "/", send = "x" }', "redirects = 3")


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
    ],
)
def test_options_that_do_not_go_together_are_refused(
    url: str, options: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(PlanError) as refused:
        hit(url, **options)
    assert message in refused.value.message
    assert hint in refused.value.hint
