"""A burst as a staircase: a bar for each request, from when it was sent until it was answered, in order of
responses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.formatting import amount, plural
from jostle.report.charts.picture import Datasets, Picture, Rows, layer, quantitative, short
from jostle.report.document import Table, columns
from jostle.units import scale

__all__ = ["SentRequest", "staircase"]

ROW_PX, MAX_HEIGHT_PX = 16, 420
HUES = 8


@dataclass(frozen=True)
class SentRequest:
    """A request of a burst, with times in seconds since the burst began."""

    request: str
    demand_s: float
    """Its service time, measured alone."""
    at_s: float
    end_s: float | None
    """None if not answered."""


def staircase(sent: Sequence[SentRequest], what: str) -> Picture | None:
    """A bar per answered request; None if there are none. `what`: the burst in words, as a title begins."""
    ended = sorted(((s.end_s, s) for s in sent if s.end_s is not None), key=lambda pair: pair[0])
    if not ended:
        return None
    last_s = ended[-1][0]
    unit = scale(last_s, "s")
    rows: Rows = [
        {
            "request": short(one.request),
            "at": one.at_s / unit.size,
            "end": end / unit.size,
            "y": place,
            "y2": place + 0.8,
        }
        for place, (end, one) in enumerate(ended)
    ]
    longest_first = sorted(sent, key=lambda one: -one.demand_s)
    names = list(dict.fromkeys(short(one.request) for one in longest_first))
    data = Datasets()
    x = quantitative(
        "at",
        scale={"domain": [0, last_s / unit.size * 1.02], "nice": False},
        axis={"title": f"{unit.suffix.strip()} since the burst began", "grid": True},
    )
    y = quantitative("y", scale={"domain": [len(ended), 0], "nice": False}, axis=None)
    colour = {
        "field": "request",
        "type": "nominal",
        "scale": {"domain": names, "range": [f"var(--hue{i % HUES + 1})" for i in range(len(names))]},
        "legend": {"title": None, "orient": "top"},
    }
    bars = layer(
        data(rows),
        "rect",
        {"cornerRadius": 1},
        x=x,
        x2={"field": "end"},
        y=y,
        y2={"field": "y2"},
        color=colour,
    )
    body = {"layer": [bars], "width": 820, "height": min(MAX_HEIGHT_PX, max(60, ROW_PX * len(ended)))}
    table = Table(f"{what}, in order of responses", columns("request", "by itself | sent at | answered at"))
    for end, one in ended:
        table.add(one.request, *(amount(t, "s") for t in (one.demand_s, one.at_s, end)))
    unanswered = len(sent) - len(ended)
    title = (
        f"{what}: the first response after {amount(ended[0][0], 's')}, the last after {amount(last_s, 's')}"
        + (f"; {unanswered} of {plural(len(sent), 'request')} had none" if unanswered else "")
    )
    reading = (
        "A bar for each request, from when it was sent until it was answered, in order of responses. "
        "Steps of one "
        "request: one worker serves them one after another. All ends together: they share, or responses "
        "wait for the "
        "batch."
    )
    return Picture(f"{title}.", reading, body, table, data.rows)
