"""The numbers of a sentence, with their units and intervals, as explain writes them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Number", "numbers"]

COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

UNITS: dict[str, tuple[str, float]] = {
    "µs": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "min": ("s", 60.0),
    "%": ("share", 0.01), "/s": ("/s", 1.0),
    "B": ("B", 1.0), "kB": ("B", 1e3), "MB": ("B", 1e6), "KiB": ("B", 2.0**10), "MiB": ("B", 2.0**20),
}  # fmt: skip

DIGITS = r"\d[\d,]*(?:\.\d+)?"
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
NUMBER = re.compile(
    rf"""(?<![\w./=?])(?:
      (?:1|one)\ in\ (?P<one_in>{DIGITS})
    | (?P<from>{DIGITS})\ to\ (?P<to>{DIGITS})\s?(?P<both>{UNIT})(?![\w/])
    | (?P<nth>\d+)(?:st|nd|rd|th)\b
    | (?P<word>{"|".join(COUNTS)})\b
    | (?P<digits>{DIGITS})(?:\s?(?P<unit>{UNIT})(?![\w/]))?
      (?:\s[(\[](?P<low>{DIGITS})(?:,|\ to)\ (?P<high>{DIGITS})[^)\]]*[)\]])?
    )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Number:
    """`unit`: that of `Size`. `low`, `high`: its interval, by default the value."""

    value: float
    unit: str
    low: float
    high: float


def numbers(text: str) -> Iterator[Number]:
    """All of them, in their order; "1 in 20" is a share of 0.05."""
    for match in NUMBER.finditer(text):
        if match["one_in"]:
            yield _exact(1 / _float(match["one_in"]), "share")
        elif match["from"]:
            (unit, factor), low, high = UNITS[match["both"]], _float(match["from"]), _float(match["to"])
            yield Number((low + high) / 2 * factor, unit, low * factor, high * factor)
        elif match["nth"]:
            yield _exact(float(match["nth"]), "th")
        elif match["word"]:
            yield _exact(1.0 + COUNTS.index(match["word"].lower()), "")
        else:
            unit, factor = UNITS[match["unit"]] if match["unit"] else ("", 1.0)
            value, low, high = (
                _float(found) * factor if found else None for found in match.group("digits", "low", "high")
            )
            assert value is not None
            yield Number(value, unit, value if low is None else low, value if high is None else high)


def _exact(value: float, unit: str) -> Number:
    return Number(value, unit, value, value)


def _float(digits: str) -> float:
    return float(digits.replace(",", ""))
