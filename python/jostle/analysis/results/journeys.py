"""Journeys: how they ended, how long they took, and each of their steps."""

from dataclasses import dataclass, field

from jostle.analysis.results.estimate import Estimate

__all__ = ["JourneyResult", "StepResult"]


@dataclass(frozen=True)
class StepResult:
    """One step, over all rounds."""

    name: str
    together: bool  # sent at the same time as the step before it
    once: bool  # each client did it once; not among the requests of the workload
    requests: int
    outcomes: dict[str, int]  # by kind, without the zeros
    ended: dict[str, int]  # journeys that it ended, by the outcome of its request
    throughput: Estimate  # completed as expected
    response: dict[str, Estimate]  # from the intended start: the end of the pause before it
    statuses: dict[str, int] = field(default_factory=dict)  # of its right responses


@dataclass(frozen=True)
class JourneyResult:
    """One journey of one workload on one contestant, over all rounds."""

    contestant: str
    workload: str
    name: str
    completed: int
    ended: int  # by a step that failed
    unfinished: int  # cut off by the end of the load
    time: dict[
        str, Estimate
    ]  # of completed ones: intended start of the first step to the end of the last response
    active: dict[str, Estimate]  # the same without the pauses between the steps
    steps: list[StepResult]
