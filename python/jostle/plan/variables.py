"""Variables of a journey: `{name}` in a path, a header, a body or a condition.

A variable is what a step captures, a column of a feed, or built in. `{name:raw}` inserts the value without
escaping it. Other braces are plain text, so that JSON can be written as it is.
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
    """The names between braces in a text, or in all texts of JSON data, as written (with `:raw`)."""
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
    """The variable (as written) if the path is nothing else, since it is then a whole URL; else None."""
    found = GAP.fullmatch(path)
    return None if found is None else found[1]


def as_in_forms(text: str) -> str:
    """Encode `text` as a form sends it. `{name}` stays; its value is encoded when it is filled in."""
    end, parts = 0, []
    for found in GAP.finditer(text):
        parts += [quote_plus(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, quote_plus(text[end:])])


def built_in(name: str) -> Any:
    """The engine's `ParamSpec` of a built-in variable; None for any other name.

    Raises `BadValue` for a range that is not valid.
    """
    if name in ("uuid", "now", "client", "iteration"):
        return name
    if not name.startswith("random:"):
        return None
    found = _RANDOM.fullmatch(name)
    if found is None or int(found[1]) > int(found[2]):
        raise BadValue(f"{{{name}}} is not a range of whole numbers", "write for example {random:1..100}")
    return {"range": {"from": int(found[1]), "to": int(found[2])}}
