"""Change points, and how a series went."""

import itertools

import numpy as np
import pytest

from jostle.analysis.stats.sample import Floats
from jostle.analysis.stats.steady_state import change_points, trend


def series(*parts: tuple[int, float], noise: float = 0.01, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    return np.concatenate([level * (1 + rng.normal(0, noise, n)) for n, level in parts])


def cost(values: Floats, penalty: float) -> float:
    """Of the best segmentation, by trying all last segments (no pruning)."""
    best = [-penalty]
    for end in range(1, len(values) + 1):
        best.append(
            min(
                best[start] + float(((values[start:end] - values[start:end].mean()) ** 2).sum()) + penalty
                for start in range(end)
            )
        )
    return best[-1]


def test_changes_are_found_where_they_are() -> None:
    assert change_points(series((30, 10.0), (50, 12.0), (20, 11.0))) == [30, 80]
    assert change_points(series((100, 10.0))) == []
    assert change_points(np.ones(50)) == []
    assert change_points(np.array([1.0, 2.0])) == []


@pytest.mark.parametrize("seed", range(5))
def test_pruning_loses_nothing(seed: int) -> None:
    values = series((12, 10.0), (9, 10.3), (15, 9.6), noise=0.02, seed=seed)
    sigma = float(np.median(np.abs(np.diff(values)))) / (0.6745 * np.sqrt(2))
    penalty = 3 * sigma**2 * np.log(len(values))
    edges = [0, *change_points(values), len(values)]
    found = sum(float(((values[a:b] - values[a:b].mean()) ** 2).sum()) for a, b in itertools.pairwise(edges))
    assert found + penalty * (len(edges) - 2) == pytest.approx(cost(values, penalty))


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([(100, 10.0)], "flat"),
        ([(20, 15.0), (80, 10.0)], "warm-up"),
        ([(20, 8.0), (80, 10.0)], "slowdown"),
        ([(90, 10.0), (10, 14.0)], "unsettled"),
        ([(25, 10.0), (25, 14.0), (25, 10.0), (25, 14.0)], "slowdown"),
        ([(50, 10.0), (50, 10.1)], "flat"),
    ],
)
@pytest.mark.parametrize("longer", [1, 1_000])
def test_courses(parts: list[tuple[int, float]], longer: int, verdict: str) -> None:
    """Also of a day at a value a second: finding levels in all of its values would take many minutes."""
    assert trend(series(*((n * longer, level) for n, level in parts))) == verdict


def test_a_steady_series_is_seldom_seen_to_change() -> None:
    alarms = sum(trend(series((100, 10.0), noise=0.03, seed=s)) != "flat" for s in range(200))
    assert alarms <= 20
