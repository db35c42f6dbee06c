"""Lines of JSON whose values keep the text that they are written with.

The rules are those of the engine's reader of JSON (crates/engine/src/search/json): of several members with
the same name the last counts, a number keeps its digits, a byte order mark is skipped, and half of a
surrogate pair is no character.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jostle.errors import PlanError, nearest

__all__ = ["members", "values"]


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


_TEXTS = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_no_number)
"""Reads numbers as the text that they are written with."""
_BLANK = " \t\n\r"


def members(path: Path, number: int, line: str) -> dict[str, Any]:
    """The members of the object in line `number`. Raises `PlanError`."""
    try:
        found = _TEXTS.decode(line)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise PlanError(f"{path}, line {number}: not JSON: {why}", "write one object in each line") from None
    if not isinstance(found, dict):
        raise PlanError(f"{path}, line {number}: not a JSON object", 'write for example {"user": "ann"}')
    return found


def values(path: Path, number: int, line: str, columns: Sequence[str]) -> list[str]:
    """The text of each column's value: a string without its quotes, all else as it is written."""
    found = members(path, number, line)
    for column in columns:
        if column not in found:
            raise PlanError(f"{path}, line {number}: there is no {column!r}", nearest(column, found))
    written = None
    texts = []
    for column in columns:
        value = found[column]
        if isinstance(value, dict | list):
            written = written if written is not None else _written(line)
            value = written[column]
        text = value if isinstance(value, str) else json.dumps(value)
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise PlanError(
                f"{path}, line {number}: {column!r} has half of a surrogate pair, which is no character",
                "write the character itself, or both halves",
            )
        texts.append(text)
    return texts


def _written(line: str) -> dict[str, str]:
    """The members of the object in a line that was read before, each value as it is written."""
    found = {}
    at = _behind(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _TEXTS.raw_decode(line, at)
        begin = _behind(line, _behind(line, at) + 1)
        _, end = _TEXTS.raw_decode(line, begin)
        found[name] = line[begin:end]
        at = _behind(line, end)
        if line[at] == ",":
            at = _behind(line, at + 1)
    return found


def _behind(line: str, at: int) -> int:
    """The next place that is not white space."""
    while line[at] in _BLANK:
        at += 1
    return at
