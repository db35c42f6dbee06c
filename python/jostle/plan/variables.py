"""Variables of a journey: `{name}` in a path, a header, a body or a condition.

A variable is what a step captures, a column of a feed, or built in. `{name:raw}` is the value without
escapes. Other braces are text, so that JSON needs no escapes of its own.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from jostle.errors import BadValue

__all__ = ["BUILT_IN", "GAP", "NAME", "RAW", "as_in_forms", "built_in", "names_in", "url_in", "without_raw"]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
RAW = ":raw"

BUILT_IN = ("uuid", "now", "client", "iteration", "random:1..100")

GAP = re.compile(r"\{((?:random:[^{}\s\"]*)|(?:[A-Za-z_][A-Za-z0-9_.-]*(?::raw)?))\}")
"""A place to be filled in; its name is the first group."""

_RANDOM = re.compile(r"random:(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})")


def names_in(value: Any) -> Iterator[str]:
    """The names between braces in a text, and in all texts of JSON data, as they stand there."""
    if isinstance(value, str):
        yield from GAP.findall(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from names_in(key)
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


def without_raw(name: str) -> str:
    return name.removesuffix(RAW)


def url_in(path: str) -> str | None:
    """The variable, as it stands there, where a path is nothing else: it is a whole URL then."""
    found = GAP.fullmatch(path)
    return None if found is None else found[1]


def as_in_forms(text: str) -> str:
    """Encoded as a form sends it; `{name}` stays, and its value is encoded when it is filled in."""
    end, parts = 0, []
    for found in GAP.finditer(text):
        parts += [quote_plus(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, quote_plus(text[end:])])


def built_in(name: str) -> Any:
    """Of a built-in variable, the engine's `ParamSpec`; None for any other name.

    Raises `BadValue` for a range that is none.
    """
    if name in ("uuid", "now", "client", "iteration"):
        return name
    if not name.startswith("random:"):
        return None
    found = _RANDOM.fullmatch(name)
    if found is None or int(found[1]) > int(found[2]):
        raise BadValue(f"{{{name}}} is not a range of whole numbers", "write for example {random:1..100}")
    return {"range": {"from": int(found[1]), "to": int(found[2])}}
