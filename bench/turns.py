"""Tools take turns in random order in every round, so that what changes meanwhile meets all alike."""

import random
from collections.abc import Hashable, Mapping
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
        for key, turn in random.sample(list(turns.items()), len(turns)):
            sample = measure(
                turn.tool, turn.command, server, turn.connections, effort.seconds, number, effort.folder
            )
            found[key].append(sample)
            cost = f"{sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s, {sample.peak_mb:,.1f} MB"
            print(f"  round {number + 1}: {key}: {cost}", flush=True)
    return found
