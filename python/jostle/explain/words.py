"""Figures in the sentences of an explanation: with their interval, as one would say them."""

from jostle.units import format_share, scale

__all__ = ["count", "one_in", "span"]

COUNTS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip

MAX_ONE_IN = 0.35
"""Up to this share it is said as "1 in 3", above as a percentage."""


def span(low: float, high: float, unit: str) -> str:
    """ "28.0 to 34.0 ms", or a single figure if both are written alike."""
    chosen = scale(high, unit)
    ends = dict.fromkeys((chosen.number(low), chosen.number(high)))
    return f"{' to '.join(ends)}{chosen.suffix}"


def count(number: float) -> str:
    """ "four", "16"."""
    return COUNTS[int(number)] if number < len(COUNTS) else f"{number:,.0f}"


def one_in(share: float) -> str:
    """ "1 in 20", "35 %"."""
    return f"1 in {round(1 / share):,}" if 0 < share <= MAX_ONE_IN else format_share(share)
