"""The requests of a mix, each by itself."""

from dataclasses import dataclass, field

from jostle.analysis.results.estimate import Estimate

__all__ = ["RequestResult"]


@dataclass(frozen=True)
class RequestResult:
    """One request of a workload that sends several, over all rounds."""

    contestant: str
    workload: str
    name: str
    requests: int
    outcomes: dict[str, int]  # by kind, without the zeros
    throughput: Estimate  # completed as expected
    response: dict[str, Estimate]
    statuses: dict[str, int] = field(default_factory=dict)  # of its right responses
