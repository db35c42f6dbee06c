"""What a page posts: an object of JSON with one key, of a bounded size."""

import json
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from jostle.units import format_bytes

__all__ = ["posted"]

T = TypeVar("T", str, dict[str, object])

LOOKS = {str: '"…"', dict: "{…}"}
"""How a value of each type looks in JSON."""


async def posted(request: Request, name: str, kind: type[T], max_bytes: int) -> T:
    """The value of the key `name`. No more than `max_bytes` are ever read.

    Raises HTTPException: 413 for a longer body, 400 for one that is something else.
    """
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > max_bytes:
                raise HTTPException(413, f"This is too long: {format_bytes(max_bytes)} are allowed.")
        value = json.loads(content)[name]
        json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be written anywhere
    except ClientDisconnect:
        raise HTTPException(400, "This ended too early.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise HTTPException(400, f'This must be JSON: {{"{name}": {LOOKS[kind]}}}')
    return value
