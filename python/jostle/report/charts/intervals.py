"""A dot with its interval per row, the rounds as small rings, and published figures as hollow diamonds."""

from jostle.report.charts.picture import GRID, MUTED, SURFACE, Datasets, Rows, Spec, layer

__all__ = ["DIAMOND", "RING", "intervals"]

DIAMOND: Spec = {"shape": "diamond", "size": 110, "color": MUTED, "strokeWidth": 1.5}
DOT: Spec = {"filled": True, "size": 70, "stroke": SURFACE, "opacity": 1}
# The rounds: an interval alone would hide several modes, or an outlier.
RING: Spec = {"filled": False, "size": 22, "strokeWidth": 1.2, "opacity": 0.7}
LABEL_PX = 12  # distance above a dot; below a diamond it is a little more


def intervals(
    data: Datasets, dots: Rows, published: Rows, rounds: Rows, x: Spec, y: Spec, hue: Spec
) -> list[Spec]:
    """The layers. Fields of the rows: x, y and text; in `dots` also low, high and contestant; in `rounds`
    x, y and contestant.
    """
    source, claimed, text = data(dots), data(published), {"field": "text"}
    above = {"dy": -LABEL_PX, "fontSize": 12}
    below = {"dy": LABEL_PX + 4, "fontSize": 12, "color": MUTED}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    return [
        layer(source, "rule", {"color": GRID}, y=y),
        layer(claimed, "point", DIAMOND, x=x, y=y),
        layer(claimed, "text", below, x=x, y=y, text=text),
        layer(source, "rule", {"strokeWidth": 2.5}, **ends, y=y, color=hue),
        *([layer(data(rounds), "point", RING, x=x, y=y, color=hue)] if rounds else []),
        layer(source, "point", DOT, x=x, y=y, color=hue),
        layer(source, "text", above, x=x, y=y, text=text),
    ]
