"""Periods in the times of events, amid noise: what is found, and how often something is found where nothing
is.
"""

import random
from collections.abc import Sequence

import pytest

from jostle.explain.slow_responses.periods import FALSE_ALARM, Period, periods

SPAN_S = 54.0


def beats(
    every_s: float, rng: random.Random, *, jitter: float = 0.0, drift: float = 0.0, missed: float = 0.0
) -> list[float]:
    """Times with this period: each off by `jitter`, or each period by `drift` (shares of it); some are
    missing.
    """
    times, at = [], rng.uniform(0, every_s)
    while at < SPAN_S:
        if rng.random() >= missed:
            times.append(at + rng.gauss(0, jitter * every_s))
        at += every_s * (1 + rng.gauss(0, drift))
    return times


def amid(times: Sequence[float], noise: int, rng: random.Random) -> list[float]:
    return sorted([*times, *(rng.uniform(0, SPAN_S) for _ in range(noise))])


def is_about(found: Period, every_s: float) -> bool:
    return found.low_s * 0.98 <= every_s <= found.high_s * 1.02


@pytest.mark.parametrize(
    ("every_s", "noise", "how"),
    [
        (2.08, 0, {}),
        (2.08, 30, {}),
        (2.08, 10, {"jitter": 0.02, "missed": 0.1}),
        (2.08, 10, {"drift": 0.05}),
        (2.08, 2, {"missed": 0.4}),
        (0.7, 20, {"jitter": 0.01}),
        (5.0, 3, {"drift": 0.01}),
        (10.0, 0, {}),
    ],
)
def test_a_period_is_found_amid_noise(every_s: float, noise: int, how: dict[str, float]) -> None:
    rng = random.Random(f"{every_s} {noise} {how}")
    found = [periods(amid(beats(every_s, rng, **how), noise, rng), SPAN_S) for _ in range(10)]
    right = sum(bool(one) and is_about(one[0], every_s) for one in found)
    assert right >= 8, found
    assert sum(len(one) > 1 for one in found) <= 1, "nothing is found besides"


def test_two_periods_at_once_are_told_apart() -> None:
    rng = random.Random(4)
    found = periods(amid([*beats(2.08, rng), *beats(5.3, rng)], 5, rng), SPAN_S)
    assert [round(one.every_s, 1) for one in found] == [2.1, 5.3]
    assert not set(found[0].places) & set(found[1].places)


def test_events_at_random_times_are_hardly_ever_periodic() -> None:
    rng = random.Random(11)
    runs, taken = 100, 0
    for number in range(runs):
        taken += bool(periods(amid([], (5, 9, 16, 30)[number % 4], rng), SPAN_S))
    assert taken <= runs * FALSE_ALARM + 2


def test_a_few_events_are_no_period() -> None:
    assert periods([2.0, 4.0, 6.0], SPAN_S) == []
    assert periods([], SPAN_S) == []


def test_the_mean_period_of_a_job_that_sleeps_between_its_turns_has_an_interval() -> None:
    rng = random.Random(3)
    (found,) = periods(beats(2.0, rng, drift=0.05), SPAN_S)
    assert found.low_s < 2.0 < found.high_s
    assert found.high_s - found.low_s < 0.2
