"""Figures as text: one way to write an estimate, for the terminal, the page and every export."""

import math
from datetime import datetime
from typing import NamedTuple

from jostle.analysis import wording
from jostle.analysis.results import Cell, Check, Estimate, PublishedFigure
from jostle.record.outcomes import Outcome
from jostle.units import MINUS, format_bytes, format_count, format_duration, format_rate

__all__ = [
    "MISSING",
    "Shown",
    "amount",
    "check_value",
    "details",
    "percent",
    "published",
    "published_per_s",
    "shown",
    "when",
]

MISSING = DASH = "\N{EN DASH}"


class Shown(NamedTuple):
    """An estimate as text: its value, its interval, and why its value is missing; each may be empty."""

    value: str
    interval: str
    note: str

    def __str__(self) -> str:
        return f"{self.value} ({self.interval})" if self.interval else self.value


def amount(value: float | None, unit: str) -> str:
    """One number with its unit: "s" and "/s" scaled to read well, "bytes" too; "" is a plain ratio."""
    if value is None:
        return MISSING
    value = float(value)
    if unit == "s":
        return format_duration(value)
    if unit in ("/s", "requests/s"):
        return format_rate(value) if value >= 0 else MINUS + format_rate(-value)
    if unit == "bytes":
        return format_bytes(value)
    if not math.isfinite(value):
        return MISSING
    number = format_count(value) if value.is_integer() and abs(value) >= 1000 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def details(cell: Cell, kind: str) -> str:
    """What follows the number of an outcome, " (4,000 × 503, 635 × 500)"; nothing where no more is known."""
    known: dict[str, dict[str, int]] = {
        Outcome.WRONG_STATUS: cell.wrong_statuses,
        Outcome.TLS_FAILED: cell.tls_failures,
    }
    found = wording.tallied(known.get(kind, {}))
    return f" ({found})" if found else ""


def ratio(value: float | None) -> str:
    """A share or an index of 0 to 1, with two decimals; never "-0.00". How far below -1 says nothing more."""
    if value is not None and value < -1:
        return f"< {MINUS}1"
    return MISSING if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", MINUS)


def percent(share: float | None) -> str:
    """A share as a percentage that never rounds something down to nothing."""
    if share is None:
        return MISSING
    if share == 0:
        return "0 %"
    if abs(share) < 0.0001:
        return "< 0.01 %"
    if abs(share) > 9.99:
        return f"{share * 100:,.0f} %"
    digits = f"{share * 100:.2f}" if abs(share) < 0.01 else f"{share * 100:#.3g}"
    return f"{digits.rstrip('.')} %"


def shown(estimate: Estimate) -> Shown:
    """An estimate as text. A unit that both ends of the interval share with the value stands once."""
    write = ratio if estimate.unit in ("", "share", "ratio") else lambda v: amount(v, estimate.unit)
    value = write(estimate.value)
    if estimate.value is None:
        return Shown(value, "", estimate.note)
    if estimate.bound:
        return Shown(f"{estimate.bound} {value}", "", estimate.note)
    if estimate.low is None or estimate.high is None:
        return Shown(value, "", estimate.note)
    low, high = write(estimate.low), write(estimate.high)
    dash = " to " if low.startswith(MINUS) else DASH
    return Shown(value, f"{_without_unit(low, high)}{dash}{_without_unit(high, value)}", estimate.note)


def _without_unit(text: str, other: str) -> str:
    """`text` without its unit where `other` has the same one."""
    for mark in (" ", "/"):
        number, found, unit = text.rpartition(mark)
        if found and other.endswith(mark + unit):
            return number
    return text


def published_per_s(figure: PublishedFigure | None) -> float | None:
    """A published throughput per second; None where its unit ("requests/5 s") is not a rate."""
    if figure is None:
        return None
    _, slash, per = figure.unit.partition("/")
    number = per.replace("s", "").strip()
    if not slash or not per.rstrip().endswith("s"):
        return None
    try:
        return figure.value / float(number or 1)
    except (ValueError, ZeroDivisionError):
        return None


def published(alone: PublishedFigure | None, beside: PublishedFigure | None) -> str:
    """The published pair as its author wrote it: "572 → 114 requests/5 s"."""
    if alone is None and beside is None:
        return ""
    values = " → ".join(f"{f.value:g}" if f else "?" for f in (alone, beside))
    unit = (alone or beside).unit  # type: ignore[union-attr]
    return f"{values} {unit}"


def check_value(check: Check, value: float | None) -> str:
    """A check's value or threshold in the check's unit; shares are written as percentages."""
    if value is not None and check.unit in ("share", "%"):
        return percent(value if check.unit == "share" else value / 100)
    return amount(value, check.unit)


def when(started: str) -> str:
    """An ISO 8601 moment as people write it: "21 Nov 2026, 18:52 UTC"; any other text as it is."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return started
    zone = moment.tzname() or ""
    return f"{moment.day} {moment:%b %Y, %H:%M} {zone}".rstrip()
