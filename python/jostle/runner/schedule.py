"""Which trials, in which order: rounds interleaved at random."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jostle.plan import Workload

__all__ = ["Planned", "schedule"]


@dataclass(frozen=True)
class Planned:
    """A trial that is to be run; numbers count from 1."""

    number: int
    contestant: str
    workload: str
    round: int

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def schedule(
    contestants: list[str], workloads: Mapping[str, Workload], rounds: int, seed: int
) -> list[Planned]:
    """In every round each workload on each of its contestants once, in an order that follows from `seed`."""
    order = random.Random(seed)
    trials: list[Planned] = []
    for round_number in range(1, rounds + 1):
        cells = [
            (contestant, name)
            for contestant in contestants
            for name, workload in workloads.items()
            if contestant in workload.measured_on(contestants)
        ]
        order.shuffle(cells)
        for contestant, workload in cells:
            trials.append(Planned(len(trials) + 1, contestant, workload, round_number))
    return trials
