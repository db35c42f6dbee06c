"""What is this machine itself, and what only looks like it."""

from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis.topics.context import on_loopback
from jostle.host.loopback import host_of, is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1"])
def test_loopback_by_name_and_by_every_spelling_of_its_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "127.example.org", "localhost.example.org", "10.0.0.1", "::2", "[::1]"])
def test_what_only_looks_like_it(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("place", "host"), [("[::1]:80", "::1"), ("127.0.0.1:80", "127.0.0.1"), ("example.org:80", "example.org")]
)
def test_the_host_of_a_place(place: str, host: str) -> None:
    assert host_of(place) == host


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"host": "127.0.0.1"}, True),
        ({"host": "127.example.org"}, False),
        ({"host": "example.org", "connect_to": ["[::1]:80", "unix:/run/app.sock"]}, True),
        ({"host": "localhost", "connect_to": ["127.0.0.1:80", "10.0.0.1:80"]}, False),
        ({"host": "localhost", "connect_to": []}, True),
        ({}, None),
    ],
)
def test_a_load_goes_over_loopback_if_all_its_connections_do(target: Any, expected: bool | None) -> None:
    data: Any = SimpleNamespace(workload=lambda: {"target": target})
    assert on_loopback(data) is expected
