"""The trend of a plan: a point for each run with its interval, a line at each change of level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.history import METRICS, IndexedRun
from jostle.analysis.results import Estimate
from jostle.formatting import formatted
from jostle.report.history import MIN_RUNS, Change, Trend, series_of, started, trend_of
from jostle.text import one_line
from jostle.units import format_value

__all__ = ["Point", "Series", "Tick", "TrendPicture", "drawn_trends"]

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BELOW = 76, 14, 24, 10

SPAN = 0.1
"""The axis spans at least this share of the values: what hardly differs looks so."""


@dataclass(frozen=True)
class Point:
    """A run in a picture; heights are those of its figure and of the ends of its interval."""

    run: str
    started: str
    commit: str
    text: str
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Tick:
    """A value of the axis."""

    y: float
    text: str


@dataclass(frozen=True)
class TrendPicture:
    """A metric of a series."""

    metric: str
    sentence: str
    points: Sequence[Point]
    ticks: Sequence[Tick]
    changes: Sequence[tuple[float, str]]
    """Where a line stands, and what it says."""


@dataclass(frozen=True)
class Series:
    """One workload on one contestant."""

    title: str
    pictures: Sequence[TrendPicture]


def drawn_trends(entries: Sequence[IndexedRun]) -> list[Series]:
    """Of runs of one plan, oldest first."""
    return [
        Series(
            f"{one_line(contestant)}, {one_line(workload)}",
            [_picture(metric, trend) for metric in METRICS if (trend := trend_of(found, metric)).runs],
        )
        for (_, workload, contestant), found in series_of(entries).items()
    ]


def _picture(metric: str, trend: Trend) -> TrendPicture:
    estimates: list[Estimate] = [getattr(f, metric) for _, f in trend.runs]
    ends = [end for e in estimates for end in (e.value, e.low, e.high) if end]
    low, high = math.log(min(ends)), math.log(max(ends))
    more = max(0.0, SPAN - (high - low)) / 2 + 0.05 * (high - low)
    low, high = low - more, high + more

    def y(value: float) -> float:
        part = (math.log(value) - low) / (high - low)
        return round(TOP + (1 - part) * (HEIGHT - TOP - BELOW), 1)

    step = (WIDTH - LEFT - RIGHT) / len(trend.runs)
    xs = [round(LEFT + (place + 0.5) * step, 1) for place in range(len(trend.runs))]
    points = [
        Point(
            run=entry.folder,
            started=started(entry),
            commit=f.commit,
            text=str(formatted(e)),
            x=x,
            y=y(e.value or 1.0),
            low=y(e.low or e.value or 1.0),
            high=y(e.high or e.value or 1.0),
        )
        for (entry, f), e, x in zip(trend.runs, estimates, xs, strict=True)
    ]
    values = [math.exp(low + part * (high - low)) for part in (0.1, 0.5, 0.9)]
    return TrendPicture(
        metric=metric,
        sentence=_sentence(metric, trend, points),
        points=points,
        ticks=[Tick(y(value), format_value(value, estimates[0].unit)) for value in values],
        changes=[(round(xs[one.at] - step / 2, 1), one.text) for one in trend.changes],
    )


def _sentence(metric: str, trend: Trend, points: Sequence[Point]) -> str:
    latest = f"{metric} was {points[-1].text} in the latest of {len(points)} runs"
    if len(points) < MIN_RUNS:
        return f"{latest}; fewer than {MIN_RUNS} have no trend."
    return f"{latest}; {', '.join(map(_changed, trend.changes)) or 'no change of level'}."


def _changed(one: Change) -> str:
    return f"{one.text} since {one.since}"
