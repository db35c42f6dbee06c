"""More rounds for what looks bimodal: a handful of rounds cannot tell two modes from chance."""

from collections.abc import Collection, Sequence

from jostle.plan import Plan
from jostle.record import RunRecord, RunWriter
from jostle.runner.schedule import Planned

__all__ = ["plan_repeats"]


def plan_repeats(
    plan: Plan, writer: RunWriter, trials: Sequence[Planned], contestants: Collection[str]
) -> list[Planned]:
    """Plan as many rounds again for comparisons that look bimodal, and write them to the journal.

    This happens only once in a run, and only for `contestants`, which are available.
    """
    from jostle.analysis.topics.starvation import to_repeat
    from jostle.analysis.trial.data import TrialData

    record = RunRecord.open(writer.folder)
    if (
        plan.until_decided
        or not plan.starvation
        or any(trial.round > plan.first_rounds for trial in record.trials)
    ):
        return []
    cells = [
        c for c in to_repeat(plan.starvation, [TrialData(t) for t in record.trials]) if c[0] in contestants
    ]
    for contestant, workload in cells:
        why = "its rounds look like two modes"
        writer.journal("extra rounds planned", contestant=contestant, workload=workload, why=why)
    last = max((trial.number for trial in record.trials), default=len(trials))
    rounds = range(plan.first_rounds + 1, 2 * plan.first_rounds + 1)
    more = [(contestant, workload, number) for number in rounds for contestant, workload in cells]
    planned = [Planned(number, *cell) for number, cell in enumerate(more, last + 1)]
    for trial in planned:
        writer.journal("trial planned", **trial.as_record())
    return planned
