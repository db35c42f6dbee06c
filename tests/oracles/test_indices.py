"""The interval of the blocking index, by simulation: what is called 95 % is 95 %, and never without end."""

import math

import numpy as np
import pytest
from scipy import stats

from jostle.analysis.results import Estimate
from jostle.analysis.stats.indices import blocking_index

RUNS = 1000
AT_MOST = int(stats.binom(RUNS, 0.05).ppf(0.999))
SLOW_S = 0.2


@pytest.mark.parametrize("rounds", [3, 5, 20])
@pytest.mark.parametrize(
    ("beside_s", "spread"),
    [(0.0013, 0.3), (0.0013, 0.6), (0.003, 0.5), (0.1, 0.3), (0.1, 0.8), (0.4, 1.2)],
    ids=["as alone", "as alone, wide", "hardly more", "half of one", "half of one, wide", "two, very wide"],
)
def test_it_covers_and_ends(rounds: int, beside_s: float, spread: float) -> None:
    """An interval of the index's own logarithm had the same misses, and for an index near 0, of which a
    factor says nothing, an upper end of up to 1e300.
    """
    rng = np.random.default_rng(rounds)
    alone_s, misses, widest = 0.0013, 0, 0.0
    for _ in range(RUNS):
        before = alone_s * np.exp(0.3 * rng.standard_normal(rounds))
        after = beside_s * np.exp(spread * rng.standard_normal(rounds))
        slow = SLOW_S * np.exp(0.05 * rng.standard_normal(rounds))
        known = Estimate(math.exp(np.log(slow).mean()), unit="s", n=rounds, rounds=tuple(slow))
        found = blocking_index(before.tolist(), after.tolist(), known)
        assert found.low is not None
        assert found.high is not None
        misses += not found.low <= (beside_s - alone_s) / SLOW_S <= found.high
        widest = max(widest, found.high) if rounds >= 5 and beside_s <= 0.003 else widest
    assert misses <= AT_MOST
    assert widest < 1
