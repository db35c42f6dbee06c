"""What a plan requires of the figures of a trial, as far as they are known while it runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from jostle.errors import NotARun
from jostle.plan.labels import resolve_label
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord, TrialRecord
from jostle.report.trial_data import LIMITED, as_limit

__all__ = ["limits_of"]


def limits_of(run: RunRecord, trial: TrialRecord) -> Sequence[Mapping[str, Any]]:
    """The requirements of this contestant and workload; none if the plan cannot be read."""
    try:
        plan = RecordedPlan.parse(run.plan_text)
    except NotARun:
        return ()
    return [
        as_limit(one.condition)
        for one in plan.require
        if not one.part
        and not one.of_difference
        and one.condition.metric in LIMITED
        and one.workload in ("", trial.workload)
        and (not one.contestant or trial.contestant in resolve_label(one.contestant, [trial.contestant]))
    ]
