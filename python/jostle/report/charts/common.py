"""What all charts share: the picture they make, colours, axes, and rows that name themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from jostle.report.tables import Table
from jostle.report.views import ALONE, WITH_SLOW, View

__all__ = [
    "BY_COLOUR",
    "FIRST",
    "GRID",
    "INK",
    "MUTED",
    "SECOND",
    "SMALLEST_S",
    "SURFACE",
    "Datasets",
    "Picture",
    "Rows",
    "at_least",
    "axis_title",
    "colour",
    "decades",
    "in_panels",
    "limits",
    "short",
    "thin",
    "time_axis",
    "time_scale",
    "whole",
]

# Colours are CSS variables: the page gives them values for light, dark and paper; png.py puts in light ones.
FIRST, SECOND = "var(--first)", "var(--second)"
INK, MUTED, GRID, SURFACE = "var(--ink)", "var(--muted)", "var(--grid)", "var(--surface)"

TIME_LABEL = (
    "datum.value >= 60 ? format(datum.value / 60, '~r') + ' min'"
    " : datum.value > 0.99 ? format(datum.value, '~r') + ' s'"
    " : datum.value > 0.00099 ? format(datum.value * 1e3, '~r') + ' ms'"
    " : format(datum.value * 1e6, '~r') + ' µs'"
)
"""A Vega expression: seconds as a short duration."""

BY_COLOUR = "Blue: fast requests alone; vermilion: beside one slow request. "

SMALLEST_S = 1e-6
"""Times are recorded to a microsecond; a zero is drawn there, for a logarithm has none."""

Rows = list[dict[str, Any]]
"""What a chart draws: plain figures and names."""


@dataclass(frozen=True)
class Picture:
    """A chart, the sentence that it shows, how to read it, and the same figures as a table."""

    key: str
    title: str
    reading: str
    chart: alt.TopLevelMixin
    table: Table
    datasets: dict[str, Rows]
    small: bool = False  # may stand beside others in a row

    def spec(self, *, validate: bool = False) -> dict[str, Any]:
        """The Vega-Lite specification; colours are CSS variables.

        Validation against the schema takes longer than all the rest, so only the tests ask for it.
        """
        found: dict[str, Any] = self.chart.to_dict(validate=validate)
        return found | {"description": self.title, "datasets": self.datasets}


class Datasets:
    """The rows of one picture. Charts name them: altair would copy and check every value again and again."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {}

    def __call__(self, rows: Rows) -> alt.NamedData:
        """Keep `rows`, with four digits, which is finer than a pixel; what a chart takes as its data."""
        name = f"rows-{len(self.rows) + 1}"
        self.rows[name] = [{k: _rounded(v) for k, v in row.items()} for row in rows]
        return alt.NamedData(name)


def whole(chart: Any, *, narrowest: int = 0) -> Any:
    """The chart in the common style. `narrowest`: the least width of a panel in pixels, if it has any."""
    config: dict[str, Any] = {
        "background": "transparent",
        "font": "system-ui, 'Segoe UI', 'Liberation Sans', sans-serif",
        "view": {"stroke": None},
        "axis": {
            "labelColor": MUTED,
            "titleColor": MUTED,
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 11,
            "domainColor": GRID,
            "tickColor": GRID,
            "gridColor": GRID,
            "gridWidth": 0.75,
            "labelOverlap": True,
        },
        "legend": {"labelColor": INK, "titleColor": MUTED},
        "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
        "title": {"color": INK, "anchor": "start", "fontSize": 12, "subtitleColor": MUTED},
        "text": {"color": INK, "fontSize": 12},
        "line": {"strokeWidth": 1.75, "strokeJoin": "round"},
        "concat": {"spacing": 28},
        "facet": {"spacing": 28},
    }
    usermeta = {"narrowest": narrowest}
    return chart.properties(config=config, usermeta=usermeta)


def colour(view: View) -> alt.Color:
    """The colour of a series: blue alone, vermilion with the slow request (safe for colour-blind readers)."""
    domain = [ALONE, WITH_SLOW] if view.paired else view.series_names
    scale = alt.Scale(domain=domain, range=[FIRST, SECOND][: len(domain)])
    return alt.Color("series:N", scale=scale, legend=None)


def at_least(seconds: float) -> float:
    """A time that has a logarithm."""
    return max(seconds, SMALLEST_S)


def limits(view: View) -> tuple[float, float]:
    """The shortest and the longest time of the view, in seconds, apart enough for an axis."""
    found = [s.distribution for p in view.panels for s in p.series]
    low = at_least(min((d.min_s for d in found if d.min_s is not None), default=1e-3))
    return low, max(max((d.max_s for d in found if d.max_s is not None), default=1.0), low * 4)


def axis_title(view: View) -> str:
    """What the axis of time shows."""
    return f"response time{' of a fast request' if view.paired else ''} (logarithmic)"


def time_scale(low: float, high: float) -> alt.Scale:
    """A logarithmic scale of seconds with a little room at both ends."""
    return alt.Scale(type="log", domain=[at_least(low) / 1.25, high * 1.5], nice=False, clamp=True)


def time_axis(low: float, high: float, title: str | None) -> alt.Axis:
    """Labels at the decades; within fewer than two, also at 2 and 5 times."""
    return alt.Axis(
        values=decades(low, high), labelExpr=TIME_LABEL, title=title, grid=True, tickSize=0, labelPadding=6
    )


def decades(low: float, high: float) -> list[float]:
    """Powers of ten between `low` and `high` (both > 0), with 2 and 5 times them where the range is short."""
    low, high = at_least(low) / 1.25, high * 1.5
    steps = (1, 2, 5) if high / low < 200 else (1,)
    powers = [float(f"{s}e{e}") for e in range(-7, 7) for s in steps]
    return [p for p in powers if low <= p <= high]


def thin(points: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of the points, evenly chosen, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(i * step)] for i in range(most)]


def short(text: str, most: int = 40) -> str:
    """A name cut to fit into a picture."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def in_panels(
    layers: list[alt.Chart], rows: alt.NamedData, order: list[str], *, width: int, height: int
) -> Any:
    """The layers once for each "panel" of the rows, side by side as many as fit; all with the same axes."""
    return (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .facet(
            facet=alt.Facet("panel:N", sort=order, title=None, header=alt.Header(labelPadding=4)),
            data=rows,
            columns=2 if len(order) == 4 else min(3, len(order)),
        )
        .resolve_axis(x="independent")
    )
