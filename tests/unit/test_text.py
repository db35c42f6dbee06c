"""Addresses taken apart, and why the operating system refused."""

import errno
import os

import pytest

from jostle.text import host_and_port, quoted, reason


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://here/", ("here", 80)),
        ("https://here", ("here", 443)),
        ("https://here:8443/x", ("here", 8443)),
        ("http://[::1]:9000", ("::1", 9000)),
        ("postgresql://me:pw@db.example/shop", ("db.example", 5432)),
        ("http://here:0", ("here", 0)),
    ],
)
def test_where_a_url_leads(url: str, place: tuple[str, int]) -> None:
    assert host_and_port(url) == place


def test_why_an_operation_failed() -> None:
    refused = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    assert reason(refused) == "connection refused"
    assert reason(TimeoutError("timed out")) == "timed out"


def test_every_foreign_line_stands_behind_a_bar() -> None:
    assert quoted("one\n::error::two\n") == "│ one\n│ ::error::two\n│ "
