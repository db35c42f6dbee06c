"""Journeys: where they end, how long they take, and what each step contributes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import JourneyResult, StepResult
from jostle.analysis.stats.over_rounds import quantiles_over_rounds
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import MEASURED, TrialData

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["active", "journeys"]


def journeys(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[JourneyResult]:
    """One result for each journey of each cell."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        specs = measured[0].workload().get("journeys", []) if measured else []
        found += [_journey(contestant, workload, number, spec, measured) for number, spec in enumerate(specs)]
    return found


def _journey(
    contestant: str, workload: str, number: int, spec: Mapping[str, Any], trials: Sequence[TrialData]
) -> JourneyResult:
    counts: Counter[str] = Counter()
    ended: Counter[tuple[int, str]] = Counter()
    for data in trials:
        counts.update(data.counts.journeys.get((MEASURED, number), {}))
        ended.update(data.counts.journey_ends.get((MEASURED, number), {}))
    requests = trials[0].workload()["requests"]
    apart = trials[0].apart
    steps = []
    for place, step in enumerate(spec["steps"]):
        once = step["once"] is not None and apart is not None
        index = step["request"]
        in_workload = apart if once and apart is not None else MEASURED
        outcomes, statuses = Counter[str](), Counter[str]()
        for data in trials:
            outcomes.update(data.outcomes(in_workload, index))
            statuses.update(data.statuses(in_workload, index))
        steps.append(
            StepResult(
                name=requests[index]["name"],
                together=step.get("together", False),
                once=once,
                requests=sum(outcomes.values()),
                outcomes=dict(outcomes),
                ended={outcome: n for (at, outcome), n in ended.items() if at == place},
                response=quantiles_over_rounds(
                    [data.times_of("response", index, in_workload) for data in trials]
                ),
                statuses=dict(statuses),
            )
        )
    return JourneyResult(
        contestant=contestant,
        workload=workload,
        name=spec["name"],
        completed=counts["completed"],
        ended=sum(ended.values()),
        unfinished=counts["unfinished"],
        time=quantiles_over_rounds([data.recorded_of("journey", number) for data in trials]),
        active=quantiles_over_rounds([data.recorded_of("journey_active", number) for data in trials]),
        steps=steps,
    )


def active(data: TrialData) -> WeightedSample:
    """The times of all completed journeys of a trial, without the pauses between their steps."""
    return pool(
        [
            data.recorded_of("journey_active", number)
            for number in range(len(data.workload().get("journeys", [])))
        ]
    )
