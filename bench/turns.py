"""Tools take turns in random order in every round, so that what changes meanwhile meets all alike. Those with
as many connections, which are compared, follow one another: machines change their speed within minutes."""

import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rows import Effort
from servers import Counting
from tools import Tool
from window import Sample, measure

__all__ = ["Turn", "in_turns", "side_by_side"]

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Turn:
    """A tool, and the command by which it asks over so many connections."""

    tool: Tool
    command: list[str]
    connections: int


def in_turns(turns: Mapping[Key, Turn], server: Counting, effort: Effort) -> dict[Key, list[Sample]]:
    """The samples of each of `turns`, in the order of their rounds."""
    found: dict[Key, list[Sample]] = {key: [] for key in turns}
    beside: dict[int, list[tuple[Key, Turn]]] = {}
    for key, turn in turns.items():
        beside.setdefault(turn.connections, []).append((key, turn))
    for number in range(effort.rounds):
        for key, turn in side_by_side(list(beside.values())):
            sample = measure(
                turn.tool, turn.command, server, turn.connections, effort.seconds, number, effort.folder
            )
            found[key].append(sample)
            cost = f"{sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s, {sample.peak_mb:,.1f} MB"
            print(f"  round {number + 1}: {key}: {cost}", flush=True)
    return found


def side_by_side(groups: Sequence[Sequence[Item]]) -> Iterator[Item]:
    """In random order, but the members of each group one right after the other."""
    for group in random.sample(groups, len(groups)):
        yield from random.sample(group, len(group))
