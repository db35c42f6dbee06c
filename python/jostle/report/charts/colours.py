"""Colours mean one thing throughout: a contestant. Faint is alone, strong is beside the slow request."""

from collections.abc import Sequence

from jostle.report.charts.picture import MUTED, Spec
from jostle.report.views import ALONE, WITH_SLOW, View

__all__ = ["BY_STRENGTH", "HUES", "hue", "of_contestants", "strength"]

BY_STRENGTH = "Pale: fast requests alone; solid: with slow ones. "

HUES = 8
"""How many the page has; they are apart for the colour-blind, and seen on light and dark ground."""

FAINT = 0.4


def hue(order: Sequence[str], contestant: str) -> str:
    """Of a contestant, by its place in the run; grey after the last hue."""
    place = order.index(contestant) if contestant in order else 0
    return f"var(--hue{place + 1})" if place < HUES else MUTED


def of_contestants(order: Sequence[str], names: Sequence[str], *, legend: bool = False) -> Spec:
    """The channel of the field "contestant". `names`: those that are drawn."""
    shown = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3}
    scale = {"domain": list(names), "range": [hue(order, name) for name in names]}
    return {"field": "contestant", "type": "nominal", "scale": scale, "legend": shown if legend else None}


def strength(view: View) -> Spec:
    """The channel that tells "alone" from "with slow"; nothing where there is no pair."""
    if not view.paired:
        return {}
    scale = {"domain": [ALONE, WITH_SLOW], "range": [FAINT, 1]}
    return {"opacity": {"field": "series", "type": "ordinal", "scale": scale, "legend": None}}
