"""Runs of the load before the measured one, on the same started server (`runs` of a workload)."""

from collections import Counter
from collections.abc import Mapping, Sequence

from jostle.analysis.results import EarlierRun
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.over_rounds import typical_over_rounds
from jostle.analysis.summaries.quantiles import quantiles
from jostle.analysis.trials.data import TrialData
from jostle.record.outcomes import error_share

__all__ = ["change_from_run_before", "earlier_runs"]


def earlier_runs(grouped: Mapping[Key, Sequence[TrialData]]) -> list[EarlierRun]:
    """A row for each earlier run of each cell, over all rounds."""
    return [
        _earlier(key, number, [runs[number - 1] for runs in found if len(runs) >= number])
        for key, group in grouped.items()
        if (found := [_runs(data) for data in group])
        for number in range(1, max(map(len, found)) + 1)
    ]


def change_from_run_before(data: TrialData) -> float | None:
    """Throughput of the measured run divided by that of the last usable run before it; None without one."""
    runs = [run for run in _runs(data) if run.usable and run.throughput]
    return data.throughput / runs[-1].throughput if runs else None


def _runs(data: TrialData) -> list[TrialData]:
    return [TrialData(trial) for trial in data.trial.earlier]


def _earlier(key: Key, number: int, runs: Sequence[TrialData]) -> EarlierRun:
    contestant, workload = key
    usable = [run for run in runs if run.usable]
    outcomes: Counter[str] = Counter()
    for one in usable:
        outcomes.update(one.outcomes())
    return EarlierRun(
        contestant=contestant,
        workload=workload,
        run=number,
        throughput=typical_over_rounds([run.throughput for run in usable], "/s"),
        response=quantiles(usable),
        error_share=error_share(outcomes),
    )
