"""What a page holds of single trials: bounded, and with nothing left out of the sums."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.live.column import MAX_COLUMNS
from jostle.record import RunRecord
from jostle.report import trial_data
from jostle.report.build import run_document
from jostle.report.document import Document, trials_in
from jostle.report.trial_data import trials_data
from support.pages import AWAY, FOUR, QUICK, TRIALS
from support.results import make_hit
from support.synthetic import PLAN, Trial, closed, make_run


def data_of(folder: Path, *trials: Trial, plan: str = PLAN) -> list[dict[str, Any]]:
    record = RunRecord.open(make_run(folder, trials, plan_text=plan))
    return trials_data(analyse(record), record.trials)


def columns_in(one: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(zlib.decompress(base64.b64decode(one["columns"])))
    return found


def counted(columns: list[dict[str, Any]]) -> int:
    return sum(sum(column["response"][1::2]) for column in columns)


def test_a_long_trial_has_merged_columns_and_all_of_its_responses(tmp_path: Path) -> None:
    requests = closed(QUICK, 30.0, clients=1)
    (one,) = data_of(tmp_path, Trial("a", "w", 1, requests, 30.0, 0.1, FOUR))
    columns = columns_in(one)
    assert len(columns) == 150 <= MAX_COLUMNS
    assert counted(columns) == sum(column["outcomes"]["ok"] for column in columns)
    assert counted(columns) == sum(request.outcome == "ok" for request in requests)
    assert [column["end"] for column in columns[:-1]] == [column["start"] for column in columns[1:]]


def test_what_does_not_fit_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = data_of(tmp_path / "whole", TRIALS["a stall"])
    monkeypatch.setattr(trial_data, "MAX_CHARACTERS", len(whole["columns"]) - 1)
    (merged,) = data_of(tmp_path / "merged", TRIALS["a stall"])
    assert len(merged["columns"]) < len(whole["columns"])
    assert len(columns_in(merged)) == len(columns_in(whole)) / 2
    assert counted(columns_in(merged)) == counted(columns_in(whole))


def test_of_many_trials_there_are_the_first_rounds_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_data, "MAX_TRIALS", 4)
    requests = closed(QUICK, 1.0, clients=4)
    trials = [
        Trial(name, "w", number, requests, 1.0, load=FOUR) for number in (1, 2, 3) for name in ("a", "b")
    ]
    found = data_of(tmp_path, *trials)
    assert [one["name"] for one in found] == ["a, round 1", "b, round 1", "a, round 2", "b, round 2"]


def test_only_requirements_of_a_trials_own_figures_are_drawn(tmp_path: Path) -> None:
    plan = PLAN + "".join(
        f'\n[[require]]\nthat = "{that}"\n'
        for that in ("p99 < 100 ms", "memory < 1 GB", "throughput > 10/s", "spread < 3")
    )
    (one,) = data_of(tmp_path, TRIALS["closed loop"], plan=plan)
    assert [limit["text"] for limit in one["limits"]] == ["p99 < 100 ms", "throughput > 10/s"]
    assert one["limits"][0] == {
        "text": "p99 < 100 ms",
        "metric": "p99",
        "limit": 0.1,
        "below": True,
        "touching": False,
    }


def test_without_its_record_a_page_has_no_heat_map() -> None:
    def maps(document: Document) -> int:
        return len(list(trials_in(document.sections)))

    assert maps(run_document(make_hit())) == 0


def test_what_was_lost_is_marked(tmp_path: Path) -> None:
    (one,) = data_of(tmp_path, AWAY)
    assert [(mark["kind"], mark["text"]) for mark in one["marks"]] == [
        ("lost", "no response"),
        ("back", "responses again"),
    ]
    assert [mark["at"] for mark in one["marks"]] == [4.25, 6.0]
