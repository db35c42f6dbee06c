"""Which trials of a run count: one rule for the page and for `jostle compare`."""

from collections import Counter
from collections.abc import Mapping, Sequence

from jostle.analysis.results import Validity
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.spoiled import left_out
from jostle.formatting import plural
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord

__all__ = ["counted", "note"]


def counted(
    record: RunRecord, data: Sequence[TrialData], validities: Mapping[int, Validity], plan: RecordedPlan
) -> list[TrialData]:
    """The trials of `record`, `data`, that count; all of them if the plan does not repeat spoiled ones."""
    if not plan.repeats:
        return list(data)
    by_generator = {entry["number"] for entry in record.repeated if "generator" in entry.get("causes", [])}
    cells = by_workload(data).values()
    aside = set().union(*(left_out(cell, validities, by_generator) for cell in cells))
    return [one for one in data if one.trial.number not in aside]


def note(data: Sequence[TrialData], kept: Sequence[TrialData]) -> str:
    """A note on those of `data` that do not count, since they were spoiled each time; empty if all count."""
    numbers = {one.trial.number for one in kept}
    aside = [one.trial for one in data if one.trial.number not in numbers]
    if not aside:
        return ""
    cells = Counter((trial.contestant, trial.workload) for trial in aside)
    each = (f"{contestant}, {workload} ({count})" for (contestant, workload), count in cells.items())
    return (
        f"{plural(len(aside), 'trial')} did not count: {'; '.join(each)}. Other programs or virtual machines "
        f"disturbed each of them every time; at least {MIN_ROUNDS} other rounds remain."
    )
