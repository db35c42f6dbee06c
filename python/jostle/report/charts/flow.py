"""Where journeys end: how many continue after each step, and how many it ends."""

from jostle.analysis.results import JourneyResult
from jostle.formatting import percent, tallied
from jostle.record.outcomes import outcome_label
from jostle.report.charts.picture import INK, Datasets, Picture, Rows, layer, quantitative, short
from jostle.report.document import Table

__all__ = ["flow"]

ROW_PX = 34
GOING_ON, ENDED = "var(--hue1)", "var(--hue2)"


def flow(journey: JourneyResult, table: Table) -> Picture | None:
    """A bar per step; None if no step ended a journey."""
    if not journey.ended:
        return None
    begun = left = journey.completed + journey.ended + journey.unfinished
    rows: Rows = []
    for place, step in enumerate(journey.steps):
        ended = sum(step.ended.values())
        how = tallied({outcome_label(kind): n for kind, n in step.ended.items()})
        rows.append(
            {
                "y": len(journey.steps) - place - 0.5,
                "zero": 0,
                "on": (left - ended) / begun,
                "here": left / begun,
                "name": short(step.name),
                "text": f"{percent(ended / begun)} end here: {short(how, 60)}" if ended else "",
            }
        )
        left -= ended
    data = Datasets()
    bars = data(rows)
    scale = {"domain": [0, 1.6], "nice": False}
    axis = {"title": "share of the journeys that began", "format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    x = quantitative("zero", scale=scale, axis=axis)
    y = quantitative("y", scale={"domain": [0, len(journey.steps)], "nice": False}, axis=None)
    text = {"align": "left", "baseline": "middle"}
    on = quantitative("on")
    layers = [
        layer(bars, "bar", {"color": GOING_ON, "height": 12}, x=x, x2={"field": "on"}, y=y),
        layer(bars, "bar", {"color": ENDED, "height": 12}, x=on, x2={"field": "here"}, y=y),
        layer(bars, "text", {**text, "fontWeight": "bold", "dy": -13}, x=x, y=y, text={"field": "name"}),
        layer(
            bars, "text", {**text, "dx": 6, "color": INK}, x=quantitative("here"), y=y, text={"field": "text"}
        ),
    ]
    body = {"layer": layers, "width": 820, "height": ROW_PX * len(journey.steps)}
    worst = max(journey.steps, key=lambda step: sum(step.ended.values()))
    share = percent(sum(worst.ended.values()) / begun)
    title = f"{journey.name}: {percent(journey.completed / begun)} are completed; {worst.name} ends {share}."
    reading = (
        "First colour: journeys that go on after each step; second: those that it ends. Journeys that were "
        "cut off by the end of the load count as going on."
    )
    return Picture(title, reading, body, table, data.rows)
