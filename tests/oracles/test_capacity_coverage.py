"""Does the interval of a whole search, with its adaptive levels and short blocks, hold the true capacity?"""

import pytest

from jostle.capacity.queueing.clusters import cluster_size
from support.searches import SERVERS, found_in

SEEDS = range(12)
MIN_COVERAGE = 0.9


def test_nine_of_ten_searches_hold_the_true_capacity() -> None:
    held, above = dict[str, int](), dict[str, int]()
    for name in ("1 fast worker", "4 workers", "2 workers, two kinds"):
        known = SERVERS[name]
        found = [one for seed in SEEDS if (one := found_in(known, seed)) is not None]
        held[name] = sum(one.low <= known.true <= one.high for one in found)
        above[name] = sum(one.low > known.true for one in found)
    searches = len(SEEDS) * len(held)
    assert sum(held.values()) >= MIN_COVERAGE * searches, f"of {searches}: held {held}, too high {above}"


def test_a_cluster_of_one_exponential_worker_is_aldous_mean_sojourn() -> None:
    """(λ + μ)/(μ - λ)² of the time, of λ requests a second; 1 % beyond t where μ - λ = ln(100)/t."""
    rate, gap = 454.0, 46.05170186
    expected = rate * (2 * rate + gap) / gap**2
    assert cluster_size(rate, 0.1, 0.01) == pytest.approx(1 + expected, rel=1e-6)
