"""How figures are written: the same way in sentences, on the terminal, on the page and in every export.

Values are in base units: seconds, bytes, per second, shares of 1.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from jostle.text import one_line
from jostle.units import NOTHING, format_count, format_share, format_value, scale

__all__ = [
    "MISSING",
    "Formatted",
    "HasInterval",
    "amount",
    "change",
    "formatted",
    "is_or_are",
    "listed",
    "percent",
    "plural",
    "points",
    "ratio",
    "tallied",
    "with_interval",
    "with_range",
]

MISSING = NOTHING
"""What is written if there is no value."""

SMALL_RATIO = 0.1
"""Below this, two decimals would hide a ratio."""

MAX_KINDS = 5
"""How many kinds a tally names."""


IN_PLURAL = ("errors", "clients", "streams", "bytes", "server cores")
"""How metrics begin of whose value a sentence says "are"."""


class HasInterval(Protocol):
    """A figure with its interval, as the analysis produces it."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def bound(self) -> str: ...
    @property
    def note(self) -> str: ...


class Formatted(NamedTuple):
    """An estimate as text. Each part may be empty; `note` says why there is no value or no interval.

    `number` is `value` without its unit, for columns whose heading has it.
    """

    value: str
    interval: str = ""
    note: str = ""
    number: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.interval}" if self.interval else self.value


def amount(value: float | None, unit: str, *, fine: bool = False) -> str:
    """One number with its unit, scaled to read well; a dash for None."""
    return MISSING if value is None else format_value(value, unit, fine=fine)


def percent(share: float | None) -> str:
    """A share as a percentage, which is never rounded to nothing or to the whole."""
    return MISSING if share is None else format_share(share)


def formatted(found: HasInterval, unit: str | None = None, *, fine: bool = False) -> Formatted:
    """A figure with its interval, in one unit: "4.51 ms", "[4.20, 4.80]". `unit` replaces its own unit."""
    unit = found.unit if unit is None else unit
    if found.value is None:
        return Formatted(MISSING, "", found.note, MISSING)
    chosen = scale(found.value, unit, fine=fine)
    bound = f"{found.bound} " if found.bound else ""
    value = bound + amount(found.value, unit, fine=fine)
    number = bound + chosen.number(found.value)
    if found.bound or found.low is None or found.high is None:
        return Formatted(value, "", found.note, number)
    ends = chosen if found.value else scale(max(abs(found.low), abs(found.high)), unit, fine=fine)
    if not found.value:
        value, number = ends.write(0.0), ends.number(0.0)
    return Formatted(value, f"[{ends.number(found.low)}, {ends.number(found.high)}]", "", number)


def ratio(found: HasInterval) -> Formatted:
    """A ratio with two decimals, or with three significant digits if it is below a tenth."""
    if found.value is None or found.value >= SMALL_RATIO:
        return formatted(found, "ratio")
    written = formatted(found, "times")
    return written._replace(value=written.number)


def with_range(found: HasInterval, unit: str | None = None) -> str:
    """ "31.0 ms (28.0 to 34.0)"; without the brackets if there is no interval."""
    written = formatted(found, unit)
    return (
        f"{written.value} ({written.interval[1:-1].replace(', ', ' to ')})"
        if written.interval
        else written.value
    )


def with_interval(found: HasInterval, unit: str | None = None) -> str:
    """A figure with its interval as the end of a clause with "is": "4.51 ms [4.20, 4.80]", or why not."""
    if found.value is None:
        return f"not known: {found.note}"
    written = formatted(found, unit)
    return f"{written} ({found.note})" if found.note else str(written)


def is_or_are(metric: str) -> str:
    """The verb between a metric and its value: "p99 is", "errors are"."""
    return "are" if metric.startswith(IN_PLURAL) else "is"


def change(ratio: float, low: float | None = None, high: float | None = None) -> str:
    """A ratio as a change: "+5.2 %", "−12 %"; "× 3.4", "÷ 4.8" if any of the three is a factor of 3 or more.

    The interval has the same unit: "−48 % [−67, −17]", "÷ 4.8 [2.3, 10]".
    """
    ends = [] if low is None or high is None else [low, high]
    if any(r >= 3 or r <= 1 / 3 for r in (ratio, *ends)):
        if 0 < ratio < 1 and all(end > 0 for end in ends):
            ratio, ends = 1 / ratio, [1 / end for end in reversed(ends)]
            write, text = _times, f"÷ {_times(ratio)}"
        else:
            write, text = _times, f"× {_times(ratio)}"
    else:
        write, text = _signed_percent, f"{_signed_percent(ratio)} %"
    return text + (f" [{', '.join(map(write, ends))}]" if ends else "")


def points(difference: float, low: float | None = None, high: float | None = None) -> str:
    """A difference of shares in percentage points: "+0.52 points [+0.11, +0.93]"."""
    ends = [] if low is None or high is None else [low, high]
    return f"{_signed(difference)} points" + (f" [{', '.join(map(_signed, ends))}]" if ends else "")


def _times(ratio: float) -> str:
    return scale(ratio, "times").number(ratio)


def _signed_percent(ratio: float) -> str:
    return _signed(ratio - 1)


def _signed(share: float) -> str:
    number = scale(share, "share").number(float(f"{share:.2g}"))
    return number if share <= 0 else f"+{number}"


def plural(number: float, noun: str) -> str:
    """A count with its noun: "1 request", "10,000 requests"."""
    return f"{format_count(number)} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """The names as an enumeration, "a, b and c", or with another `word` before the last."""
    *before, last = names
    return f"{', '.join(before)} {word} {last}" if before else last


def tallied(found: Mapping[str, int]) -> str:
    """The first few kinds and how often each occurred, the most frequent first: "4,000 × 503, 635 × 500"."""
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    named = [f"{format_count(count)} × {one_line(what)}" for what, count in ordered[:MAX_KINDS]]
    more = len(ordered) - len(named)
    return ", ".join([*named, plural(more, "more kind")] if more else named)
