"""Published figures of a plan: whose each of them is, and the same metric as measured here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jostle.analysis import metrics
from jostle.analysis.results import PublishedFigure
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.trials.data import TrialData
from jostle.plan.criteria.claims import Published
from jostle.plan.labels import resolve_label

__all__ = ["published_figures"]


def published_figures(
    published: Published | None, grouped: Mapping[Key, Sequence[TrialData]], usual: UsualOf
) -> list[PublishedFigure]:
    """Every figure once for each measured contestant that it means, with the same metric here.

    This is the only place that decides whose a figure is. A variant with a figure of its own is not meant by
    the figure of its contestant's name. A figure of which no contestant was measured is returned once, with
    no measured value.
    """
    if published is None:
        return []
    figures = [
        PublishedFigure(
            contestant=figure.contestant,
            metric=figure.metric,
            value=figure.value,
            unit=figure.unit,
            source=published.source,
            workload=figure.workload,
            note=figure.note,
        )
        for figure in published.figures
    ]
    return [measured for figure in figures for measured in _beside_measured(figure, figures, grouped, usual)]


def _beside_measured(
    figure: PublishedFigure,
    figures: Sequence[PublishedFigure],
    grouped: Mapping[Key, Sequence[TrialData]],
    usual: UsualOf,
) -> list[PublishedFigure]:
    named = {f.contestant for f in figures if (f.workload, f.metric) == (figure.workload, figure.metric)}
    measured = resolve_label(figure.contestant, [name for name, w in grouped if w == figure.workload])
    own = [name for name in measured if name == figure.contestant or name not in named]
    if not own:
        return [figure]
    if figure.metric not in metrics.VALUE_OF:
        return [replace(figure, beside=name) for name in own]
    rounds = {name: [f for f in grouped[name, figure.workload] if f.usable] for name in own}
    return [
        replace(figure, beside=name, measured=metrics.estimate(figure.metric, rounds[name], usual=usual))
        for name in own
    ]
