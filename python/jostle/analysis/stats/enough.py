"""How much data it takes to state a result."""

__all__ = [
    "FIRST_ROUNDS",
    "MIN_ROUNDS",
    "REQUESTS_FOR_A_SHAPE",
    "TOO_FEW_ROUNDS",
    "TOO_FEW_RUNS",
    "TWO_RUNS",
]

MIN_ROUNDS = 3
"""For two rounds Student's quantile is 12.7: an interval too wide to be useful, or one that misses."""

FIRST_ROUNDS = MIN_ROUNDS
"""Rounds before the first look of a run that continues until everything is decided: with fewer there is no
interval. Differences that are several times as large as the variation between rounds are decided here, and
most of those that matter are as large."""

TOO_FEW_ROUNDS = f"an interval needs at least {MIN_ROUNDS} rounds, preferably 5"

TOO_FEW_RUNS = f"an interval needs at least {MIN_ROUNDS} runs on each side that measured something"

TWO_RUNS = "one run on each side does not show how much runs of the same server differ"

REQUESTS_FOR_A_SHAPE = 50
"""Fewer times than this are shown one by one, and two such sets are not compared."""
