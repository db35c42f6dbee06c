"""The plan's `[[ratio]]`: one workload against another, contestant by contestant."""

from collections.abc import Mapping, Sequence

from jostle.analysis import metrics
from jostle.analysis.results import PublishedFigure, RatioResult
from jostle.analysis.results.keys import Key
from jostle.analysis.results.published_figure import figure
from jostle.analysis.stats.moderated import UsualOf, typical_ratio
from jostle.analysis.stats.over_rounds import RoundValue, ratio_of_rounds
from jostle.analysis.trials.data import TrialData, by_round, common_rounds
from jostle.plan.criteria.claims import Ratio

__all__ = ["ratios"]


def ratios(
    tables: Sequence[Ratio],
    grouped: Mapping[Key, Sequence[TrialData]],
    published: Sequence[PublishedFigure],
    usual: UsualOf,
) -> list[RatioResult]:
    """Every ratio for every contestant that was measured under both workloads, paired by round."""
    contestants = list(dict.fromkeys(name for name, _ in grouped))
    return [
        _ratio(table, contestant, grouped, published, usual)
        for table in tables
        for contestant in contestants
        if {(contestant, table.workload), (contestant, table.against)} <= grouped.keys()
    ]


def _ratio(
    table: Ratio,
    contestant: str,
    grouped: Mapping[Key, Sequence[TrialData]],
    known: Sequence[PublishedFigure],
    usual: UsualOf,
) -> RatioResult:
    metric, workloads = table.metric, (table.workload, table.against)
    ours, theirs = (by_round(grouped[contestant, name]) for name in workloads)
    common = common_rounds(ours, theirs)
    left, right = ([_value(metric, side[number]) for number in common] for side in (ours, theirs))
    published, published_against = _comparable(
        *(figure(known, contestant, name, metric) for name in workloads)
    )
    return RatioResult(
        title=table.title,
        metric=metric,
        contestant=contestant,
        workload=table.workload,
        against=table.against,
        value=metrics.estimate(metric, list(ours.values()), usual=usual),
        against_value=metrics.estimate(metric, list(theirs.values()), usual=usual),
        ratio=ratio_of_rounds(left, right, usual=typical_ratio(metric, metric)),
        published=published,
        published_against=published_against,
    )


def _comparable(
    figure: PublishedFigure | None, other: PublishedFigure | None
) -> tuple[float | None, float | None]:
    """Both as published if they have the same unit, else both in the base unit of their metric."""
    if figure is not None and other is not None and figure.unit != other.unit:
        return figure.amount, other.amount
    return (figure.value if figure else None), (other.value if other else None)


def _value(metric: str, data: TrialData) -> RoundValue:
    """The metric in one trial; None if only another version of jostle measures it."""
    measure = metrics.VALUE_OF.get(metric)
    return measure(data) if measure else None
