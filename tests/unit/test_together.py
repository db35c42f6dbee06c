"""Workloads that an article measured on one started server are measured on one: in turn, A B, B A."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan import Plan, parse_plan
from jostle.record import RunRecord
from jostle.runner.schedule import in_order, schedule
from support.fakes import Laboratory, laboratory

PLAN = """
title = "Two forms"
contestants = ["a", "b"]
rounds = {rounds}
together = [["alone", "beside"]]
[contestant.a]
url = "http://127.0.0.1:1"
[contestant.b]
url = "http://127.0.0.1:2"
[workload.beside]
request = {{ get = "/" }}
load = {{ clients = 1, for = "3s" }}
{beside}
[workload.other]
request = {{ get = "/" }}
load = {{ clients = 1, for = "3s" }}
[workload.alone]
request = {{ get = "/" }}
load = {{ clients = 1, for = "3s" }}
"""


def plan(rounds: int = 2, beside: str = "") -> Plan:
    return parse_plan(PLAN.format(rounds=rounds, beside=beside), "p")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path, monkeypatch)


def test_they_follow_one_another_backwards_in_even_rounds() -> None:
    asked = plan(rounds=4)
    trials = schedule([(c, w) for c in "ab" for w in asked.selected], asked, seed=3)
    assert len(trials) == 24
    for number in (1, 2, 3, 4):
        for contestant in ("a", "b"):
            of_one = [t for t in trials if (t.round, t.contestant) == (number, contestant)]
            places = {t.workload: t.number for t in of_one}
            assert places["beside"] - places["alone"] == (1 if number % 2 else -1)


def test_further_rounds_keep_to_it_and_what_is_left_alone_stays_alone() -> None:
    cells = [("a", "alone"), ("a", "beside"), ("b", "beside"), ("b", "other")]
    found = in_order(cells, plan(), 6, random.Random(1))
    assert sorted(found) == sorted(cells)
    assert found.index(("a", "alone")) == found.index(("a", "beside")) + 1


def records(lab: Laboratory) -> list[dict[str, Any]]:
    return [trial.description for trial in RunRecord.open(lab.folder).trials]


def test_the_second_is_driven_on_the_server_of_the_first(lab: Laboratory) -> None:
    lab.run(plan())
    for contestant in lab.contestants.values():
        assert contestant.running == []
    assert [lab.contestants[name].starts for name in ("a", "b")] == [4, 4]  # two forms and another, twice
    continued = [(t["workload"], t["round"]) for t in records(lab) if t.get("continues")]
    assert sorted(continued) == [("alone", 2), ("alone", 2), ("beside", 1), ("beside", 1)]


def test_a_server_that_has_died_is_started_anew(lab: Laboratory) -> None:
    """Every server of the first contestant dies in the first load on it."""

    def die() -> None:
        for server in lab.contestants["a"].running:
            server.dead = True

    lab.executor.loads = [die] * 6
    lab.run(plan(rounds=1))
    assert lab.contestants["a"].starts == 3
    assert not any(t.get("continues") for t in records(lab) if t["contestant"] == "a")


def test_a_server_that_may_still_compute_is_not_asked_for_the_next(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end has cut off a request of the background: whoever computes on would be measured busy."""
    start = lab.executor.start
    cut_off = {"workload": 1, "request": 0, "phase": 0, "histograms": {}, "outcomes": {"unfinished": 1}}

    def with_background(spec: Any) -> Any:
        running: Any = start(spec)
        intervals = running._intervals
        running._intervals = (
            {**i, "series": [*i["series"], cut_off] if i["last"] else i["series"]} for i in intervals
        )
        return running

    monkeypatch.setattr(lab.executor, "start", with_background)
    lab.run(plan(rounds=1))
    assert [lab.contestants[name].starts for name in ("a", "b")] == [3, 3]
    assert not any(t.get("continues") for t in records(lab))


def test_an_interrupted_run_leaves_no_server(lab: Laboratory) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    lab.executor.loads = [lambda: None] * 3 + [interrupt]
    with pytest.raises(KeyboardInterrupt):
        lab.run(plan())
    assert [lab.contestants[name].running for name in ("a", "b")] == [[], []]


def test_a_spoiled_one_is_measured_again_on_a_server_of_its_own(lab: Laboratory) -> None:
    lab.executor.spoiled = {0, 1, 2, 3, 4, 5}
    lab.run(plan(rounds=1))
    outcomes = [json.loads(path.read_text()) for path in lab.folder.glob("trials/*/outcome.json")]
    assert {outcome["status"] for outcome in outcomes} == {"ended"}
    assert [lab.contestants[name].running for name in ("a", "b")] == [[], []]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('["alone", "beside"]', '["alone", "besides"]'), "together: there is no workload 'besides'"),
        (('["alone", "beside"]', '["alone", "beside"], ["alone"]'), "'alone' is listed twice"),
        (("[workload.other]", 'memory = "1GB"\n[workload.other]'), "alone, beside need different servers"),
        (
            ("[workload.other]", "share-cores = true\n[workload.other]"),
            "alone, beside need different servers",
        ),
    ],
)
def test_groups_that_cannot_be_are_refused(change: tuple[str, str], says: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(PLAN.format(rounds=1, beside="").replace(*change), "p")
    assert says in caught.value.message
