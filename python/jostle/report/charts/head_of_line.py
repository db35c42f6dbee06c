"""Streams of one HTTP/2 connection that waited for one another: a bar for each, on one axis of time."""

from jostle.analysis.results import HeadOfLine, StreamOfConnection
from jostle.formatting import amount, plural
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, layer, quantitative, short
from jostle.report.document import Table, columns

__all__ = ["head_of_line", "sentence"]

ROW_PX = 18
MAX_BARS = 30

QUEUED, ASKED, RECEIVED = "waits for a free stream", "waits for its response", "receives its response"
HUES = {QUEUED: MUTED, ASKED: "var(--hue2)", RECEIVED: "var(--hue1)"}


def head_of_line(found: HeadOfLine) -> Picture:
    """The streams in the order in which they were ready; anything before the displayed span is cut off."""
    data = Datasets()
    shown = _shown(found)
    bars = data([row for place, one in enumerate(shown) for row in _bars(found, one, place)])
    names: Rows = [{"y": place + 0.5, "t": 0.0, "name": _name(one)} for place, one in enumerate(shown)]
    length = found.end_s - found.begin_s
    axis = {"title": f"time from {found.begin_s:.3f} s on", "labelExpr": "format(datum.value, '~s') + 's'"}
    x = quantitative("from", scale={"domain": [0, length], "nice": False}, axis={**axis, "tickCount": 8})
    rows = {"domain": [0, len(shown)], "nice": False, "reverse": True}
    y = quantitative("y", scale=rows, axis=None)
    hues = {"domain": list(HUES), "range": list(HUES.values())}
    legend = {"title": None, "orient": "top"}
    hue = {"field": "kind", "type": "nominal", "scale": hues, "legend": legend}
    text = {"align": "right", "baseline": "middle", "dx": -6, "fontSize": 11}
    layers = [
        layer(bars, "bar", {"height": 11}, x=x, x2={"field": "to"}, y=y, color=hue),
        layer(
            data(names), "text", {**text, "color": MUTED}, x=quantitative("t"), y=y, text={"field": "name"}
        ),
    ]
    if found.behind is not None:
        ends = [s for s in (found.behind.head_s, found.behind.end_s) if s is not None]
        edges = data([{"from": s - found.begin_s} for s in ends])
        layers.append(layer(edges, "rule", {"color": INK, "strokeDash": [3, 3]}, x=quantitative("from")))
    body = {"layer": layers, "width": 660, "height": ROW_PX * len(shown)}
    return Picture(sentence(found), _reading(found, len(shown)), body, _table(found, shown), data.rows)


def sentence(found: HeadOfLine) -> str:
    """Which streams waited for what, and whether the connection was the cause, as far as the record tells."""
    longest = amount(found.longest_s, "s")
    duration = longest if found.waited == 1 else f"up to {longest}"
    if found.behind is None:
        free = "a free stream of their connection" if found.waited > 1 else "a free stream of its connection"
        return f"{plural(found.waited, 'request')} waited {duration} for {free}, which had {found.open} open."
    size = f" of {amount(found.behind.bytes, 'bytes')}" if found.behind.bytes else ""
    counted = "All" if found.waited == found.others else f"{found.waited} of the"
    others = f"{counted} {found.others} other streams of a connection"
    if found.others == 1:
        others = "The only other stream of a connection"
    return f"{others} waited {duration} while a response{size} came{_cause(found)}"


def _cause(found: HeadOfLine) -> str:
    if found.passed:
        was = "was" if found.passed == 1 else "were"
        return f"; {found.passed} {was} answered meanwhile: the connection let them through."
    where = plural(found.elsewhere_connections, "other connection")
    median = amount(found.elsewhere_median_s, "s")
    took = f"On {where} the same request took {median} meanwhile (median of {found.elsewhere_answers})"
    if found.cause == "connection":
        return f": the connection, not the server. {took}."
    if found.cause == "server":
        return f". {took}: the server, not the connection."
    return ". Whether the connection or the server was busy, the other connections do not tell."


def _reading(found: HeadOfLine, shown: int) -> str:
    left_out = "" if shown == len(found.streams) else f" Shown are {shown} of {len(found.streams)} streams."
    lines = "; between the dashed lines the response came for which others waited" if found.behind else ""
    return (
        f"The longest wait of {found.contestant}, {found.workload}, in trial {found.trial}. A bar for each "
        f"stream of the connection{lines}.{left_out}"
    )


def _shown(found: HeadOfLine) -> list[StreamOfConnection]:
    """The streams to draw: the one that others waited for, the longest waits, then the latest ones."""

    def importance(one: StreamOfConnection) -> tuple[bool, float, float]:
        return one is not found.behind, -one.waited_s, -one.ready_s

    span = found.begin_s, found.end_s
    active = [one for one in found.streams if one.ready_s < span[1] and (one.end_s or span[1]) > span[0]]
    chosen = {id(one) for one in sorted(active, key=importance)[:MAX_BARS]}
    return [one for one in active if id(one) in chosen]


def _bars(found: HeadOfLine, one: StreamOfConnection, place: int) -> Rows:
    end = found.end_s if one.end_s is None else one.end_s
    sent = end if one.sent_s is None else one.sent_s
    head = end if one.head_s is None else one.head_s
    parts = [(QUEUED, one.ready_s, sent), (ASKED, sent, head), (RECEIVED, head, end)]
    return [
        {"y": place + 0.5, "from": max(begin, found.begin_s) - found.begin_s, "to": until - found.begin_s}
        | {"kind": kind}
        for kind, begin, until in parts
        if until > max(begin, found.begin_s)
    ]


def _name(one: StreamOfConnection) -> str:
    number = f"stream {one.stream}" if one.stream else "no stream"
    return f"{short(one.request, 24)}, {number}" if one.request else number


def _table(found: HeadOfLine, shown: list[StreamOfConnection]) -> Table:
    table = Table(
        "Streams of the connection",
        columns("request | stream", "ready = | sent = | head = | end = | waited ="),
    )
    for one in shown:
        times = (one.ready_s, one.sent_s, one.head_s, one.end_s)
        since = (amount(None if t is None else max(0.0, t - found.begin_s), "s") for t in times)
        table.add(short(one.request), str(one.stream), *since, amount(one.waited_s or None, "s"))
    return table
