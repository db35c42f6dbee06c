"""The order of a round: at random, with what is compared side by side."""

import random
from collections import Counter
from itertools import pairwise

from jostle.plan import Plan, parse_plan
from jostle.runner.compared import compared
from jostle.runner.schedule import first_rounds, in_order, schedule

PLAN = """
title = "Order"
contestants = ["a", "b", "c"]
[contestant]
a.url = "http://127.0.0.1:1"
b.url = "http://127.0.0.1:2"
c.url = "http://127.0.0.1:3"
"""
WORKLOAD = """
[workload.{name}]
request = {{ get = "/" }}
load = {{ clients = 1, for = "3s" }}
"""
CLAIM = """
[[claim]]
says = "it is faster"
ours = true
[[claim.holds]]
metric = "throughput"
contestant = "{left[0]}"
workload = "{left[1]}"
against = {{ contestant = "{right[0]}", workload = "{right[1]}" }}
above = 1
"""
RATIO = """
[[ratio]]
title = "left"
metric = "throughput"
workload = "x"
against = "z"
"""
CELLS = [(contestant, workload) for contestant in "abc" for workload in "xyz"]


def plan(*tables: str) -> Plan:
    return parse_plan("".join([PLAN, *(WORKLOAD.format(name=name) for name in "xyz"), *tables]), "p")


def claim(left: str, right: str) -> str:
    return CLAIM.format(left=left, right=right)


def orders(asked: Plan, count: int = 200) -> list[list[tuple[str, str]]]:
    return [in_order(CELLS, asked, number, random.Random(number)) for number in range(count)]


def apart(order: list[tuple[str, str]], one: tuple[str, str], other: tuple[str, str]) -> int:
    return abs(order.index(one) - order.index(other))


def test_every_cell_is_there_once_in_each_round() -> None:
    for asked in (plan(), plan(claim("ax", "by")), plan(RATIO)):
        trials = schedule(CELLS, asked, seed=1)
        assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
        times = Counter((trial.round, trial.contestant, trial.workload) for trial in trials)
        assert set(times.values()) == {1}
        assert len(times) == first_rounds(asked) * len(CELLS)


def test_contestants_under_one_workload_are_side_by_side() -> None:
    for order in orders(plan()):
        assert sum(one[1] != other[1] for one, other in pairwise(order)) == 2


def test_what_a_claim_or_a_ratio_compares_is_side_by_side() -> None:
    for order in orders(plan(claim("ax", "by"), claim("cx", "cz"))):
        assert apart(order, ("a", "x"), ("b", "y")) == apart(order, ("c", "x"), ("c", "z")) == 1
    for order in orders(plan(RATIO)):
        assert all(apart(order, (name, "x"), (name, "z")) == 1 for name in "abc")


def test_one_that_is_compared_with_several_is_near_them_all() -> None:
    for order in orders(plan(claim("ax", "by"), claim("ax", "cz"), claim("ax", "bz"))):
        assert all(apart(order, ("a", "x"), other) <= 3 for other in (("b", "y"), ("c", "z"), ("b", "z")))


def test_of_two_that_are_compared_either_is_as_often_the_first() -> None:
    """Also of one that is compared with several: it would always be before most of them."""
    for asked in (plan(claim("ax", "by"), claim("ax", "cz"), claim("ax", "bz")), plan()):
        found = orders(asked, 1_000)
        for pair in compared(asked, CELLS):
            one, other = sorted(pair)
            first = sum(order.index(one) < order.index(other) for order in found)
            assert 400 < first < 600, (one, other, first)


def test_any_cell_may_come_first() -> None:
    assert {order[0] for order in orders(plan(claim("ax", "by")), 300)} == {*CELLS}


def test_names_mean_variants_and_what_does_not_take_part_is_left_out() -> None:
    asked = plan(claim("ax", "by"))
    cells = [("a:n=1", "x"), ("a:n=2", "x"), ("b", "y"), ("c", "x")]
    one, other = ({("b", "y"), (f"a:n={n}", "x")} for n in (1, 2))
    assert compared(asked, cells) == {frozenset(one), frozenset(other)}
    assert compared(asked, [("b", "y"), ("c", "x"), ("c", "y")]) == {frozenset({("b", "y"), ("c", "y")})}
