"""Tools take turns in random order in every round, so that what changes meanwhile meets all alike. Those with
as many connections, which are compared, follow one another: machines change their speed within minutes."""

import random
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rows import Effort
from servers import Counting
from tools import Tool
from window import Sample, measure

__all__ = ["Turn", "in_turns"]

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Turn:
    """A tool, and the command by which it asks over so many connections."""

    tool: Tool
    command: list[str]
    connections: int


def in_turns(turns: Mapping[Key, Turn], server: Counting, effort: Effort) -> dict[Key, list[Sample]]:
    """The samples of each of `turns`, in the order of their rounds."""
    found: dict[Key, list[Sample]] = {key: [] for key in turns}
    for number in range(effort.rounds):
        for key in _order({key: turn.connections for key, turn in turns.items()}):
            turn = turns[key]
            sample = measure(
                turn.tool, turn.command, server, turn.connections, effort.seconds, number, effort.folder
            )
            found[key].append(sample)
            cost = f"{sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s, {sample.peak_mb:,.1f} MB"
            print(f"  round {number + 1}: {key}: {cost}", flush=True)
    return found


def _order(connections: Mapping[Key, int]) -> Iterator[Key]:
    numbers = list(dict.fromkeys(connections.values()))
    for number in random.sample(numbers, len(numbers)):
        beside = [key for key, of_key in connections.items() if of_key == number]
        yield from random.sample(beside, len(beside))
