"""What the contract asks of a WebSocket, asked of a server that does it, and of some that do not."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from jostle.contestant.checks import CheckedServer, WrongResponse
from jostle.contestant.websocket import Echoes, Pushes
from support.real import reference_server


@pytest.fixture(scope="module")
def target() -> Iterator[CheckedServer]:
    with reference_server("websocket") as url:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        yield CheckedServer(parts.hostname, parts.port)


def test_messages_short_and_long_come_back_in_order(target: CheckedServer) -> None:
    Echoes("/echo", ["one", "two " * 500, "drei: äöü", ""])(target)


def test_other_messages_than_those_sent_are_told(target: CheckedServer) -> None:
    with pytest.raises(WrongResponse, match=r"GET /echo\?noise=1: .* instead of 'one'"):
        Echoes("/echo?noise=1", ["one"])(target)


def test_other_messages_than_those_expected_are_told(target: CheckedServer) -> None:
    with pytest.raises(WrongResponse, match="instead of 'other'"):
        Pushes("/push?n=2&gap-ms=1&first-ms=1", ["other"])(target)


def test_a_route_that_is_no_websocket_is_told(target: CheckedServer) -> None:
    with pytest.raises(WrongResponse, match="no upgrade to WebSocket"):
        Echoes("/nothing-of-that-name", ["one"])(target)


def test_a_server_that_speaks_http_only_is_told() -> None:
    with reference_server("run-to-completion") as url:
        port = urlsplit(url).port
        assert port is not None
        with pytest.raises(WrongResponse, match="no upgrade to WebSocket"):
            Pushes("/hello", [])(CheckedServer("127.0.0.1", port))
