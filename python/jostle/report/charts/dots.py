"""Ratios between workloads, and the cost of a thread: a dot with its interval per contestant, logarithmic."""

from collections.abc import Sequence

from jostle.analysis.results import Estimate, RatioResult, Threads
from jostle.formatting import amount, ratio
from jostle.report.charts.axes import decades
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.intervals import intervals
from jostle.report.charts.picture import MUTED, Datasets, Picture, Rows, Spec, layer, quantitative, short
from jostle.report.document import Table

__all__ = ["ratios", "threads"]

ROW_PX = 44

Dot = tuple[str, Estimate, float | None]
"""The contestant, the measured estimate, and the published figure."""


def ratios(group: Sequence[RatioResult], table: Table, order: Sequence[str]) -> Picture | None:
    """The ratios of a group; None if none is known."""
    known = [r for r in group if r.ratio.value is not None]
    if not known:
        return None
    lowest, highest = (f(known, key=lambda r: r.ratio.value or 0.0) for f in (min, max))
    published = [
        r.published / r.published_against if r.published and r.published_against else None for r in group
    ]
    data = Datasets()
    found = [(r.contestant, r.ratio, t) for r, t in zip(group, published, strict=True)]
    body = _dots(data, found, order, f"{group[0].metric}, ratio (logarithmic)", "ratio", mark=1.0)
    title = f"{group[0].title}: {_short(lowest)}" + (f", {_short(highest)}" if highest is not lowest else "")
    reading = "Dots: the ratio, with its 95 % interval over rounds, paired by round; dashed: no change" + (
        "; hollow diamonds: as published." if any(published) else "."
    )
    return Picture(f"{title}.", reading, body, table, data.rows)


def _short(r: RatioResult) -> str:
    return f"{ratio(r.ratio).value} on {r.contestant}"


def threads(group: Sequence[Threads], table: Table, order: Sequence[str]) -> Picture | None:
    """The memory per thread or task; None if none is known."""
    known = [t for t in group if t.memory_bytes.value]
    if not known:
        return None
    data = Datasets()
    found = [(t.contestant, t.memory_bytes, t.published_bytes) for t in known]
    body = _dots(data, found, order, "memory per thread or task (logarithmic)", "bytes")
    cheapest, dearest = (f(known, key=lambda t: t.memory_bytes.value or 0.0) for f in (min, max))
    title = f"A thread or task costs {amount(cheapest.memory_bytes.value, 'bytes')} on {cheapest.contestant}"
    if dearest is not cheapest:
        title += f" and {amount(dearest.memory_bytes.value, 'bytes')} on {dearest.contestant}"
    reading = (
        f"Dots: the memory of each of {group[0].count:,} threads, with its 95 % interval over rounds"
        + ("; hollow diamonds: as published." if any(t.published_bytes for t in known) else ".")
    )
    return Picture(f"{title}.", reading, body, table, data.rows)


def _dots(
    data: Datasets,
    found: Sequence[Dot],
    order: Sequence[str],
    title: str,
    unit: str,
    *,
    mark: float | None = None,
) -> Spec:
    """A row per contestant: name, dot, interval, figure, and the published figure as a hollow diamond."""
    low, high = _limits(found, mark)
    label = "format(datum.value, '~s') + 'B'" if unit == "bytes" else "format(datum.value, '~r')"
    axis = {"title": title, "labelExpr": label, "values": decades(low, high)}
    scale = {"type": "log", "domain": [low, high], "nice": False, "clamp": True}
    x = quantitative("x", scale=scale, axis=axis)
    y = quantitative("y", scale={"domain": [0, len(found)], "nice": False}, axis=None)
    dots, diamonds, names, rounds = _rows(found, unit)
    name = {"align": "left", "baseline": "middle", "fontWeight": "bold", "dy": -12}
    line = {"color": MUTED, "strokeDash": [3, 3]}
    layers = [
        *([layer(data([{"x": mark}]), "rule", line, x=x)] if mark is not None else []),
        *intervals(data, dots, diamonds, rounds, x, y, of_contestants(order, [c for c, _, _ in found])),
        layer(data(names), "text", name, x={"value": 2}, y=y, text={"field": "text"}),
    ]
    return {"layer": layers, "width": 820, "height": ROW_PX * len(found)}


def _limits(found: Sequence[Dot], mark: float | None) -> tuple[float, float]:
    """The ends of the axis, which include all values and intervals and leave room on the left for names."""
    values = [
        v
        for _, e, published in found
        for v in (e.value, e.low, e.high, published, mark, *e.rounds)
        if v and v > 0
    ]
    low, high = min(values), max(values) * 1.3
    return low / max((high / low) ** 0.35, 1.5), high


def _rows(found: Sequence[Dot], unit: str) -> tuple[Rows, Rows, Rows, Rows]:
    """(measured, published, names, rounds), the first contestant on top."""
    rounds: Rows = []
    dots: Rows = []
    diamonds: Rows = []
    names: Rows = []
    for i, (contestant, e, published) in enumerate(found):
        y = len(found) - i - 0.6
        names.append({"y": y, "text": short(contestant)})
        if e.value:
            low = e.low if e.low and e.low > 0 else None
            about = {"contestant": contestant, "y": y, "text": _written(e.value, unit)}
            dots.append({"x": e.value, "low": low, "high": e.high, **about})
            if e.low is not None:
                rounds += [{"contestant": contestant, "x": v, "y": y} for v in e.rounds if v > 0]
        if published:
            diamonds.append({"x": published, "y": y, "text": f"published {_written(published, unit)}"})
    return dots, diamonds, names, rounds


def _written(value: float, unit: str) -> str:
    return ratio(Estimate(value)).value if unit == "ratio" else amount(value, unit)
