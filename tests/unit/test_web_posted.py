"""What a page posts is read up to a bound, and is one key of JSON or a sentence."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from jostle.web.posted import posted


def received(parts: Sequence[bytes | None], kind: Any = str, max_bytes: int = 100) -> Any:
    """What is made of a body that comes in these parts; None: the client leaves."""
    coming = iter(parts)

    async def receive() -> Any:
        if (part := next(coming)) is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": part != parts[-1]}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    return asyncio.run(posted(request, "plan", kind, max_bytes))


def refused(*parts: bytes | None, kind: Any = str) -> tuple[int, str]:
    with pytest.raises(HTTPException) as error:
        received(parts, kind)
    return error.value.status_code, error.value.detail


def test_a_body_may_come_in_parts() -> None:
    assert received([b'{"pl', b'an": "', "ü".encode(), b'"}']) == "ü"
    assert received([b'{"plan": {"url": 1}, "more": 2}'], dict) == {"url": 1}


def test_a_body_that_is_too_long_is_not_read_to_its_end() -> None:
    exactly = json.dumps({"plan": "x" * 88}).encode()
    assert len(exactly) == 100
    assert received([exactly]) == "x" * 88
    assert refused(exactly, b" ") == (413, "This is too long: 100 B are allowed.")
    left_unread = None
    assert refused(b"x" * 30, b"x" * 30, b"x" * 30, b"x" * 30, left_unread)[0] == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plan",
        b"[]",
        b"3",
        b'"plan"',
        b"null",
        b"{}",
        b'{"plan": 3}',
        b'{"plan": ["x"]}',
        b'{"plan": null}',
        b'{"plan": {"a": "b"}}',
        b'{"plan": "\\ud800"}',
        b'{"plan": "\xff"}',
        b"\xff\xfe",
        b"[" * 99,
    ],
)
def test_what_is_no_such_object_is_told_what_it_should_be(body: bytes) -> None:
    assert refused(body) == (400, 'This must be JSON: {"plan": "…"}')


def test_depth_is_no_way_to_break_it() -> None:
    with pytest.raises(HTTPException) as error:
        received([b"[" * 200_000], max_bytes=400_000)
    assert error.value.status_code == 400


def test_a_form_is_an_object() -> None:
    assert refused(b'{"plan": "x"}', kind=dict) == (400, 'This must be JSON: {"plan": {…}}')


def test_who_leaves_meanwhile_is_no_fault_of_ours() -> None:
    assert refused(b'{"plan": "x', None) == (400, "This ended too early.")
