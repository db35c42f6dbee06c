"""Building blocks of charts: colours, the common style, layers, channels.

Specifications are written as plain data, because a library that builds them would take longer than the rest
of a page.
"""

from collections.abc import Sequence
from typing import Any

from jostle.report.document import Picture, Rows, Spec
from jostle.text import one_line

__all__ = [
    "GRID",
    "INK",
    "MUTED",
    "SURFACE",
    "Datasets",
    "Picture",
    "Rows",
    "Spec",
    "layer",
    "quantitative",
    "short",
    "thin",
]

# Colours are CSS variables: the page defines them for light, dark and print; files get the light ones.
INK, MUTED, GRID, SURFACE = "var(--ink)", "var(--muted)", "var(--grid)", "var(--surface)"

CONFIG: Spec = {
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
        "tickSize": 0,
        "labelPadding": 6,
    },
    "legend": {"labelColor": INK, "titleColor": MUTED},
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
    "title": {"color": INK, "anchor": "start", "fontSize": 12, "subtitleColor": MUTED},
    "text": {"color": INK, "fontSize": 12},
    "line": {"strokeWidth": 1.75, "strokeJoin": "round"},
    "concat": {"spacing": 28},
    "facet": {"spacing": 28},
}
"""The common style, which a page contains only once."""


class Datasets:
    """The rows of one picture, by name."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {}

    def __call__(self, rows: Rows) -> Spec:
        """Stores `rows`, rounded to four digits, which is finer than a pixel; returns the data of a layer."""
        name = f"rows-{len(self.rows) + 1}"
        self.rows[name] = [{k: _rounded(v) for k, v in row.items()} for row in rows]
        return {"name": name}


def layer(data: Spec | None, mark: str, style: Spec | None = None, **encoding: Any) -> Spec:
    """One layer of a chart. `data`: None to use that of the surrounding chart."""
    found: Spec = {"mark": {"type": mark, **(style or {})}, "encoding": encoding}
    return found if data is None else {"data": data, **found}


def quantitative(name: str, **more: Any) -> Spec:
    """A channel for numbers; with `axis=None` it has no axis."""
    return {"field": name, "type": "quantitative", **more}


def thin(points: Sequence[Any], max_points: int) -> list[Any]:
    """At most `max_points` of the points, evenly chosen, including the first and the last."""
    if len(points) <= max_points:
        return list(points)
    step = (len(points) - 1) / (max_points - 1)
    return [points[round(i * step)] for i in range(max_points)]


def short(text: str, max_length: int = 40) -> str:
    """An untrusted name, made safe and shortened to fit into a picture."""
    safe = one_line(text)
    return safe if len(safe) <= max_length else safe[: max_length - 1] + "…"


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
