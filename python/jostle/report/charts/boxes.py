"""Box plots on linear axes, as articles draw them: the published boxes, and below them the measured ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.formatting import amount
from jostle.report.charts.axes import at_least
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, Spec, layer, quantitative, short
from jostle.report.document import Table, columns
from jostle.units import scale

__all__ = ["Box", "boxes"]

ROW_PX = 46
HALF = 0.28
"""Half the height of a box, as a share of its row's height."""

MARGIN = 1.06
"""The axis ends slightly beyond the longest whisker."""


@dataclass(frozen=True)
class Box:
    """The five-number summary of response times, in seconds."""

    contestant: str
    min_s: float
    lower_s: float
    median_s: float
    upper_s: float
    max_s: float

    @property
    def numbers(self) -> tuple[float, ...]:
        """The five numbers in ascending order."""
        return self.min_s, self.lower_s, self.median_s, self.upper_s, self.max_s


def boxes(title: str, published: Sequence[Box], here: Sequence[Box], order: Sequence[str]) -> Picture:
    """Two panels with a row per server; each has its own axis, since machines and work differ."""
    data = Datasets()
    names = list(dict.fromkeys(box.contestant for box in (*published, *here)))
    hue = of_contestants(order, names)
    panels = [
        _panel(data, "As published", published, hue),
        _panel(data, "Measured here", here, hue),
    ]
    widest = max(here, key=_stretch)
    sentence = (
        f"{title}: the longest response here takes {amount(_stretch(widest), 'times')} the median, "
        f"on {short(widest.contestant)}."
    )
    reading = (
        "Boxes: from the first to the third quartile, with the median; whiskers: the shortest and "
        "the longest response. Axes are linear and differ: compare shapes, not lengths."
    )
    return Picture(sentence, reading, {"vconcat": panels}, _table(published, here), data.rows)


def _stretch(box: Box) -> float:
    return box.max_s / at_least(box.median_s)


def _panel(data: Datasets, title: str, found: Sequence[Box], hue: Spec) -> Spec:
    longest_s = max(box.max_s for box in found) * MARGIN
    chosen = scale(longest_s, "s")
    axis = {"title": f"response time ({chosen.suffix.strip()})", "grid": True}
    x = quantitative("x", scale={"domain": [0, longest_s / chosen.size], "nice": False}, axis=axis)
    y = quantitative("y", scale={"domain": [0, len(found)], "nice": False}, axis=None)
    rows: Rows = []
    names: Rows = []
    for number, box in enumerate(found):
        centre = len(found) - number - 0.5
        least, lower, median, upper, longest = (value / chosen.size for value in box.numbers)
        rows.append(
            {
                "contestant": box.contestant,
                **{"least": least, "lower": lower, "median": median, "upper": upper, "most": longest},
                **{"y": centre, "top": centre + HALF, "bottom": centre - HALF},
            }
        )
        names.append({"y": centre + HALF, "text": short(box.contestant)})
    source = data(rows)
    x_to, y_to = {"field": "most"}, {"field": "top"}
    box_ends = {"x": {**x, "field": "lower"}, "x2": {"field": "upper"}}
    bottom, middle = {**y, "field": "bottom"}, {**x, "field": "median"}
    name = {"align": "left", "baseline": "bottom", "fontWeight": "bold", "dy": -1, "fontSize": 11}
    layers = [
        layer(source, "rule", {"color": MUTED}, x={**x, "field": "least"}, x2=x_to, y=y),
        layer(source, "rect", {"fillOpacity": 0.35}, **box_ends, y=bottom, y2=y_to, color=hue),
        layer(source, "rule", {"color": INK, "strokeWidth": 2}, x=middle, y=bottom, y2=y_to),
        layer(data(names), "text", name, x={"value": 2}, y=y, text={"field": "text"}),
    ]
    return {"title": title, "layer": layers, "width": 820, "height": ROW_PX * len(found)}


def _table(published: Sequence[Box], here: Sequence[Box]) -> Table:
    names = columns("contestant | where =", "shortest | 1st quartile | median | 3rd quartile | longest")
    table = Table("Five numbers, as published and here", names)
    for where, found in (("published", published), ("here", here)):
        for box in found:
            table.add(box.contestant, where, *(amount(value, "s") for value in box.numbers))
    return table
