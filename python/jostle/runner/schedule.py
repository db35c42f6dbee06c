"""Which trials, in which order: rounds interleaved at random."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jostle.plan import Plan

__all__ = ["Pair", "Planned", "in_order", "schedule"]

Pair = tuple[str, str]
"""A contestant and a workload."""


@dataclass(frozen=True)
class Planned:
    """A trial that is to be run; numbers count from 1."""

    number: int
    contestant: str
    workload: str
    round: int

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def schedule(cells: Sequence[Pair], plan: Plan, seed: int) -> list[Planned]:
    """In every round each of `cells` once, in an order that follows from `seed`."""
    order = random.Random(seed)
    trials: list[Planned] = []
    for round_number in range(1, plan.first_rounds + 1):
        for contestant, workload in in_order(cells, plan, round_number, order):
            trials.append(Planned(len(trials) + 1, contestant, workload, round_number))
    return trials


def in_order(cells: Sequence[Pair], plan: Plan, round_number: int, order: random.Random) -> list[Pair]:
    """At random; but what is measured on one started server stays together, backwards in even rounds."""
    blocks: dict[tuple[str, ...], list[Pair]] = {}
    for contestant, workload in cells:
        blocks.setdefault((contestant, *plan.group_of(workload)), []).append((contestant, workload))
    shuffled = list(blocks.items())
    order.shuffle(shuffled)
    found: list[Pair] = []
    for (_, *group), block in shuffled:
        block.sort(key=lambda cell: group.index(cell[1]), reverse=round_number % 2 == 0)
        found += block
    return found
