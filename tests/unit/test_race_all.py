"""The time of `jostle race --all` is that of all experiments together."""

import pytest

from jostle.cli.race_all import share_of_budget


def test_experiments_share_the_time_in_proportion_to_their_first_rounds() -> None:
    """60 minutes for first rounds of 20, 10 and 10: each can go on for half as long again."""
    minutes = [20.0, 10.0, 10.0]
    assert share_of_budget(60.0, minutes) == pytest.approx(30.0)
    assert share_of_budget(30.0, minutes[1:]) == pytest.approx(15.0)
    assert share_of_budget(15.0, minutes[2:]) == pytest.approx(15.0)


def test_what_one_leaves_over_is_for_the_others() -> None:
    assert share_of_budget(60.0 - 12.0, [10.0, 10.0]) == pytest.approx(24.0)


def test_no_time_left_is_no_mistake() -> None:
    assert share_of_budget(-5.0, [10.0]) == 1.0
    assert share_of_budget(5.0, [0.0]) == 1.0
