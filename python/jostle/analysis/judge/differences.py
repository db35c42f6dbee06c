"""The plan's `[[require]]` about differences: "not slower" than the baseline, or a limit to one change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jostle.analysis.compare.family import ComparisonFamily, usual_differences
from jostle.analysis.compare.overall import TESTED, judge_overall
from jostle.analysis.compare.pairs import not_compared, side, without_given_rate
from jostle.analysis.compare.side import pair
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results import Comparison, Decision, Estimate, RequirementResult, WorkloadSummary
from jostle.analysis.results.keys import Key
from jostle.analysis.results.rule import decide
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.stats.sequential import ConfidenceRule
from jostle.analysis.trials.data import TrialData
from jostle.plan.criteria.conditions import Condition
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.labels import resolve_label
from jostle.record.verdict import Verdict

__all__ = ["judge_difference"]


def judge_difference(
    required: Requirement,
    whom: Sequence[str],
    first: str,
    grouped: Mapping[Key, Sequence[TrialData]],
    summaries: Mapping[Key, WorkloadSummary],
    usual: UsualOf,
    confidence_rule: ConfidenceRule,
) -> list[RequirementResult]:
    """The requirement for each workload and each contestant of `whom` but the baseline.

    `first`: the plan's first contestant, which is the baseline if the requirement names none.
    """
    known = list(dict.fromkeys(name for name, _ in summaries))
    baselines = [
        key for name in resolve_label(required.against or first, known) for key in summaries if key[0] == name
    ]
    others = [key for key in summaries if key[0] in whom and key not in baselines]
    keys = [
        (baseline, other)
        for baseline in baselines
        for other in others
        if baseline[1] == other[1] and required.workload in ("", other[1])
    ]
    pairs = [pair(*(side(grouped[key], summaries[key], key[0], usual) for key in two)) for two in keys]
    family = ComparisonFamily(
        confidence_rule=lambda _, rounds: confidence_rule(required.confidence, rounds),
        usual=usual_differences(pairs),
    )
    more = TESTED if required.unwanted else (required.condition.metric,)
    compared = [
        without_given_rate(compare_sides(*sides, family, more), grouped[baseline])
        for (baseline, _), sides in zip(keys, pairs, strict=True)
    ]
    return [_requirement(required, one, len(compared)) for one in compared]


def _requirement(required: Requirement, c: Comparison, comparisons: int) -> RequirementResult:
    if required.unwanted is None:
        estimate, limit, verdict, message = _limited(required.condition, c)
    else:
        found, limit = judge_overall(c, required.unwanted, comparisons), 1 + required.unwanted.by
        estimate, verdict, message = found.factor, found.verdict, found.message
    about = (c.b, c.workload, required.confidence)
    return RequirementResult(required.text, *about, estimate, limit, verdict, message, against=c.a)


def _limited(condition: Condition, c: Comparison) -> tuple[Estimate, float, Decision, str]:
    """The change of one metric, or its factor if the limit is relative, and the limit to that."""
    limit = condition.limit + condition.relative
    d = next((d for d in c.differences if d.metric == condition.metric), None)
    if d is None:
        return Estimate(None, unit=condition.unit), limit, "undecided", not_compared(condition.metric)
    estimate = replace(d.ratio, unit="ratio") if condition.relative else d.difference
    verdict = decide(replace(condition, limit=limit), estimate)
    return estimate, limit, "undecided" if d.verdict is Verdict.INVALID else verdict, d.sentence
