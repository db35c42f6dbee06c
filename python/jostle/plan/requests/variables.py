"""Variables of a journey: `{name}` in a path, a header, a body or a condition.

A variable is what a step captures, a column of a feed, or built in. Behind its name may stand how its value
is written (`KINDS`): `{name:raw}`. Other braces are plain text, so that JSON can be written as it is.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from jostle.errors import BadValue

__all__ = [
    "BUILT_IN",
    "GAP",
    "KINDS",
    "NAME",
    "RAW",
    "as_in_forms",
    "as_json",
    "built_in",
    "kind_of",
    "names_in",
    "unknown_kinds",
    "url_in",
    "without_kind",
]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
RAW = ":raw"
KINDS = ("raw", "number", "json")
"""How a value is written, if not escaped as its place needs it: as it is; as it is, if it is a JSON number;
as it is, if it is JSON. The latter two are for JSON only, where they take the place of a whole value."""

BUILT_IN = ("uuid", "now", "client", "iteration", "random:1..100")

_KIND = "(?::(?:" + "|".join(KINDS) + "))?"
GAP = re.compile(r"\{((?:random:[^{}\s\"]*)|(?:[A-Za-z_][A-Za-z0-9_.-]*" + _KIND + r"))\}")
"""A place to be filled in; its name is the first group."""

_RANDOM = re.compile(r"random:(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})")
_OTHER_KIND = re.compile(r"\{(?!random:)([A-Za-z_][A-Za-z0-9_.-]*):([A-Za-z_][A-Za-z0-9_]*)\}")
_WHOLE = re.compile(r'"(\{[^{}\s"]+:(?:number|json)\})"')
"""A string of JSON that is nothing but a variable that takes the place of a value."""


def names_in(value: Any) -> Iterator[str]:
    """The names between braces in a text, or in all texts of JSON data, as written (with `:raw`)."""
    for text in _texts(value):
        yield from GAP.findall(text)


def unknown_kinds(value: Any) -> Iterator[tuple[str, str]]:
    """The names between braces with what stands behind their colon, where that is no kind."""
    for text in _texts(value):
        yield from ((name, kind) for name, kind in _OTHER_KIND.findall(text) if kind not in KINDS)


def kind_of(name: str) -> str:
    """How the value of a variable is written, which stands behind its name; "" where nothing does."""
    _, colon, kind = name.rpartition(":")
    return kind if colon and kind in KINDS else ""


def without_kind(name: str) -> str:
    kind = kind_of(name)
    return name.removesuffix(f":{kind}") if kind else name


def as_json(value: Any, **options: Any) -> str:
    """`value` as JSON text, in which `{name:number}` and `{name:json}` take the place of whole strings.

    `options` are those of `json.dumps`. Raises `BadValue` where such a variable is only a part of a string.
    """
    for text in _texts(value):
        for name in GAP.findall(text):
            if kind_of(name) in ("number", "json") and text != f"{{{name}}}":
                raise BadValue(
                    f"{{{name}}} is only a part of the text {text!r}, and takes the place of a whole value",
                    f'write "{{{name}}}" alone, or {{{without_kind(name)}}}',
                )
    return _WHOLE.sub(r"\1", json.dumps(value, ensure_ascii=False, **options))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


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
