"""Figures in the sentences of the analysis: "1.2 ms [1.1 ms, 1.3 ms]"."""

from collections.abc import Mapping

from jostle.analysis.results import Estimate
from jostle.units import format_bytes, format_count, format_duration, format_rate

__all__ = ["amount", "interval", "tallied"]

MOST_TOLD = 5


def interval(e: Estimate, unit: str) -> str:
    """A figure with its interval; or why there is none."""
    if e.value is None:
        return f"is not known: {e.note}"
    value = f"{e.bound} {amount(e.value, unit)}".strip()
    if e.bound or e.low is None or e.high is None:
        return f"{value} ({e.note})" if e.note else value
    return f"{value} [{amount(e.low, unit)}, {amount(e.high, unit)}]"


def tallied(found: Mapping[str, int]) -> str:
    """What there was and how often, most frequent first: "4,000 × 503, 635 × 500"; the first few kinds."""
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    told = [f"{format_count(count)} × {what}" for what, count in ordered[:MOST_TOLD]]
    more = len(ordered) - len(told)
    return ", ".join([*told, f"{format_count(more)} kinds more"] if more else told)


def amount(value: float, unit: str) -> str:
    """A number in the unit of its quantity."""
    match unit:
        case "s":
            return format_duration(value)
        case "/s":
            return format_rate(value)
        case "bytes":
            return format_bytes(value)
        case "share":
            return f"{value * 100:.3g} %"
        case "ratio":
            return f"{value:.3g}"
        case _:
            return f"{value:.2f}"
