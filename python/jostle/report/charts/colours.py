"""A colour always stands for a contestant: faint for requests alone, strong for those beside slow ones."""

from collections.abc import Sequence

from jostle.report.charts.picture import MUTED, Spec
from jostle.report.views import ALONE, WITH_SLOW, View

__all__ = ["BY_STRENGTH", "HUES", "hue", "of_contestants", "strength"]

BY_STRENGTH = "Pale: fast requests alone; solid: with slow ones. "

HUES = 8
"""How many colours the page has; they are distinct for the colour-blind and visible on light and dark
backgrounds.
"""

FAINT = 0.4


def hue(order: Sequence[str], contestant: str) -> str:
    """The colour of a contestant, by its position in the run; grey if there are no colours left."""
    place = order.index(contestant) if contestant in order else 0
    return f"var(--hue{place + 1})" if place < HUES else MUTED


def of_contestants(order: Sequence[str], names: Sequence[str], *, legend: bool = False) -> Spec:
    """The colour channel for the field "contestant". `names`: the contestants that are drawn."""
    shown = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3}
    scale = {"domain": list(names), "range": [hue(order, name) for name in names]}
    return {"field": "contestant", "type": "nominal", "scale": scale, "legend": shown if legend else None}


def strength(view: View) -> Spec:
    """The opacity channel that tells "alone" from "with slow"; empty if the view has no pairs."""
    if not view.paired:
        return {}
    scale = {"domain": [ALONE, WITH_SLOW], "range": [FAINT, 1]}
    return {"opacity": {"field": "series", "type": "ordinal", "scale": scale, "legend": None}}
