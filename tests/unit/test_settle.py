"""Runs of a load on one started server go on until two in a row agree, and the next one is measured."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.fakes import Laboratory, laboratory

SETTLE = 'runs = 8\nsettle = "3 %"'


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path, monkeypatch)


def earlier_runs(lab: Laboratory) -> list[int]:
    """Of each of the two contestants, how many are recorded beside the measured one."""
    folders = [path.parent for path in lab.folder.glob("trials/*/outcome.json")]
    assert {json.loads((folder / "outcome.json").read_text())["status"] for folder in folders} == {"ended"}
    return sorted(len([*folder.glob("run-*")]) for folder in folders)


def response(lab: Laboratory, outcomes: Iterable[str]) -> None:
    """How the requests of one load after the other end; "ok" when there are no more."""
    first, *rest = outcomes
    lab.executor.outcome = first
    following = iter(rest)

    def change() -> None:
        lab.executor.outcome = next(following, "ok")

    lab.executor.loads = [change] * 40


def test_two_runs_that_agree_are_enough(lab: Laboratory) -> None:
    lab.run(lab.plan(workload=SETTLE))
    assert earlier_runs(lab) == [2, 2]


def test_runs_go_on_until_two_agree(lab: Laboratory) -> None:
    """In the second run of the first server nothing is answered rightly."""
    response(lab, ["ok", "wrong_body", "ok"])
    lab.run(lab.plan(workload=SETTLE))
    assert earlier_runs(lab) == [2, 4]


def test_no_more_runs_are_made_than_the_plan_allows(lab: Laboratory) -> None:
    response(lab, ["ok", "wrong_body"] * 20)
    lab.run(lab.plan(workload=SETTLE.replace("8", "5")))
    assert earlier_runs(lab) == [4, 4]


def test_two_runs_are_two_whether_they_agree_or_not(lab: Laboratory) -> None:
    lab.run(lab.plan(workload=SETTLE.replace("8", "2")))
    assert earlier_runs(lab) == [1, 1]
