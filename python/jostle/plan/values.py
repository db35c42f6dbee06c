"""The values of a plan that are written as text: durations, rates, counts, think times, parameters, files.

Each type reads what a person writes, refuses a wrong value with an example of a right one, and writes itself
back so that it reads the same again.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from jostle import units
from jostle.errors import BadValue, PlanError
from jostle.plan.files.csv_file import SEPARATORS, csv_rows

__all__ = [
    "PARAMETER",
    "Count",
    "Duration",
    "File",
    "Param",
    "Params",
    "PositiveCount",
    "PositiveDuration",
    "PositiveRate",
    "Rate",
    "Share",
    "Size",
    "Think",
    "ThinkTime",
    "check_json",
    "check_regex",
    "file_named",
    "positive_count",
    "shown",
]

MAX_COUNT = 2**53
"""The largest count: integers up to here stay exact in JSON."""


PARAMETER = r"\{[^{}]+\}"
"""A placeholder that a parameter's value replaces before the plan is read."""


def shown(value: Any) -> str:
    """A value as it is written in TOML."""
    return (
        f'"{value}"'
        if isinstance(value, str)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def _duration(value: Any) -> float:
    if isinstance(value, str):
        return units.duration(value)
    if value == 0 and not isinstance(value, bool):
        return 0.0
    raise BadValue(f"{shown(value)} has no unit of time", 'write for example "500ms", "5s" or "20m"')


def _positive_duration(value: Any) -> float:
    seconds = _duration(value)
    if seconds == 0:
        raise BadValue("a time of zero", 'leave it out if there is to be none, or write for example "5s"')
    return seconds


MAX_PER_S = 1e9
"""The highest rate per second: the engine counts in nanoseconds."""


def _rate(value: Any) -> float:
    if not isinstance(value, str):
        raise BadValue(f"{shown(value)} does not say per what time", 'write for example "1000/s" or "60/min"')
    per_s = units.rate(value)
    if per_s > MAX_PER_S:
        raise BadValue(f"{value!r} is too much", f"at most {MAX_PER_S:,.0f}/s")
    return per_s


def _positive_rate(value: Any) -> float:
    per_s = _rate(value)
    if per_s == 0:
        raise BadValue("a rate of zero sends nothing", 'write for example "1000/s" or "60/min"')
    return per_s


def _count(value: Any) -> int:
    if isinstance(value, str):
        value = units.count(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadValue(f"{shown(value)} is not a whole number", 'write for example 50, 10_000 or "10k"')
    if not 0 <= value <= MAX_COUNT:
        problem = "is negative" if value < 0 else "is too much"
        raise BadValue(f"{value} {problem}", 'write for example 50, 10_000 or "10k"')
    return value


def positive_count(value: Any) -> int:
    number = _count(value)
    if number == 0:
        raise BadValue("zero", "at least 1")
    return number


def _share(value: Any) -> Any:
    return units.share(value) if isinstance(value, str) else value


def _text_schema(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^({pattern}|{PARAMETER})$", "examples": [example]})


def _count_schema(minimum: int) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": minimum},
                {"type": "string", "pattern": f"^([0-9][0-9_,.]*\\s*([kM]|([kKMG]i?)?B)?|{PARAMETER})$"},
            ]
        }
    )


_WRITE_DURATION = PlainSerializer(units.exact_duration, return_type=str)
_WRITE_RATE = PlainSerializer(lambda per_s: f"{units.exact_number(per_s)}/s", return_type=str)
_TIME_PATTERN = r"\s*([0-9][0-9_,.]*\s*(ns|us|µs|ms|s|m|min|h)\s*)+"
_TIME_SCHEMA = _text_schema(_TIME_PATTERN, "5s")
_RATE_SCHEMA = _text_schema(r"\s*[0-9][0-9_,.eE+-]*\s*[kM]?\s*/\s*(ms|s|sec|m|min|h)\s*", "1000/s")


def _size(value: Any) -> int:
    return units.size(value) if isinstance(value, str) else positive_count(value)


Share = Annotated[float, BeforeValidator(_share), WithJsonSchema({"type": ["string", "number"]})]
Size = Annotated[int, BeforeValidator(_size), _count_schema(1)]
"""Bytes."""
Duration = Annotated[float, BeforeValidator(_duration), _WRITE_DURATION, _TIME_SCHEMA]
"""Seconds; may be zero."""
PositiveDuration = Annotated[float, BeforeValidator(_positive_duration), _WRITE_DURATION, _TIME_SCHEMA]
Rate = Annotated[float, BeforeValidator(_rate), _WRITE_RATE, _RATE_SCHEMA]
"""Per second; may be zero."""
PositiveRate = Annotated[float, BeforeValidator(_positive_rate), _WRITE_RATE, _RATE_SCHEMA]
Count = Annotated[int, BeforeValidator(_count), _count_schema(0)]
PositiveCount = Annotated[int, BeforeValidator(positive_count), _count_schema(1)]


@dataclass(frozen=True)
class Think:
    """A client's pause between a response and its next request."""

    text: str | tuple[str, ...] = "0s"
    kind: Literal["none", "constant", "uniform", "exponential", "list"] = "none"
    seconds: float = 0.0
    """The pause, or its mean."""
    spread: float = 0.0
    """Half the width of a uniform distribution, as a share of the mean."""
    turns: tuple[float, ...] = ()
    """The pauses of a list in seconds, taken in turn."""

    @property
    def mean_s(self) -> float:
        return sum(self.turns) / len(self.turns) if self.turns else self.seconds

    @classmethod
    def read(cls, value: Any) -> "Think":
        """Read "1s", "900ms ± 10%", "uniform 0s..1s", "exponential 1s" or a list of durations."""
        if isinstance(value, Think):
            return value
        if isinstance(value, list) and value:
            return cls(tuple(map(str, value)), "list", turns=tuple(_duration(turn) for turn in value))
        if value == 0 and not isinstance(value, bool):
            return cls()
        if not isinstance(value, str):
            raise BadValue(f"{shown(value)} is not a think time", _THINK_EXAMPLES)
        try:
            return cls._from_text(value)
        except BadValue as error:
            raise BadValue(error.message, _THINK_EXAMPLES) from None

    @classmethod
    def _from_text(cls, text: str) -> "Think":
        word, _, rest = text.strip().partition(" ")
        if word == "exponential":
            return cls(text, "exponential", _positive_duration(rest))
        if word == "uniform":
            low, dots, high = rest.partition("..")
            if not dots:
                raise BadValue(f"{text!r} does not say from where to where")
            return cls._uniform(text, units.duration(low), units.duration(high))
        mean, sign, spread = text.replace("+-", "±").replace("+/-", "±").partition("±")
        seconds = units.duration(mean)
        if sign and seconds and (part := units.share(spread)):
            return cls(text, "uniform", seconds, part)
        return cls(text, "constant", seconds) if seconds else cls(text)

    @classmethod
    def _uniform(cls, text: str, low: float, high: float) -> "Think":
        if high < low:
            raise BadValue(f"{text!r} ends before it begins")
        if low == high:
            return cls(text, "constant", low) if low else cls(text)
        return cls(text, "uniform", (low + high) / 2, (high - low) / (high + low))


_THINK_EXAMPLES = (
    'write for example "1s", "900ms ± 10%", "uniform 0s..1s", "exponential 1s" or, in turn, ["100ms", "2s"]'
)

ThinkTime = Annotated[
    Think,
    PlainValidator(Think.read),
    PlainSerializer(lambda think: list(think.text) if isinstance(think.text, tuple) else think.text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "examples": ["900ms ± 10%"]},
                {"type": "array", "items": {"type": "string"}},
            ]
        }
    ),
]


def file_named(value: Any, info: ValidationInfo) -> Path:
    """The path of a file. If the plan's folder is known, it is relative to it, and the file must exist."""
    if not isinstance(value, str) or not value:
        raise BadValue(f"{shown(value)} is not a file's name")
    base = (info.context or {}).get("base")
    if base is None:
        return Path(value)
    path = Path(base, value).absolute()
    if os.path.isfile(path):  # noqa: PTH113 (a text too long for a path is none)
        return path
    if os.path.exists(path):  # noqa: PTH110
        raise BadValue(f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}", "name a file")
    raise BadValue(
        f"there is no file {path}", "relative names count from the plan's folder (hit: from this one)"
    )


File = Annotated[
    Path,
    BeforeValidator(file_named),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string"}),
]


@dataclass(frozen=True)
class Params:
    """Where the values of one path parameter come from: a range, a list, or a column of a CSV file."""

    table: Any
    kind: Literal["range", "choice", "csv"]
    low: int = 0
    high: int = 0
    values: tuple[str, ...] = ()

    @classmethod
    def read(cls, value: Any, info: ValidationInfo) -> "Params":
        """Read `{ from = 1, to = 9 }`, a list of values, or `{ csv = "file.csv", column = "id" }`."""
        if isinstance(value, Params):
            return value
        if isinstance(value, list) and value and all(isinstance(v, str | int | float) for v in value):
            return cls(value, "choice", values=tuple(str(v) for v in value))
        if isinstance(value, dict) and value.keys() == {"from", "to"}:
            return cls._range(value)
        if isinstance(value, dict) and value.keys() - {"separator"} == {"csv", "column"}:
            if value.get("separator", ",") not in SEPARATORS:
                raise BadValue(f"{value['separator']!r} separates no columns", 'write ",", ";", "\\t" or "|"')
            return cls(value | {"csv": str(file_named(value["csv"], info))}, "csv")
        raise BadValue(f"{value!r} is not a source of values", _PARAM_EXAMPLES)

    @classmethod
    def _range(cls, table: dict[str, Any]) -> "Params":
        low, high = table["from"], table["to"]
        if not (type(low) is int and type(high) is int):
            raise BadValue("a range goes between whole numbers", _PARAM_EXAMPLES)
        if low > high:
            raise BadValue(f"the range ends ({high}) before it begins ({low})", _PARAM_EXAMPLES)
        if not -(2**63) <= low <= high < 2**63:
            raise BadValue("the range is wider than 64 bits", _PARAM_EXAMPLES)
        return cls(table, "range", low, high)

    def column(self) -> list[str]:
        """The values of a CSV file's column, in the file's order."""
        path, name = Path(self.table["csv"]), self.table["column"]
        try:
            values = [value for (value,) in csv_rows(path, self.table.get("separator", ","), [name])]
        except PlanError as error:
            raise BadValue(error.message, error.hint) from None
        if not values:
            raise BadValue(f"{path} has no rows below its heading")
        return values


_PARAM_EXAMPLES = 'write { from = 1, to = 9 }, ["a", "b"] or { csv = "file.csv", column = "id" }'


Param = Annotated[
    Params,
    PlainValidator(Params.read),
    PlainSerializer(lambda param: param.table),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1},
                {
                    "type": "object",
                    "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}},
                    "required": ["from", "to"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {
                        "csv": {"type": "string"},
                        "column": {"type": "string"},
                        "separator": {"enum": list(SEPARATORS)},
                    },
                    "required": ["csv", "column"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


def check_regex(pattern: str) -> None:
    """Raise `BadValue` for a pattern that the engine would refuse, as far as Python can tell.

    The engine itself would report it only when the load begins.
    """
    if re.search(r"\(\?(=|!|<=|<!)|\\[1-9]", pattern):
        raise BadValue(
            f"{pattern!r} looks around or refers back, which takes unbounded time",
            "match the text around it too, and put what you want into a group: (…)",
        )
    try:
        re.compile(pattern)
    except re.error as error:
        raise BadValue(f"{pattern!r} is not a regular expression: {error}") from None


def check_json(what: str, value: Any, instead_of_null: str) -> Any:
    """`value`, if it can be written both as JSON and in a plan: TOML has no null. Raises `BadValue`."""
    try:
        json.dumps(value)
    except TypeError:
        raise BadValue(f"{what} holds what JSON has not", "write dates as texts") from None
    if _has_null(value):
        raise BadValue(f"{what} holds null, which a plan cannot say", instead_of_null)
    return value


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_null, value))
    return value is None
