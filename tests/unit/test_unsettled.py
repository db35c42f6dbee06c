"""What runs that may not have settled add to the interval of a claim."""

import pytest

from jostle.analysis.judge.unsettled import Drift, stretched
from jostle.analysis.results import Estimate


def changed(low: float | None, high: float | None) -> Estimate:
    return Estimate(1.0, low, high, "")


def test_runs_that_differ_by_less_than_is_allowed_have_settled() -> None:
    assert Drift.of(changed(0.98, 1.02), 0.03) == Drift()


def test_noise_is_a_drift_either_way() -> None:
    """The point lies at 1, but nothing shows that it stays there."""
    assert Drift.of(changed(0.9, 1.1), 0.03) == Drift(0.9, 1.1)


def test_what_became_faster_may_become_faster_still() -> None:
    assert Drift.of(changed(1.05, 1.2), 0.03) == Drift(1.0, 1.2)


def test_a_single_change_says_nothing() -> None:
    assert Drift.of(changed(None, None), 0.03) is None
    found = stretched(Estimate(2.0, 1.9, 2.1, ""), None, Drift())
    assert (found.low, found.high) == (None, None)
    assert found.note == "whether the runs had settled is not known"


def test_a_ratio_is_stretched_by_both_sides() -> None:
    found = stretched(Estimate(2.0, 1.9, 2.1, ""), Drift(0.9, 1.0), Drift(1.0, 1.25))
    assert found.low == pytest.approx(1.9 * 0.9 / 1.25)
    assert found.high == pytest.approx(2.1)


def test_what_has_settled_stays_as_it_is() -> None:
    found = Estimate(2.0, 1.9, 2.1, "")
    assert stretched(found, Drift(), Drift()) == found
    assert stretched(found, Drift()) == found
    assert stretched(Estimate(2.0, 1.9, None, "", "≥"), Drift(0.5, 2.0)).high is None


def test_it_reads_as_a_change() -> None:
    assert Drift(0.979, 1.13).text == "−2.1 % to +13 %"
