"""Time in garbage collection: asked of a server that tells it, before and after its load."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis import metrics
from jostle.analysis.run import analyse
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from support.fakes import FakeServer, laboratory
from support.rendered import rendered
from support.synthetic import Trial, closed, make_run


def test_it_is_a_share_of_the_time_and_a_number_for_each_thousand_responses(tmp_path: Path) -> None:
    trials = [
        Trial("a", "w", number, closed(lambda _: 0.01, 5.0), garbage={"seconds": seconds, "collections": 10})
        for number, seconds in enumerate((0.4, 0.5, 0.6), 1)
    ]
    others = [Trial("b", "w", number, closed(lambda _: 0.01, 5.0)) for number in (1, 2, 3)]
    record = RunRecord.open(make_run(tmp_path, [*trials, *others]))
    data = [TrialData(trial) for trial in record.trials if trial.contestant == "a"]
    assert metrics.estimate("garbage collection", data).value == pytest.approx(0.1)
    result = analyse(record)
    (told,) = result.garbage
    assert (told.contestant, told.share.value) == ("a", pytest.approx(0.1))
    assert told.collections_per_1000.value == pytest.approx(20, rel=0.02)
    assert "Time in garbage collection" in rendered(result, "md")


@pytest.mark.parametrize(
    ("responses", "recorded"),
    [
        (
            [{"seconds": 1.5, "collections": 3}, {"seconds": 2, "collections": 10}],
            {"seconds": 0.5, "collections": 7},
        ),
        ([{"seconds": 1.5, "collections": 3}, {}], None),
        ([{"seconds": "much", "collections": 3}, {"seconds": 2, "collections": 10}], None),
    ],
)
def test_the_record_has_what_was_collected_during_the_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, responses: list[dict[str, Any]], recorded: object
) -> None:
    lab = laboratory(tmp_path, monkeypatch)
    lab.contestants["a"].file = SimpleNamespace(database=None, garbage="/gc", absent={}, speaks=[])
    told = iter(responses)
    monkeypatch.setattr(FakeServer, "ask", lambda _, path: next(told) if path == "/gc" else {}, raising=False)
    lab.run(lab.plan(workload="garbage = true"))
    outcomes = {
        json.loads((path.parent / "trial.json").read_text())["contestant"]: json.loads(path.read_text())
        for path in lab.folder.glob("trials/*/outcome.json")
    }
    assert outcomes["a"].get("garbage") == recorded
    assert outcomes["b"]["garbage"] is None


def test_a_server_is_not_asked_for_what_the_plan_does_not_want(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Node observes its collections from the first question on: not where nobody wants to know."""
    lab = laboratory(tmp_path, monkeypatch)
    lab.contestants["a"].file = SimpleNamespace(database=None, garbage="/gc", absent={}, speaks=[])
    asked: list[str] = []
    monkeypatch.setattr(FakeServer, "ask", lambda _, path: asked.append(path) or {}, raising=False)
    lab.run(lab.plan())
    assert asked == []
