"""The sentence that stands above each picture, made from the figures that it shows."""

from jostle.analysis.results import Estimate
from jostle.formatting import amount, percent
from jostle.report.views import ALONE, WITH_SLOW, Panel, Series, View

__all__ = ["about_quantile", "about_shape", "about_throughput", "extremes"]


HARMFUL = 0.1
"""From this index on, a title speaks of harm."""


def extremes(view: View) -> tuple[Panel, Panel]:
    """The panels of the most and of the least starved contestant (the same one when there is but one)."""
    ordered = sorted(view.panels, key=_harm, reverse=True)
    return ordered[0], ordered[-1]


def _harm(panel: Panel) -> float:
    """The greater of both indices: an open stream keeps its throughput while every request waits."""
    s = panel.starvation
    known = [e.value for e in (s.index, s.blocking) if e.value is not None] if s else []
    return max(known, default=-1.0)


def _index(panel: Panel) -> float:
    value = panel.starvation.index.value if panel.starvation else None
    return -1.0 if value is None else value


def about_throughput(view: View) -> str:
    """What one slow request takes from the most and from the least starved; or who serves most."""
    if not view.paired:
        return ""
    ordered = sorted(view.panels, key=_index, reverse=True)
    worst, best = ordered[0], ordered[-1]
    lost = _index(worst)
    if lost < 0.05 and _harm(extremes(view)[0]) > HARMFUL:
        slowest = extremes(view)[0]
        grown = percent(_harm(slowest))
        return (
            f"The stream keeps its rate beside one slow request, but on {slowest.contestant} its p99 grows by"
            f" {grown} of the slow request's time."
        )
    if lost < 0.05:
        return (
            f"One slow request takes no contestant more than {percent(max(lost, 0.0))} of its fast requests."
        )
    sentence = f"One slow request takes {percent(lost)} of {worst.contestant}'s fast requests"
    if best is worst:
        return sentence + "."
    return sentence + f", and {percent(max(_index(best), 0.0))} of {best.contestant}'s."


def about_quantile(view: View, name: str, noun: str) -> str:
    """What a quantile is alone and beside the slow request; or whose is the lowest and whose the highest."""
    if view.paired:
        worst, best = extremes(view)
        chosen = [worst] if worst is best else [worst, best]
        told = [_pair(p, name) for p in chosen]
        unknown = [_unknown(p) for p, pair in zip(chosen, told, strict=True) if not pair]
        if any(told):
            known = f"the {noun} is " + "; ".join(filter(None, told))
            return "Beside one slow request " + "; ".join([*unknown, known]) + "."
        if any(_nobody_answered(p) for p in chosen):
            return "Beside one slow request " + "; ".join(unknown) + "."
        return f"The {noun} cannot be told from so few requests."
    values = [(e.value, p.contestant, e) for p in view.panels if (e := _quantile(p.series[0], name))]
    if not values:
        return f"The {noun} cannot be told from so few requests."
    (_, low_name, low), (_, high_name, high) = min(values, key=_first), max(values, key=_first)
    if low_name == high_name:
        return f"The {noun} is {_told(low)}."
    return f"The {noun} is {_told(low)} on {low_name} and {_told(high)} on {high_name}."


def about_shape(view: View) -> str:
    """What the densities show: where the median lies, and how far the longest is from it."""
    if view.paired:
        worst, _ = extremes(view)
        found = {s.name: s for s in worst.series}
        if ALONE in found and WITH_SLOW in found:
            before, after = (_quantile(found[n], "max") for n in (ALONE, WITH_SLOW))
            if before is not None and after is not None:
                return (
                    f"The longest fast request on {worst.contestant} takes {_told(after)} beside a slow"
                    f" one, {_told(before)} alone."
                )
    longest = max((s.distribution.max_s or 0.0, p.contestant) for p in view.panels for s in p.series)
    if len(view.panels) == 1:
        return (
            about_quantile(view, "p50", "median response time")[:-1]
            + f", the longest {amount(longest[0], 's')}."
        )
    return about_quantile(view, "p50", "median response time")


def _pair(panel: Panel, name: str) -> str:
    found = {s.name: _quantile(s, name) for s in panel.series}
    before, after = found.get(ALONE), found.get(WITH_SLOW)
    if before is None or after is None:
        return ""
    return f"{_told(after)} on {panel.contestant} ({_told(before)} alone)"


def _unknown(panel: Panel) -> str:
    if _nobody_answered(panel):
        return f"no fast request was answered on {panel.contestant}"
    return f"too few were answered on {panel.contestant}"


def _nobody_answered(panel: Panel) -> bool:
    return panel.starvation is not None and panel.starvation.with_slow.value == 0


def _quantile(series: Series, name: str) -> Estimate | None:
    found = series.response.get(name)
    return found if found and found.value is not None else None


def _told(estimate: Estimate) -> str:
    return f"{estimate.bound} {amount(estimate.value, 's')}".strip()


def _first(item: tuple[float | None, str, Estimate]) -> float:
    return item[0] or 0.0
