"""The sentence above each picture, derived from the figures that the picture shows."""

from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.formatting import amount, formatted, listed, percent
from jostle.report.views import ALONE, WITH_SLOW, Panel, Series, View

__all__ = ["about_quantile", "about_throughput", "extremes", "most_harmed"]

HARMFUL = 0.1
"""Above this index, a title mentions the harm."""


def extremes(view: View) -> tuple[Panel, Panel]:
    """The panels of the most and the least harmed contestant (the same one if there is only one)."""
    ordered = sorted(view.panels, key=lambda panel: _harm(panel, view), reverse=True)
    return ordered[0], ordered[-1]


def most_harmed(views: Sequence[View]) -> View:
    """The view with the most harmed contestant; among views without pairs, the one with the longest p99."""

    def longest(view: View) -> float:
        known = [e.value for p in view.panels for s in p.series if (e := _quantile(s, "p99"))]
        return max((v for v in known if v is not None), default=0.0)

    return max(views, key=lambda view: (min(1.0, _harm(extremes(view)[0], view)), longest(view)))


def _harm(panel: Panel, view: View) -> float:
    """The index that the form defines: the blocking index in an open loop, whose rate is fixed, otherwise the
    starvation index. −1 if unknown.
    """
    s = panel.starvation
    index = None if s is None else (s.blocking if view.open_loop else s.index).value
    return -1.0 if index is None else index


def _index(panel: Panel) -> float | None:
    return panel.starvation.index.value if panel.starvation else None


def _lost(panel: Panel) -> float:
    return max(_index(panel) or 0.0, 0.0)


def about_throughput(view: View) -> str:
    """How much throughput the most and the least starved contestant lose beside slow requests."""
    known = [panel for panel in view.panels if _index(panel) is not None]
    if len(known) < len(view.panels):
        unknown = listed([panel.contestant for panel in view.panels if panel not in known])
        return f"What slow requests cost is not known for {unknown}: the table says why."
    ordered = sorted(known, key=_lost, reverse=True)
    worst, best = ordered[0], ordered[-1]
    lost = _lost(worst)
    harmed = extremes(view)[0]
    if lost < 0.05 and _harm(harmed, view) > HARMFUL:
        grown = amount(_harm(harmed, view), "")
        return (
            f"Beside slow requests the throughput is hardly lower, but on {harmed.contestant} the p99 grows "
            f"by {grown} times what a slow request takes."
        )
    if lost < 0.05:
        return f"Beside slow requests, nobody completes over {percent(lost)} fewer fast ones per trial."
    sentence = f"Beside slow requests, {worst.contestant} completes {percent(lost)} fewer fast ones per trial"
    if best is worst:
        return sentence + "."
    return sentence + f", and {best.contestant} {percent(_lost(best))} fewer."


def about_quantile(view: View, name: str) -> str:
    """A quantile beside slow requests and alone; without pairs, the lowest and the highest contestant's."""
    if view.paired:
        worst, best = extremes(view)
        chosen = [worst] if worst is best else [worst, best]
        pairs = [_pair(p, name) for p in chosen]
        return f"{name} beside slow requests: {', '.join(pairs)}."
    values = [(e.value, p.contestant, e) for p in view.panels if (e := _quantile(p.series[0], name))]
    if not values:
        return f"{name}: too few requests were answered."
    if len(values) == 1 and len(view.panels) > 1:
        (_, one, found) = values[0]
        unknown = listed([p.contestant for p in view.panels if p.contestant != one])
        return f"{name}: {formatted(found).value} on {one}; unknown for {unknown}."
    (_, low_name, low), (_, high_name, high) = min(values, key=_first), max(values, key=_first)
    if low_name == high_name:
        return f"{name}: {formatted(low).value}."
    return f"{name}: {formatted(low).value} on {low_name}, {formatted(high).value} on {high_name}."


def _pair(panel: Panel, name: str) -> str:
    found = {s.name: s for s in panel.series}
    before, after = (_quantile(found[n], name) if n in found else None for n in (ALONE, WITH_SLOW))
    was = f" (alone: {formatted(before).value})" if before else ""
    if after is None:
        slow = found.get(WITH_SLOW)
        nobody = slow is not None and not slow.distribution.n
        return f"{panel.contestant} {'answered no request' if nobody else 'unknown'}{was}"
    return f"{panel.contestant} {formatted(after).value}{was}"


def _quantile(series: Series, name: str) -> Estimate | None:
    found = series.response.get(name)
    return found if found and found.value is not None else None


def _first(item: tuple[float | None, str, Estimate]) -> float:
    return item[0] or 0.0
