"""Calculates when a server of known discipline answers each request of a burst."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jostle._engine import burst_answers

__all__ = ["BurstRequest", "simulated_answers"]

BurstRequest = tuple[int, int, int]
"""When the request arrives and how much service it needs, both in ns, and the number of its connection."""


def simulated_answers(
    discipline: str | Mapping[str, Any],
    bursts: Sequence[Sequence[BurstRequest]],
    *,
    seed: int = 0,
    room: int | None = None,
) -> list[list[int | None]]:
    """When each request of each burst is answered, in ns, by a server that is idle before every burst.

    `discipline`: the `DisciplineSpec` of `crates/simulator/src/spec.rs`. `room`: how many requests the server
    holds; any beyond are refused, with None as their response. `seed` decides a random order. Raises
    ValueError for a discipline that does not exist.
    """
    return burst_answers(json.dumps(discipline), [list(burst) for burst in bursts], seed, room)
