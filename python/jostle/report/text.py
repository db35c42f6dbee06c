"""What a report writes of checks, published figures and moments."""

from datetime import datetime

from jostle.analysis.results import Check, PublishedFigure, WorkloadSummary
from jostle.formatting import amount, tallied
from jostle.text import one_line

__all__ = ["check_value", "details", "published", "published_per_s", "when"]


def details(summary: WorkloadSummary, kind: str) -> str:
    """What follows the number of an outcome, " (4,000 × 503, 635 × 500)"; nothing where no more is known."""
    found = tallied(summary.failures.get(kind, {}))
    return f" ({found})" if found else ""


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
    return amount(value, check.unit)


def when(started: str) -> str:
    """An ISO 8601 moment as people write it: "21 Nov 2026, 18:52 UTC"."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return "at an unknown time"
    zone = one_line(moment.tzname() or "")
    return f"{moment.day} {moment:%b %Y, %H:%M} {zone}".rstrip()
