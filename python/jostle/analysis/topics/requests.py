"""The requests of a mix, each by itself: how many, how long they took, how they ended."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jostle.analysis.results import RequestResult
from jostle.analysis.stats.over_rounds import quantiles_over_rounds, typical_over_rounds
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.record.outcomes import Outcome

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["requests"]


def requests(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[RequestResult]:
    """One result for each request of each cell whose workload lists several. Steps belong to journeys."""
    found: list[RequestResult] = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        spec = measured[0].workload() if measured else {}
        if len(spec.get("requests", [])) > 1 and not spec.get("journeys"):
            found += _of_cell(contestant, workload, measured)
    return found


def _of_cell(contestant: str, workload: str, trials: Sequence[TrialData]) -> Iterator[RequestResult]:
    for index, request in enumerate(trials[0].workload()["requests"]):
        outcomes = [data.outcomes(MEASURED, index) for data in trials]
        rates = [
            counts.get(Outcome.OK, 0) / data.duration_s
            for counts, data in zip(outcomes, trials, strict=True)
            if data.duration_s
        ]
        total: Counter[str] = Counter()
        for counts in outcomes:
            total.update(counts)
        statuses = sum((Counter(data.statuses(MEASURED, index)) for data in trials), Counter[str]())
        yield RequestResult(
            contestant=contestant,
            workload=workload,
            name=request["name"],
            requests=sum(total.values()),
            outcomes=dict(total),
            throughput=typical_over_rounds(rates, "/s"),
            response=quantiles_over_rounds([data.times_of("response", index) for data in trials]),
            statuses=dict(statuses),
        )
