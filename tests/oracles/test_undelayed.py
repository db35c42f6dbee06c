"""The least that a quantile was before times grew, against times that are known to have grown."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.analysis.stats.kaplan_meier import known_part
from jostle.analysis.stats.sample import from_values
from jostle.analysis.stats.undelayed import quantile_before

SECONDS = st.floats(1e-6, 1.0)


def quantile(values: np.ndarray, p: float) -> float:
    """The smallest value at which the distribution function is at least p."""
    return float(np.sort(values)[math.ceil(round(p * len(values), 9)) - 1])


@given(
    st.lists(st.tuples(SECONDS, st.just(0.0) | SECONDS), min_size=1, max_size=40),
    st.sampled_from([0.5, 0.9, 0.99]),
)
def test_no_quantile_was_shorter_than_the_bound(grown: list[tuple[float, float]], p: float) -> None:
    before, growth = np.array(grown).T
    curve = known_part(from_values((before + growth).tolist()))
    assert quantile_before(curve, p, float(growth.mean())) <= quantile(before, p) * (1 + 1e-6)


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_the_bound_is_reached_by_those_that_lie_just_above_it(p: float) -> None:
    """Of 1 ms … 100 ms, those from 80 to 90 ms grew from 80 ms: a p90 of 90 ms was 80 ms."""
    values = np.arange(1, 101) / 1e3
    at = p - 0.1
    grew = np.where((values > at / 10) & (values <= p / 10), values - at / 10, 0.0)
    curve = known_part(from_values(values.tolist()))
    assert quantile_before(curve, p, float(grew.mean())) == pytest.approx(at / 10)
    assert quantile_before(curve, p, 0.0) == pytest.approx(p / 10)
    assert quantile_before(curve, p, 1.0) == 0.0
