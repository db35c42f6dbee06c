"""Measuring spoiled trials again biases nothing: simulated with the checks that decide it.

Whether a trial is spoiled is asked before its result is looked at, but lateness is held against response
times, so that a fast trial is spoiled by less of it. These simulations show what that does to results.
"""

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from jostle.analysis.results import Validity
from jostle.analysis.stats.sample import from_values, quantile_of
from jostle.analysis.trials.lateness import effects_of_lateness
from jostle.analysis.validity.lateness import lateness
from jostle.analysis.validity.spoiled import MAX_REPEATS, spoiled_by

RUNS, ROUNDS, REQUESTS = 200, 5, 400
LEVEL_S, BETWEEN_ROUNDS, WITHIN = 2e-3, 0.1, 0.3
STALLED, STALL_S, LATE = 0.3, 20e-3, 0.04
"""Three trials of ten have a stall of the generator, in which one request of 25 is up to 20 ms late."""

LEVELS = {"p50": 0.5, "p99": 0.99}


class Measured(NamedTuple):
    """Logarithms of the quantiles of a trial: as reported, and as they would be without lateness."""

    reported: dict[str, float]
    true: dict[str, float]


def trial(rng: np.random.Generator, factor: float, *, repeats: bool) -> Measured:
    """What counts in the end."""
    for left in range(MAX_REPEATS if repeats else 0, -1, -1):
        service = LEVEL_S * factor * np.exp(rng.normal(0, BETWEEN_ROUNDS) + rng.normal(0, WITHIN, REQUESTS))
        late = np.full(REQUESTS, 20e-6)
        if rng.random() < STALLED:
            late[rng.random(REQUESTS) < LATE] += STALL_S * rng.random()
        response = from_values((service + late).tolist())
        served = from_values(service.tolist())
        data: Any = SimpleNamespace(
            lateness=effects_of_lateness(response, response, served, from_values(late.tolist())),
            service=served,
            trial=SimpleNamespace(description={}),
        )
        checks = [check for check in [lateness(data)] if check is not None]
        if not (left and spoiled_by(Validity.of(checks))):
            break
    reported = {name: math.log(quantile_of(response, p) or 0) for name, p in LEVELS.items()}
    return Measured(
        reported, {name: math.log(quantile_of(data.service, p) or 0) for name, p in LEVELS.items()}
    )


def ratios(seed: int, factor: float, *, repeats: bool) -> dict[str, np.ndarray[Any, Any]]:
    """Of each run and round, the logarithm of b / a by quantile."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[list[float]]] = {name: [] for name in LEVELS}
    for _ in range(RUNS):
        pairs = [
            (trial(rng, 1.0, repeats=repeats), trial(rng, factor, repeats=repeats)) for _ in range(ROUNDS)
        ]
        for name in LEVELS:
            found[name].append([b.reported[name] - a.reported[name] for a, b in pairs])
    return {name: np.array(values) for name, values in found.items()}


def test_of_two_equal_servers_no_more_differ_than_chance_allows() -> None:
    for found in ratios(1, 1.0, repeats=True).values():
        differ = int((stats.ttest_1samp(found, 0, axis=1).pvalue < 0.05).sum())
        assert differ <= stats.binom.ppf(0.999, RUNS, 0.05)
        assert abs(found.mean()) < 3 * found.mean(axis=1).std() / math.sqrt(RUNS)


def test_a_true_difference_stays_what_it_is() -> None:
    """b takes 1.5 times as long: a stall is less of its times, so that fewer of its trials are repeated."""
    for found in ratios(2, 1.5, repeats=True).values():
        error = found.mean(axis=1).std() / math.sqrt(RUNS)
        assert found.mean() == pytest.approx(math.log(1.5), abs=max(3 * error, 0.03))


def test_without_repeats_stalls_are_in_the_tail() -> None:
    """What the simulation is about is there: the p99 of the same trials is far off."""
    rng = np.random.default_rng(3)
    kept, counted = (
        np.array(
            [m.reported["p99"] - m.true["p99"] for m in (trial(rng, 1.0, repeats=r) for _ in range(RUNS))]
        )
        for r in (False, True)
    )
    assert kept.mean() > 0.15
    assert counted.mean() < kept.mean() / 4
