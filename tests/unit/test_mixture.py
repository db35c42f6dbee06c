"""Whether kinds are mixed alike: stretches of a series that are not, and none where there is only chance."""

import numpy as np
import pytest

from jostle.analysis.stats.mixture import apart, unlike_the_rest


@pytest.mark.parametrize(
    ("kinds", "stretch"),
    [
        (([200] + [0] * 19, [800] + [1500] * 19), (0, 1)),  # a change within the first place
        (([100] * 10 + [0] * 5 + [100] * 10, [0] * 10 + [100] * 5 + [0] * 10), (10, 15)),
        (([100] * 18 + [0, 0], [0] * 18 + [400, 400]), (0, 18)),
        (([5, 5, 0, 0], [0, 0, 5, 5]), (0, 2)),
        (([0, 90, 90, 0], [0, 0, 0, 0], [0, 0, 60, 0]), (0, 2)),  # places without any, and a kind without any
    ],
)
def test_a_stretch_that_is_unlike_the_rest_is_found(
    kinds: tuple[list[int], ...], stretch: tuple[int, int]
) -> None:
    found = unlike_the_rest(np.array(kind) for kind in kinds)
    assert found is not None
    assert (found.start, found.end) == stretch


@pytest.mark.parametrize(
    "kinds",
    [
        ([5], [5]),
        ([100] * 20,),
        ([100] * 20, [0] * 19 + [1]),  # one in a hundred, once
        ([980] * 10 + [1000] * 10, [20] * 10 + [0] * 10),  # surely another share, but only by 2 points
        ([], []),
    ],
)
def test_what_is_even_or_hardly_differs_is_not_told(kinds: tuple[list[int], ...]) -> None:
    assert unlike_the_rest(np.array(kind, dtype=np.int64) for kind in kinds) is None


@pytest.mark.parametrize("batch", [1, 20])
def test_chance_is_seldom_taken_for_a_change(batch: int) -> None:
    """Also where as many at a time are of one kind, as when a server answers its clients in turns."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        totals = rng.poisson(50, 30) * batch
        some = rng.binomial(totals // batch, 0.3) * batch
        alarms += unlike_the_rest([some, totals - some]) is not None
    assert alarms <= 20


def test_a_long_series_is_looked_at_in_parts() -> None:
    some = np.repeat([100, 0, 100], [4000, 400, 3600])
    found = unlike_the_rest([some, 100 - some])
    assert found is not None
    assert (found.start, found.end) == (4000, 4400)


def test_samples_are_apart_if_a_share_surely_differs_by_enough() -> None:
    assert apart({"200": 10}, {"302": 10})
    assert apart({"200": 1000}, {"200": 930, "302": 70})
    assert not apart({"200": 10}, {"200": 9, "302": 1})
    assert not apart({"200": 100_000}, {"200": 97_000, "302": 3_000})
    assert not apart({"200": 1000}, {})


def test_what_is_rare_alone_is_none_among_many() -> None:
    """Each of so many series may be told by chance, and each kind of it."""
    some = np.array([20, 20, 20, 20, 8, 9])
    assert unlike_the_rest([some, 40 - some]) is not None
    assert unlike_the_rest([some, 40 - some], series=500) is None
    assert apart({"200": 100}, {"200": 85, "302": 15})
    assert not apart({"200": 100}, {"200": 85, "302": 15}, pairs=500)
    kinds = {str(status): 1 for status in range(201, 300)}
    assert not apart({"200": 30, **kinds}, {"200": 60, **kinds})
