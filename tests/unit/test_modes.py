"""Rounds that fall into two groups: told, and repeated first."""

import random
from pathlib import Path

import pytest

from jostle.analysis.results import Mode
from jostle.analysis.run import analyse
from jostle.analysis.stats.bimodality import modes
from jostle.plan import parse_plan
from jostle.record import RunRecord, RunWriter
from jostle.runner.extra_rounds import plan_repeats
from support.synthetic import Trial, back_to_back, closed, lognormal, make_run

TWO = [0.95, 0.94, 0.31, 0.96, 0.33]


@pytest.mark.parametrize(
    ("shares", "least", "groups"),
    [
        (TWO, 2, [2, 3]),
        ([0.95, 0.94, 0.31, 0.96, 0.95], 2, []),  # one round alone may be an accident …
        ([0.95, 0.94, 0.31, 0.96, 0.95], 1, [1, 4]),  # … and is looked into
        ([0.95, 0.31, 0.33], 1, []),  # three rounds always have a gap
        ([0.1, 0.3, 0.5, 0.7, 0.9], 1, []),  # spread evenly
        ([0.95, 0.951, 0.93, 0.931], 1, []),  # too close to matter
        ([0.5] * 6, 1, []),
        ([], 1, []),
    ],
)
def test_two_groups_with_a_gap(shares: list[float], least: int, groups: list[int]) -> None:
    assert [mode.rounds for mode in modes(shares, least)] == groups


def test_each_mode_has_its_mean_and_ends() -> None:
    low, high = modes(TWO)
    assert low == Mode(2, pytest.approx(0.32), 0.31, 0.33)
    assert (high.rounds, high.low, high.high) == (3, 0.94, 0.96)


def test_rounds_of_one_mode_seldom_look_like_two() -> None:
    """Normal rounds that differ by much: ten of them look like two modes in one case of ten thousand."""
    rng = random.Random(1)
    seen = sum(bool(modes([rng.gauss(0.5, 0.3) for _ in range(10)])) for _ in range(2000))
    assert seen <= 5


def two_mode_trials(rounds: int) -> list[Trial]:
    """One contestant that loses a tenth of its window in odd rounds and nine tenths in even ones, and one
    that loses nothing."""
    trials = []
    for number in range(1, rounds + 1):
        lost = 0.5 if number % 2 else 4.5
        for contestant, blocked in (("two", [(0.0, lost)]), ("one", [])):
            alone = closed(lognormal(0.01, 0.1), 5.0, seed=number)
            beside = closed(lognormal(0.01, 0.1), 5.0, seed=number + 100, blocked=blocked)
            trials.append(Trial(contestant, "alone", number, alone))
            slow = back_to_back(4.0, 5.0, limit=1)
            background = {"closed": {"clients": 1}}
            trials.append(Trial(contestant, "beside", number, [*beside, *slow], background=background))
    return trials


PLAN = """
title = "modes"
contestants = ["two", "one"]
rounds = 4
[contestant.two]
url = "http://127.0.0.1:1"
[contestant.one]
url = "http://127.0.0.1:2"
[workload.alone]
request = { get = "/" }
load = { clients = 1, for = "5s" }
[workload.beside]
request = { get = "/" }
load = { clients = 1, for = "5s" }
background = { get = "/slow", clients = 1, requests = 1 }
[workload.slow]
request = { get = "/slow" }
load = { clients = 1, requests = 1 }
[[starvation]]
form = "closed"
alone = "alone"
with = "beside"
slow = "slow"
"""


def test_what_looks_like_two_modes_is_measured_as_often_again_and_once_only(tmp_path: Path) -> None:
    folder = make_run(tmp_path, two_mode_trials(4), plan_text=PLAN)
    plan = parse_plan(PLAN, "plan")
    more = plan_repeats(plan, RunWriter.resume(folder), 7, ["two", "one"])
    assert {(p.contestant, p.workload) for p in more} == {("two", "alone"), ("two", "beside")}
    assert [p.number for p in more] == list(range(17, 25))
    assert {p.round for p in more} == {5, 6, 7, 8}
    (note,) = [note for note in analyse(RunRecord.open(folder)).notes if "as many rounds again" in note]
    assert note.startswith("two was measured in as many rounds again under alone and beside: ")
    journal = RunRecord.open(folder).journal
    assert sum(e["event"] == "extra rounds planned" for e in journal) == 2
    assert sum(e["event"] == "trial planned" and e["round"] > 4 for e in journal) == 8


def test_repeated_rounds_are_in_random_order(tmp_path: Path) -> None:
    plan, first = parse_plan(PLAN, "plan"), set()
    for seed in range(10):
        folder = make_run(tmp_path / str(seed), two_mode_trials(4), plan_text=PLAN)
        first.add(plan_repeats(plan, RunWriter.resume(folder), seed, ["two", "one"])[0].workload)
    assert first == {"alone", "beside"}


def test_repeated_rounds_are_not_repeated_and_both_modes_are_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path, two_mode_trials(8), plan_text=PLAN)
    assert plan_repeats(parse_plan(PLAN, "plan"), RunWriter.resume(folder), 7, ["two", "one"]) == []
    found = {s.contestant: s for s in analyse(RunRecord.open(folder)).starvation}
    assert found["one"].modes == []
    low, high = found["two"].modes
    assert (low.rounds, high.rounds) == (4, 4)
    assert low.high < 0.3 < 0.7 < high.low
    assert "fall into two groups" in found["two"].sentence
