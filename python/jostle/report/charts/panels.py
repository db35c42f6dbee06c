"""Charts stacked on one time axis, with the phases of the load shaded behind all of them, and marks."""

from collections.abc import Sequence

from jostle.analysis.results import Mark, Phase
from jostle.report.charts.axes import TIME_LABEL, at_least, decades, time_scale
from jostle.report.charts.picture import GRID, MUTED, Datasets, Rows, Spec, layer, quantitative

__all__ = [
    "DASHED",
    "Panels",
    "groups",
    "log_time_axis",
    "longest_of",
    "mean",
    "middle_of",
    "value_axis",
    "values",
]

HEIGHT = 92
SYMBOLS = {"lost": "✗", "back": "✓"}
TITLE = "seconds from the start of the trial"
DASHED: Spec = {"strokeDash": [4, 3], "strokeWidth": 1.2}


class Panels:
    """Panels are added from the top down; `stacked` returns the chart. Only the lowest has time labels."""

    def __init__(
        self,
        data: Datasets,
        channels: Spec,
        span_s: tuple[float, float],
        phases: Sequence[Phase],
        width: int,
        marks: Sequence[Mark] = (),
    ) -> None:
        """`channels`: the encoding that all lines share, such as colour. `span_s`: the part of the trial to
        draw. `marks`: of these, what was lost and came back; phases and changes are shaded.
        """
        self._channels, self._width = channels, width
        self._x = {"domain": [span_s[0], span_s[1] * 1.01 or 1.0], "nice": False}
        self._panels: list[tuple[str, list[Spec]]] = []
        shaded = [{"t": p.start_s, "end": p.end_s, "text": p.name} for p in phases]
        self._shades = data(shaded[1::2]) if len(shaded) > 1 else None
        self._names = data(shaded) if len(shaded) > 1 else None
        lost = [{"t": m.at_s, "text": f"{SYMBOLS[m.kind]} {m.text}"} for m in marks if m.kind in SYMBOLS]
        self._lost = data(lost) if lost else None

    def add(self, title: str, *layers: Spec) -> None:
        """Adds a panel with `layers` from `line` and `points`."""
        self._panels.append((title, list(layers)))

    def line(self, rows: Spec, name: str, y: Spec, style: Spec | None = None) -> Spec:
        """A line with the common channels, unless `style` sets a colour."""
        return self._layer(rows, "line", name, y, style)

    def points(self, rows: Spec, name: str, y: Spec, style: Spec) -> Spec:
        """A mark for each row."""
        return self._layer(rows, "point", name, y, style)

    def _layer(self, rows: Spec, mark: str, name: str, y: Spec, style: Spec | None) -> Spec:
        channels = {} if style and "color" in style else self._channels
        return layer(rows, mark, style, y={**y, "field": name}, **channels)

    def stacked(self) -> Spec:
        """The specification of all panels, one below the other."""
        last = len(self._panels) - 1
        return {
            "vconcat": [self._panel(i, lowest=i == last) for i in range(len(self._panels))],
            "spacing": 10,
        }

    @staticmethod
    def _clipped(part: Spec) -> Spec:
        """The layer, clipped to the part of the trial that is shown."""
        return {**part, "mark": {**part["mark"], "clip": True}}

    def _panel(self, number: int, *, lowest: bool) -> Spec:
        title, layers = self._panels[number]
        axis = {"title": TITLE if lowest else None, "labels": lowest, "grid": True, "tickCount": 7}
        x = quantitative("t", scale=self._x, axis=axis)
        drawn = [self._clipped({**part, "encoding": {**part["encoding"], "x": x}}) for part in layers]
        if self._shades is not None:
            height = {"y": {"value": 0}, "y2": {"value": HEIGHT}}
            style = {"color": GRID, "opacity": 0.5, "clip": True}
            drawn.insert(0, layer(self._shades, "rect", style, x=x, x2={"field": "end"}, **height))
        if self._names is not None and number == 0:
            style = {"align": "left", "baseline": "bottom", "dx": 3, "fontSize": 10, "color": MUTED}
            drawn.append(
                layer(self._names, "text", style, x=x, y={"value": HEIGHT - 3}, text={"field": "text"})
            )
        if self._lost is not None:
            style = {"color": MUTED, "strokeDash": [6, 3], "clip": True}
            drawn.append(layer(self._lost, "rule", style, x=x))
            if number == 0:
                style = {"align": "left", "baseline": "top", "dx": 3, "dy": 2, "fontSize": 10, "color": MUTED}
                drawn.append(layer(self._lost, "text", style, x=x, y={"value": 0}, text={"field": "text"}))
        heading = {"text": title, "fontSize": 11, "fontWeight": "normal", "color": MUTED, "offset": 4}
        return {"layer": drawn, "width": self._width, "height": HEIGHT, "title": heading}


def value_axis(title: str, found: Sequence[float | None], *, unit: str = "", room: float = 1.1) -> Spec:
    """A channel from 0 to above the largest value. `unit`: "MB" if the values are bytes."""
    highest = max((v for v in found if v is not None), default=0.0)
    axis: Spec = {"title": title, "tickCount": 4, "minExtent": 52, "maxExtent": 52, "grid": False}
    if unit == "MB":
        axis["labelExpr"] = "format(datum.value / 1e6, ',~r')"
    else:
        axis["format"] = "~s" if highest >= 10_000 else ",~r"
    return quantitative("", scale={"domain": [0, highest * room or 1.0]}, axis=axis)


def log_time_axis(title: str, found: Sequence[float | None]) -> Spec:
    """A logarithmic channel for times that includes all values."""
    known = [v for v in found if v is not None] or [1e-3, 1.0]
    low, high = min(known), max(max(known), min(known) * 4)
    axis = {"title": title, "labelExpr": TIME_LABEL, "values": decades(low / 1.25, high * 1.5)}
    return quantitative(
        "", scale=time_scale(low, high), axis={**axis, "minExtent": 52, "maxExtent": 52, "grid": False}
    )


def groups(count: int, most_groups: int) -> list[slice]:
    """Slices of neighbours to merge, so that at most `most_groups` remain of `count`."""
    size = max(1, -(-count // most_groups))
    return [slice(i, i + size) for i in range(0, count, size)]


def mean(found: Sequence[float]) -> float | None:
    """The mean; None for an empty sequence."""
    return sum(found) / len(found) if found else None


def longest_of(found: Sequence[float | None]) -> float | None:
    """The longest of the known times, for a logarithmic axis; None if none is known."""
    return max((at_least(v) for v in found if v is not None), default=None)


def middle_of(found: Sequence[float | None]) -> float | None:
    """The middle one of the known times, for a logarithmic axis; None if none is known."""
    known = sorted(at_least(v) for v in found if v is not None)
    return known[len(known) // 2] if known else None


def values(rows: Rows, *names: str) -> list[float | None]:
    """All values of the named columns."""
    return [row[name] for row in rows for name in names]
