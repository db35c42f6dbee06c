"""The header lines that curl sends: those of -H, and its own unless they are taken out."""

import re
from collections.abc import Callable, Iterable, Mapping

from jostle.plan.curl.data import content

__all__ = ["DEFAULTS", "Headers", "added", "custom_headers"]

DEFAULTS = {"User-Agent": "curl/7.88.1", "Accept": "*/*"}

_LINE = re.compile(r"([^:]*):[ \t]*(.*)", re.DOTALL)
_EMPTY = re.compile(r"([^:;]*);\s*")

Headers = list[tuple[str, str]]


def custom_headers(given: Iterable[str], stdin: Callable[[], bytes]) -> tuple[Headers, set[str]]:
    """The header lines of -H, and the lower-case names that curl does not add itself because of them.

    `Name: value` is sent; `Name;` is sent without a value; `Name:` only takes curl's own header out.
    """
    sent: Headers = []
    named: set[str] = set()
    for line in _lines(given, stdin):
        if found := _LINE.fullmatch(line):
            named.add(found[1].lower())
            if found[2].strip():
                sent.append((found[1], found[2].rstrip()))
        elif found := _EMPTY.fullmatch(line):
            named.add(found[1].lower())
            sent.append((found[1], ""))
    return sent, named


def _lines(given: Iterable[str], stdin: Callable[[], bytes]) -> Iterable[str]:
    for value in given:
        if value.startswith("@"):
            yield from content(value[1:], stdin).decode("utf-8", "replace").splitlines()
        else:
            yield value


def added(headers: Headers, named: set[str], own: Mapping[str, str]) -> Headers:
    """The headers, and those of curl's own that -H does not name."""
    return [*headers, *((name, value) for name, value in own.items() if name.lower() not in named)]
