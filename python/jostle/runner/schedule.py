"""The order of the trials: rounds, each in random order, with trials that are compared side by side."""

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jostle.analysis.results.keys import Key
from jostle.analysis.stats.enough import FIRST_ROUNDS
from jostle.plan import Plan
from jostle.record import RunWriter
from jostle.runner.compared import compared

__all__ = ["Planned", "first_rounds", "in_order", "later_round", "note_planned", "schedule"]


@dataclass(frozen=True)
class Planned:
    """A trial that is to be run; numbers count from 1."""

    number: int
    contestant: str
    workload: str
    round: int

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def note_planned(trials: Iterable[Planned], writer: RunWriter) -> None:
    """Write to the journal that these trials are to be run."""
    for trial in trials:
        writer.journal("trial planned", **trial.as_record())


def first_rounds(plan: Plan) -> int:
    """The number of rounds in which every workload is measured on every server."""
    return FIRST_ROUNDS if isinstance(plan.rounds, str) else plan.rounds


def schedule(cells: Sequence[Key], plan: Plan, seed: int) -> list[Planned]:
    """Each of `cells` once in every round, in an order that follows from `seed`."""
    rng = random.Random(seed)
    trials: list[Planned] = []
    for round_number in range(1, first_rounds(plan) + 1):
        trials += _one_round(cells, plan, round_number, rng, len(trials))
    return trials


def _one_round(
    cells: Sequence[Key], plan: Plan, round_number: int, rng: random.Random, before: int
) -> list[Planned]:
    """The trials of one round, in order. `before`: how many trials were planned before it."""
    placed = enumerate(in_order(cells, plan, round_number, rng), before + 1)
    return [Planned(number, *cell, round_number) for number, cell in placed]


def later_round(cells: Sequence[Key], plan: Plan, round_number: int, seed: int, before: int) -> list[Planned]:
    """The trials of a round that is added later, in an order of its own that follows from `seed`."""
    return _one_round(cells, plan, round_number, random.Random(f"{seed}/{round_number}"), before)


def in_order(cells: Sequence[Key], plan: Plan, round_number: int, rng: random.Random) -> list[Key]:
    """The order of one round.

    Trials that are compared are next to each other as far as possible, since machines change their speed
    within minutes. Everything else is random. Trials on the same started server stay together, in reverse
    order in even rounds.
    """
    blocks: dict[tuple[str, ...], list[Key]] = {}
    for contestant, workload in cells:
        blocks.setdefault((contestant, *plan.group_of(workload)), []).append((contestant, workload))
    shuffled = list(blocks.items())
    rng.shuffle(shuffled)
    for (_, *group), block in shuffled:
        block.sort(key=lambda cell: group.index(cell[1]), reverse=round_number % 2 == 0)
    placed = list(_neighbours_first([block for _, block in shuffled], compared(plan, cells)))
    if rng.random() < 0.5:  # so that either one of a pair is first equally often
        placed.reverse()
    return [cell for block in placed for cell in block]


def _neighbours_first(blocks: Sequence[list[Key]], pairs: Collection[frozenset[Key]]) -> Iterator[list[Key]]:
    """Order the blocks depth first: each is followed by one that is compared with it or an earlier one."""
    where = {cell: number for number, block in enumerate(blocks) for cell in block}
    beside: dict[int, set[int]] = {}
    for one, other in (tuple(pair) for pair in pairs if len(pair) == 2):
        beside.setdefault(where[one], set()).add(where[other])
        beside.setdefault(where[other], set()).add(where[one])
    placed: set[int] = set()
    waiting = list(reversed(range(len(blocks))))
    while waiting:
        number = waiting.pop()
        if number not in placed:
            placed.add(number)
            yield blocks[number]
            waiting += sorted(beside.get(number, ()), reverse=True)
