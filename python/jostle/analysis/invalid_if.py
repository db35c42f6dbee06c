"""What the plan itself calls invalid: `invalid-if = ["errors > 5 %"]`."""

from collections.abc import Iterator, Mapping, Sequence

from jostle.analysis.metrics import VALUE_OF
from jostle.analysis.results import Check, Validity
from jostle.analysis.results.rule import rule_of, written
from jostle.analysis.stats.over_rounds import AtLeast, number
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.failures import EVEN_IF_NOTHING_WAS_RIGHT
from jostle.formatting import is_or_are
from jostle.plan.criteria.conditions import Condition
from jostle.plan.recorded import RecordedPlan
from jostle.record.verdict import Verdict

__all__ = ["as_the_plan_says"]


def as_the_plan_says(
    validities: Mapping[int, Validity], trials: Sequence[TrialData], plan: RecordedPlan
) -> dict[int, Validity]:
    """The verdicts, by the trials' numbers, with a check for each condition that a trial meets."""
    found = dict(validities)
    for data in trials:
        if data.usable:
            for check in _met(data, plan.invalid_if(data.trial.workload)):
                found[data.trial.number] = found[data.trial.number].with_check(check)
    return found


def _met(data: TrialData, conditions: Sequence[Condition]) -> Iterator[Check]:
    """The value of the trial decides: there is nothing to be uncertain about in what happened in it."""
    for condition in conditions:
        value = VALUE_OF[condition.metric](data)
        if value is None or (isinstance(value, AtLeast) and condition.below):
            continue
        if rule_of(condition).holds_at(number(value)):
            found = f"{is_or_are(condition.metric)} {written(number(value), condition.unit)}"
            message = f"{condition.metric} {found}, and the plan calls a trial invalid if {condition.text}"
            spares = (*EVEN_IF_NOTHING_WAS_RIGHT, condition.metric)
            yield Check(
                "invalid-if",
                Verdict.INVALID,
                number(value),
                condition.limit,
                condition.unit,
                message,
                cause="plan",
                spares=spares,
            )
