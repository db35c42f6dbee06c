"""A file with a URL in each line, as wrk, oha, siege and vegeta users have it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import BadValue
from jostle.plan.requests.request import METHODS
from jostle.text import read_text, reason

__all__ = ["MAX_URLS", "UrlLine", "read_url_list"]

MAX_URLS = 2_000
"""The most URLs of a list or a command: each has its own figures, and their analysis takes some seconds."""

_LINE = re.compile(r"(?:([A-Za-z-]+)\s+)?(\S+?)(?:\s+(\d{1,9}))?")
_EXAMPLE = (
    "write a URL in each line, with a method before it and a weight behind it if you like: POST /orders 3"
)


@dataclass(frozen=True)
class UrlLine:
    """A line of a list of URLs, with those that are equal to it."""

    number: int
    """The first line that says this."""
    method: str
    url: str
    weight: int
    """That of all such lines together."""


def read_url_list(file: Path, method: str = "GET") -> list[UrlLine]:
    """The lines of a list. `method`: where a line names none. Lines that begin with # say nothing.

    Raises `BadValue` with the number of a wrong line.
    """
    found: dict[tuple[str, str], UrlLine] = {}
    for line in _lines(file, method):
        key = (line.method, line.url)
        before = found.get(key)
        found[key] = (
            line
            if before is None
            else UrlLine(before.number, line.method, line.url, before.weight + line.weight)
        )
    if not found:
        raise BadValue(f"{file} has no URL", _EXAMPLE)
    if len(found) > MAX_URLS:
        raise BadValue(
            f"{file} has {len(found):,} different URLs, and each is measured by itself",
            f"at most {MAX_URLS:,}; for more, write a plan: params = {{ path = {{ csv = … }} }}",
        )
    return list(found.values())


def _lines(file: Path, method: str) -> Iterator[UrlLine]:
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"{file} cannot be read: {reason(error)}", _EXAMPLE) from None
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        found = _LINE.fullmatch(written)
        if found is None:
            raise BadValue(f"{file}, line {number}: {written!r} is no URL", _EXAMPLE)
        weight = int(found[3] or 1)
        if weight == 0:
            raise BadValue(
                f"{file}, line {number}: a weight of 0 sends nothing",
                "leave the line out, or write # before it",
            )
        name = found[1] or method
        yield UrlLine(number, name.upper() if name.lower() in METHODS else name, found[2], weight)
