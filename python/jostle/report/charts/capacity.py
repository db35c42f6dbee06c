"""How much load a server can carry: response times by load, with the SLO and the response; and the achieved
against the offered load.
"""

from jostle.analysis.results import CapacityResult
from jostle.analysis.results.capacity import LevelResult
from jostle.report.charts.axes import TIME_LABEL, at_least, decades
from jostle.report.charts.picture import GRID, INK, MUTED, Datasets, Picture, Rows, Spec, layer, quantitative
from jostle.report.document import Table

__all__ = ["curve", "sent"]

WIDTH, HEIGHT, LOW_HEIGHT = 760, 320, 120
SERIES = {"p50": "var(--hue1)", "p99": "var(--hue2)"}
ROOM = 1.08

BAND: Spec = {"opacity": 0.6, "color": GRID}
DASHED: Spec = {"strokeDash": [5, 4], "strokeWidth": 1.5, "color": INK}
DOT: Spec = {"filled": True, "size": 55, "opacity": 1}
RING: Spec = {"filled": False, "size": 55, "strokeWidth": 1.5, "opacity": 1}
DIAMOND: Spec = {"shape": "diamond", "filled": False, "size": 110, "strokeWidth": 1.5, "opacity": 1}


def curve(result: CapacityResult, table: Table) -> Picture | None:
    """Response times by level; None if there are fewer than two levels with responses."""
    counted = [x for x in result.levels if x.response["p50"].value is not None]
    if len(counted) < 2:
        return None
    data = Datasets()
    rows = [row for level in counted for row in _times(level)]
    predicted = _predicted(result)
    y = _y([row["s"] for row in rows + predicted] + [s.limit_s for s in result.slos if s.limit_s])
    x, colour = _x(result), _colour()
    drawn = data([row for row in rows if row["server"]])
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    beside = data([row for row in rows if not row["server"]])
    layers = [
        *_band(data, result, HEIGHT),
        *(
            part
            for slo in result.slos
            if slo.limit_s is not None
            for part in _limit(data, slo.text, slo.limit_s, y)
        ),
        layer(drawn, "line", {"strokeWidth": 1.5}, x=x, y=y, color=colour),
        layer(drawn, "rule", {"strokeWidth": 2.5}, x=x, **ends, color=colour),
        layer(drawn, "point", DOT, x=x, y=y, color=colour),
        layer(beside, "point", RING, x=x, y=y, color={"value": MUTED}),
        layer(data(predicted), "point", DIAMOND, x=x, y=y, color=colour),
    ]
    return Picture(
        result.sentences[0],
        _reading(result),
        {"layer": layers, "width": WIDTH, "height": HEIGHT},
        table,
        data.rows,
    )


def sent(result: CapacityResult, table: Table) -> Picture | None:
    """Achieved against offered load, with the generator's share of a core below; None for a single level."""
    if len(result.levels) < 2:
        return None
    data = Datasets()
    levels: Rows = [
        {"level": x.level, "achieved": x.achieved_per_s, "cpu": x.generator_cpu} for x in result.levels
    ]
    rows, x = data(levels), _x(result)
    max_rate = max(row["achieved"] for row in levels) * 1.15 or 1.0
    up = quantitative("achieved", scale={"domain": [0, max_rate]}, axis={"title": "answered per second"})
    share = quantitative(
        "cpu", scale={"domain": [0, 1]}, axis={"title": "generator, of a core", "format": "%", "tickCount": 3}
    )
    panel = [
        *_band(data, result, HEIGHT // 2),
        layer(rows, "line", {"color": "var(--hue1)"}, x=x, y=up),
        layer(rows, "point", {**DOT, "color": "var(--hue1)"}, x=x, y=up),
    ]
    if result.unit == "/s":
        end = min(max_rate, max(x.level for x in result.levels))
        line = data([{"level": 0.0, "achieved": 0.0}, {"level": end, "achieved": end}])
        panel.append(layer(line, "line", {**DASHED, "clip": True}, x=x, y=up))
    below = [
        *_band(data, result, LOW_HEIGHT),
        layer(rows, "line", {"color": MUTED}, x=x, y=share),
        layer(rows, "point", {**DOT, "color": MUTED}, x=x, y=share),
    ]
    body = {
        "vconcat": [
            {"layer": panel, "width": WIDTH, "height": HEIGHT // 2},
            {"layer": below, "width": WIDTH, "height": LOW_HEIGHT},
        ]
    }
    title = "What was answered per second, and how busy the generator was."
    reading = "Above: responses per second; below: the generator's share of a core"
    reading += "; dashed: all that was offered" if result.unit == "/s" else ""
    reading += f"{_shaded(result)}."
    return Picture(title, reading, body, table, data.rows)


def _times(level: LevelResult) -> Rows:
    server = level.decided not in ("generator", "spoiled")
    found: Rows = []
    for name in SERIES:
        estimate = level.response[name]
        if estimate.value is not None:
            low, high = estimate.low or estimate.value, estimate.high or estimate.value
            row = {"level": level.level, "series": name, "server": server, "s": at_least(estimate.value)}
            found.append({**row, "low": at_least(low), "high": at_least(high)})
    return found


def _predicted(result: CapacityResult) -> Rows:
    if result.model is None:
        return []
    return [
        {"level": one.level, "series": one.metric, "s": at_least(one.predicted_s)}
        for one in result.model.predictions
        if one.metric in SERIES
    ]


def _band(data: Datasets, result: CapacityResult, height: int) -> list[Spec]:
    """A band for the interval of the answer, drawn behind everything else."""
    capacity = result.capacity
    if capacity.low is None or capacity.high is None:
        return []  # `_shaded` then says nothing of a band
    rows = data([{"level": capacity.low, "end": max(capacity.high, capacity.low * 1.002)}])
    across = {"y": {"value": 0}, "y2": {"value": height}}
    return [layer(rows, "rect", BAND, x=_x(result), x2={"field": "end"}, **across)]


def _shaded(result: CapacityResult) -> str:
    known = result.capacity.low is not None and result.capacity.high is not None
    return "; shaded: the interval of the capacity" if known else ""


def _limit(data: Datasets, text: str, limit_s: float, y: Spec) -> list[Spec]:
    rows = data([{"s": limit_s, "text": text}])
    words = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "fontSize": 11, "color": MUTED}
    return [
        layer(rows, "rule", DASHED, y=y),
        layer(rows, "text", words, x={"value": 0}, y=y, text={"field": "text"}),
    ]


def _x(result: CapacityResult) -> Spec:
    max_level = max(x.level for x in result.levels) * ROOM
    title = "offered, per second" if result.unit == "/s" else "clients"
    return quantitative(
        "level", scale={"domain": [0, max_level], "nice": False}, axis={"title": title, "format": "~s"}
    )


def _y(found: list[float]) -> Spec:
    low, high = min(found) / 1.3, max(max(found), min(found) * 4) * 1.3
    axis = {"title": "response time (logarithmic)", "labelExpr": TIME_LABEL, "values": decades(low, high)}
    scale = {"type": "log", "domain": [low, high], "nice": False, "clamp": True}
    return quantitative("s", scale=scale, axis=axis)


def _colour() -> Spec:
    scale = {"domain": list(SERIES), "range": list(SERIES.values())}
    legend = {"title": None, "orient": "top", "symbolType": "circle"}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _reading(result: CapacityResult) -> str:
    text = f"Each level with the 95 % interval of its quantile{_shaded(result)}"
    if any(x.decided in ("generator", "spoiled") for x in result.levels):
        text += "; grey rings: the generator or the machine was the limit there"
    if _predicted(result):
        text += "; diamonds: predicted by the model, at levels that it was not fitted to"
    return f"{text}."
