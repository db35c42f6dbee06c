"""A login, a socket that only its token opens, and messages over it, on Python's own HTTP server."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

JOURNEY = """
[journey.chat]
feed = { csv = "users.csv", each = "client" }
steps = [
  { name = "login", post = "/login", json = { user = "{user}" }, capture = { token = "json:/token" } },
  { name = "join", ws = "/chat?room={user}", headers = { Authorization = "Bearer {token}" }, send = { id = "{iteration}", join = "{user}" }, match = "json:/id", capture = { place = "json:/place" } },
  { name = "say", ws = "/chat?room={user}", headers = { Authorization = "Bearer {token}" }, send = { id = "x", say = "{place}" }, match = "json:/id", expect = { contains = '"place": 2' }, close = true },
  { name = "logout", post = "/logout", json = { token = "{token}" } },
]
"""  # noqa: E501

TEXT, CLOSE = 0x81, 0x88


class Chat(Handler):
    """Sockets are for those who have logged in; each message comes back with its number, after news."""

    said: ClassVar[list[str]] = []
    opened: ClassVar[list[str]] = []
    token: ClassVar[str] = "t-"

    def do_POST(self) -> None:
        user = json.loads(self.body()).get("user")
        self.response(200, json.dumps({"token": f"{Chat.token}{user}"}))

    def do_GET(self) -> None:
        user = self.path.partition("room=")[2]
        if self.headers["Authorization"] != f"Bearer t-{user}":
            self.response(401)
            return
        Chat.opened.append(user)
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode(), usedforsecurity=False).digest()).decode()
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade")):
            self.send_header(name, value)
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        place = 0
        while (message := self._message()) is not None:
            place += 1
            Chat.said.append(message)
            self._send('"news"')
            self._send(json.dumps({**json.loads(message), "place": place}))
        self.close_connection = True

    def _message(self) -> str | None:
        first, length = self.rfile.read(2)
        mask = self.rfile.read(4)
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(length & 0x7F)))
        return payload.decode() if first == TEXT else None

    def _send(self, message: str) -> None:
        self.wfile.write(bytes([TEXT, len(message)]) + message.encode())


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    (tmp_path / "users.csv").write_text("user\nann\nbob\n", encoding="utf-8")
    file = tmp_path / "chat.toml"
    file.write_text(JOURNEY, encoding="utf-8")
    Chat.said.clear()
    Chat.opened.clear()
    Chat.token = "t-"
    with serving(Chat) as url:
        yield url, file


def test_a_token_opens_a_socket_and_answers_there_are_carried_on(
    jostle_command: Jostle, chat: tuple[str, Path]
) -> None:
    url, file = chat
    result = as_json(jostle_command("hit", url, "--journey", str(file), "-c", "2", "-n", "6", "--json"))
    assert result["trials"][0]["outcomes"] == {"ok": 24}
    (found,) = result["journeys"]
    assert found["completed"] == 6
    assert [step["name"] for step in found["steps"]] == ["login", "join", "say", "logout"]
    assert sorted(set(Chat.opened)) == ["ann", "bob"]
    assert len(Chat.opened) == 6, "each journey closes its socket"
    says = [json.loads(message) for message in Chat.said]
    assert [message for message in says if message["id"] == "x"] == [{"id": "x", "say": "1"}] * 6
    assert {message["join"] for message in says if "join" in message} == {"ann", "bob"}


def test_an_open_load_and_one_that_is_tried_go_the_same_way(
    jostle_command: Jostle, chat: tuple[str, Path]
) -> None:
    url, file = chat
    options = ["--journey", str(file), "-r", "20/s", "-n", "4", "--json"]
    assert as_json(jostle_command("hit", url, *options))["trials"][0]["outcomes"] == {"ok": 16}
    said = jostle_command("hit", url, "--journey", str(file), "--once").stdout
    for line in (
        "2. join: ok",
        "> GET /chat?room=ann HTTP/1.1",
        '> {"id": "1", "join": "ann"}',
        '< {"id": "1", "join": "ann", "place": 1}',
        "place = 1",
        '> {"id": "x", "say": "1"}',
        "completed",
    ):
        assert line in said, said


def test_who_has_no_token_gets_no_socket_and_the_journey_ends_there(
    jostle_command: Jostle, chat: tuple[str, Path]
) -> None:
    url, file = chat
    Chat.token = "other-"
    result: dict[str, Any] = as_json(
        jostle_command("hit", url, "--journey", str(file), "-c", "1", "-n", "2", "--json")
    )
    assert result["trials"][0]["outcomes"] == {"ok": 2, "upgrade_refused": 2}
    assert result["journeys"][0]["completed"] == 0
