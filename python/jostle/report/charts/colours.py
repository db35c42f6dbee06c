"""Colours mean one thing throughout: alone and with the slow request; or one contestant each."""

from jostle.report.charts.picture import FIRST, SECOND, Spec
from jostle.report.views import ALONE, WITH_SLOW, View

__all__ = ["BY_COLOUR", "HUES", "of_contestants", "of_series"]

BY_COLOUR = "Blue: fast requests alone; orange: with one slow request. "

HUES = ["#2f8fd0", "#d9622b", "#1a9e77", "#b565b0", "#c79a00", "#7f8790"]
"""Apart for the colour-blind, and seen on light and dark ground (after Okabe and Ito)."""


def of_series(view: View) -> Spec:
    """The colour of a series: blue alone, orange with the slow request."""
    if not view.paired:
        return {"value": FIRST}
    scale = {"domain": [ALONE, WITH_SLOW], "range": [FIRST, SECOND]}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def of_contestants(names: list[str]) -> Spec:
    """A hue for each contestant, with a legend."""
    legend = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3}
    scale = {"domain": names, "range": HUES[: len(names)]}
    return {"field": "contestant", "type": "nominal", "scale": scale, "legend": legend}
