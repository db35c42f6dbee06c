"""The requests of a mix, each by itself: how many, how long they took, how they ended."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jostle.analysis.results import RequestResult
from jostle.analysis.stats.moderated import UsualOf, not_known
from jostle.analysis.summaries.one_request import quantiles, throughput
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.one_request import OneRequest

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["requests"]


def requests(grouped: "Mapping[Key, Sequence[TrialData]]", usual: UsualOf = not_known) -> list[RequestResult]:
    """One result for each request of each cell whose workload lists several. Steps belong to journeys.

    `usual`: the spread that rounds usually have.
    """
    found: list[RequestResult] = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        spec = measured[0].workload() if measured else {}
        if len(spec.get("requests", [])) > 1 and not spec.get("journeys"):
            found += _of_cell(contestant, workload, measured, usual)
    return found


def _of_cell(
    contestant: str, workload: str, trials: Sequence[TrialData], usual: UsualOf
) -> Iterator[RequestResult]:
    for index in range(len(trials[0].workload()["requests"])):
        rounds = [OneRequest(data, index) for data in trials]
        outcomes, statuses = Counter[str](), Counter[str]()
        for one in rounds:
            outcomes.update(one.outcomes)
            statuses.update(one.statuses)
        yield RequestResult(
            contestant=contestant,
            workload=workload,
            name=rounds[0].name,
            requests=sum(outcomes.values()),
            outcomes=dict(outcomes),
            throughput=throughput(rounds, usual=usual),
            response=quantiles(rounds, usual),
            statuses=dict(statuses),
        )
