"""Which routes of a contestant are asked for: its contract has one of each kind, with sizes that can be
chosen.
"""

import statistics
from collections.abc import Callable, Sequence

from jostle.explain.target import Route
from jostle.plan.contestant import ContestantFile

__all__ = ["LONGEST_S", "contract_routes"]

LONGEST_S = 0.04
"""Service time of the longest route: many times a runtime's slice, and short enough for many bursts."""

NEAR = 1.25
"""A size that gives a time within this factor of the intended one will do."""

SIZES = (1, 2, 4, 8)
"""The longest route over each of the others."""

FIRST_COUNT, MOST_COUNT = 1_000_000, 10**10
"""`/count/N`: where the search begins, and the most that the contract has."""

ATTEMPTS = 10

WAIT = Route("/sleep?ms=100", "wait")

Serve = Callable[[Route, int], Sequence[float]]
"""Service times in seconds of so many requests, one at a time."""


def contract_routes(file: ContestantFile, serve: Serve) -> tuple[Route, ...]:
    """A short route, four that compute in proportions 8 : 4 : 2 : 1, and one that waits, as far as they
    are there.
    """
    if "/" in file.absent:
        return (Route("/hello", "fast"),)
    there = [
        *([Route("/fast/44", "fast")] if "/fast" not in file.absent else []),
        *(_counts(serve) if "/count" not in file.absent else []),
        *([WAIT] if "/sleep" not in file.absent else []),
    ]
    return tuple(there) or (Route("/", "fast"),)


def _counts(serve: Serve) -> list[Route]:
    """`/count/N` with the N that takes about `LONGEST_S`, and parts of it."""
    count = FIRST_COUNT
    for _ in range(ATTEMPTS):
        times = serve(Route(f"/count/{count}", "slow"), 3)
        if not times:
            break
        ratio = LONGEST_S / statistics.median(times)
        if 1 / NEAR <= ratio <= NEAR:
            break
        # A short one says little about how long a long one takes: step by step.
        count = max(1, min(MOST_COUNT, round(count * min(ratio, 20.0))))
    return [Route(f"/count/{max(1, count // part)}", "slow") for part in SIZES]
