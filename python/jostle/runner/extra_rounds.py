"""More rounds for what looks bimodal: a handful of rounds cannot tell two modes from chance."""

from collections.abc import Collection

from jostle.plan import Plan
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord, RunWriter
from jostle.runner.schedule import Planned, first_rounds, later_round, note_planned

__all__ = ["plan_repeats"]


def plan_repeats(plan: Plan, writer: RunWriter, seed: int, contestants: Collection[str]) -> list[Planned]:
    """Plan as many rounds again for comparisons that look bimodal, and write them to the journal.

    This happens only once in a run, and only for `contestants`, which are available.
    """
    from jostle.analysis.summaries.counted import counted
    from jostle.analysis.topics.starvation.indices import to_repeat
    from jostle.analysis.trials.data import TrialData
    from jostle.analysis.validity.checks import judge_data

    record, first = RunRecord.open(writer.folder), first_rounds(plan)
    if plan.until_decided or not plan.starvation or any(trial.round > first for trial in record.trials):
        return []
    data = [TrialData(trial) for trial in record.trials]
    validities = {one.trial.number: judge_data(one) for one in data}
    kept = counted(record, data, validities, RecordedPlan.parse(record.plan_text))
    cells = [cell for cell in to_repeat(plan.starvation, kept) if cell[0] in contestants]
    for contestant, workload in cells:
        why = "its rounds look like two modes"
        writer.journal("extra rounds planned", contestant=contestant, workload=workload, why=why)
    last = max((entry["number"] for entry in record.planned), default=0)
    planned: list[Planned] = []
    for number in range(first + 1, 2 * first + 1):
        planned += later_round(cells, plan, number, seed, last + len(planned))
    note_planned(planned, writer)
    return planned
