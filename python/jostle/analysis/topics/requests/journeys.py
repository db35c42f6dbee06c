"""Journeys: where they end, how long they take, and what each step contributes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import JourneyResult, StepResult
from jostle.analysis.stats.moderated import UsualOf, not_known
from jostle.analysis.stats.over_rounds import quantiles_over_rounds
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.summaries.one_request import quantiles, throughput
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.analysis.trials.one_request import OneRequest

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["active", "journeys"]


def journeys(grouped: "Mapping[Key, Sequence[TrialData]]", usual: UsualOf = not_known) -> list[JourneyResult]:
    """One result for each journey of each cell. `usual`: the spread that rounds usually have."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        specs = measured[0].workload().get("journeys", []) if measured else []
        found += [
            _journey(contestant, workload, number, spec, measured, usual) for number, spec in enumerate(specs)
        ]
    return found


def _journey(
    contestant: str,
    workload: str,
    number: int,
    spec: Mapping[str, Any],
    trials: Sequence[TrialData],
    usual: UsualOf,
) -> JourneyResult:
    counts: Counter[str] = Counter()
    ended: Counter[tuple[int, str]] = Counter()
    for data in trials:
        counts.update(data.counts.journeys.get((MEASURED, number), {}))
        ended.update(data.counts.journey_ends.get((MEASURED, number), {}))
    steps = []
    for place, step in enumerate(spec["steps"]):
        once = step["once"] is not None and trials[0].apart is not None
        rounds = [OneRequest(data, step["request"], once) for data in trials]
        outcomes, statuses = Counter[str](), Counter[str]()
        for one in rounds:
            outcomes.update(one.outcomes)
            statuses.update(one.statuses)
        steps.append(
            StepResult(
                name=rounds[0].name,
                together=step.get("together", False),
                once=once,
                requests=sum(outcomes.values()),
                outcomes=dict(outcomes),
                ended={outcome: n for (at, outcome), n in ended.items() if at == place},
                throughput=throughput(rounds, usual=usual),
                response=quantiles(rounds, usual),
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
