"""Published figures of a plan, each beside the same quantity as it was measured here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jostle.analysis import metrics
from jostle.analysis.compare.pairs import Key
from jostle.analysis.results import PublishedFigure
from jostle.analysis.trial.data import TrialData
from jostle.plan.labels import meant

__all__ = ["published_figures"]


def published_figures(
    plan: Mapping[str, Any], grouped: Mapping[Key, Sequence[TrialData]]
) -> list[PublishedFigure]:
    """Those of a plan, each beside the same quantity of the trials that were made.

    One that this version cannot read is left out.
    """
    if not plan.get("published"):
        return []  # most plans; the models of plans take long to import
    from jostle.plan.recorded import RecordedPlan

    published = RecordedPlan.of(plan).published
    if published is None:
        return []
    figures = [
        PublishedFigure(
            contestant=figure.contestant,
            quantity=figure.quantity,
            value=figure.value,
            unit=figure.unit,
            source=published.source,
            workload=figure.workload,
            note=figure.note,
        )
        for figure in published.figures
    ]
    return [told for figure in figures for told in _beside_measured(figure, figures, grouped)]


def _beside_measured(
    figure: PublishedFigure,
    figures: Sequence[PublishedFigure],
    grouped: Mapping[Key, Sequence[TrialData]],
) -> list[PublishedFigure]:
    """The figure once for each contestant that it means, with the same quantity here; as it is without any.

    A variant that has a figure of its own is not meant by that of all.
    """
    named = {f.contestant for f in figures if (f.workload, f.quantity) == (figure.workload, figure.quantity)}
    measured = meant(figure.contestant, [name for name, w in grouped if w == figure.workload])
    own = [name for name in measured if name == figure.contestant or name not in named]
    if not own or figure.quantity not in metrics.MEASURES:
        return [figure]
    rounds = {name: [f for f in grouped[name, figure.workload] if f.usable] for name in own}
    return [
        replace(figure, beside=name, measured=metrics.estimate(figure.quantity, rounds[name])) for name in own
    ]
