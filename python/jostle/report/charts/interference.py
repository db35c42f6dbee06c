"""Which requests wait behind which: a square for each pair of routes, the darker the longer one takes beside
the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.formatting import amount, plural
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, layer, quantitative, short
from jostle.report.document import Table, columns

__all__ = ["Pair", "interference"]

CELL_PX = 170
UNCHANGED = 1.1
"""Medians of a light stream may differ by this factor without any cause."""

STRONGEST = 100.0
"""A request that takes a hundred times as long is as dark as it gets."""


@dataclass(frozen=True)
class Pair:
    """`n` requests for `route` while `clients` clients ask for `beside` back to back. Medians in seconds."""

    route: str
    beside: str
    clients: int
    n: int
    alone_s: float | None
    median_s: float | None


def interference(pairs: Sequence[Pair]) -> Picture | None:
    """The matrix of all pairs; None if there are no responses for any of them."""
    known = [p for p in pairs if p.alone_s and p.median_s]
    if not known:
        return None
    routes = list(dict.fromkeys(p.route for p in pairs))
    besides = list(dict.fromkeys((p.beside, p.clients) for p in pairs))
    rows: Rows = []
    for p in known:
        assert p.alone_s is not None
        assert p.median_s is not None
        ratio = p.median_s / p.alone_s
        left, top = besides.index((p.beside, p.clients)), routes.index(p.route)
        dark = min(1.0, max(0.04, math.log(max(ratio, 1.0)) / math.log(STRONGEST)))
        rows.append(
            {
                "x": left, "x2": left + 0.96, "y": top, "y2": top + 0.94,
                "mx": left + 0.48, "my": top + 0.47, "dark": dark,
                "text": "no longer" if ratio < UNCHANGED else amount(ratio, "times"),
            }
        )  # fmt: skip
    data = Datasets()
    x = quantitative("x", scale={"domain": [-0.9, len(besides)], "nice": False}, axis=None)
    y = quantitative("y", scale={"domain": [len(routes), -0.35], "nice": False}, axis=None)
    shade = quantitative("dark", scale={"domain": [0, 1], "range": [0, 0.75]}, legend=None)
    heads = [
        {"x": i + 0.48, "text": f"beside {n} × {short(name, 14)}"} for i, (name, n) in enumerate(besides)
    ]
    names = [{"x": -0.06, "y": i + 0.47, "text": short(name, 16)} for i, name in enumerate(routes)]
    text = {"field": "text"}
    cells = data(rows)
    layers = [
        layer(
            cells,
            "rect",
            {"color": "var(--hue2)"},
            x=x,
            x2={"field": "x2"},
            y=y,
            y2={"field": "y2"},
            opacity=shade,
        ),
        layer(cells, "text", {"color": INK}, x={**x, "field": "mx"}, y={**y, "field": "my"}, text=text),
        layer(data(heads), "text", {"color": MUTED, "fontSize": 11}, x=x, y={"value": 10}, text=text),
        layer(data(names), "text", {"align": "right", "fontWeight": "bold"}, x=x, y=y, text=text),
    ]
    body = {"layer": layers, "width": CELL_PX * (len(besides) + 1), "height": 54 * len(routes) + 24}
    names_of_columns = columns("route | beside", "clients | by itself | beside them | requests")
    table = Table("Medians of each route by itself and beside others", names_of_columns)
    for p in pairs:
        table.add(
            p.route, p.beside, str(p.clients), amount(p.alone_s, "s"), amount(p.median_s, "s"), str(p.n)
        )
    worst = max(known, key=lambda p: (p.median_s or 0.0) / (p.alone_s or 1.0))
    ratio = (worst.median_s or 0.0) / (worst.alone_s or 1.0)
    longer = "no longer than" if ratio < UNCHANGED else f"{amount(ratio, 'times')} as long as"
    title = (
        f"Beside {plural(worst.clients, 'client')} of {short(worst.beside)}, {short(worst.route)} takes "
        f"{longer} by itself."
    )
    reading = (
        "Each row is a route in a light stream, each column what others ask for back to back meanwhile; "
        "medians over "
        "the route by itself."
    )
    return Picture(title, reading, body, table, data.rows)
