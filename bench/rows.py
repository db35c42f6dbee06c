"""What a section of the bench gives: rows of the table, and the samples behind them."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jostle.analysis.stats.quantile_ci import order_statistic_ranks

__all__ = ["Effort", "Row", "Section", "Sections", "middle", "ratio_text", "spread"]


@dataclass(frozen=True)
class Row:
    """A measure beside its bar. `reached`: None where there is no bar, or where it could not be measured."""

    what: str
    bar: str
    measured: str
    reached: bool | None


@dataclass(frozen=True)
class Section:
    """`details`: Markdown below the table."""

    rows: list[Row]
    details: str = ""
    samples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Effort:
    """How long and how often. `folder` is for what is thrown away afterwards. `apps`: the applications of
    tests/faults to explain; empty for all.
    """

    rounds: int
    seconds: float
    folder: Path
    quick: bool = False
    apps: Sequence[str] = ()


Sections = dict[str, Callable[[Effort], Section]]


def spread(values: Sequence[float], form: str = ",.2f") -> str:
    """Median, lowest and highest."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def middle(values: Sequence[float], form: str = ",.2f") -> str:
    """The median and its interval of at least 95 %, from one value to another: of many values the lowest and
    the highest say little."""
    ordered = sorted(values)
    told = f"{statistics.median(ordered):{form}}"
    low, high, _ = order_statistic_ranks(len(ordered), 0.5)
    return f"{told} (95 %: {ordered[low - 1]:{form}} to {ordered[high - 1]:{form}})" if low else told


def ratio_text(bar: float) -> str:
    """0.2 → "≤ 0.20", 1/9 → "≤ 1/9"."""
    return f"≤ 1/{round(1 / bar)}" if bar < 0.25 else f"≤ {bar:.2f}"
