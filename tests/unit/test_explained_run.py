"""Contestants that are explained after a run: what is asked, what is kept, what the report shows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.errors import PlanError, StartFailed
from jostle.explain.documents.folder import explain_contestants
from jostle.explain.results import Explanation
from jostle.plan import parse_plan
from jostle.record import RunRecord
from support.rendered import rendered
from support.served import FAST, Server, explained
from support.synthetic import Trial, closed, make_run

PLAN = """
title = "Who behaves how?"
contestants = ["node", "go", "mine"]
explain = "1m"
[contestant.mine]
url = "http://127.0.0.1:9000"
[workload.w]
request.get = "/"
load = { clients = 1, for = "1s" }
"""


def test_each_contestant_is_explained_once_and_none_stops_the_others(tmp_path: Path) -> None:
    asked: list[tuple[str, Any]] = []
    told: list[str] = []

    def examined(label: str, **options: Any) -> Explanation:
        asked.append((label, options))
        if label == "node":
            raise StartFailed("node did not start", "see its output")
        return replace(explained(Server(), FAST), target=label, paragraph=f"{label} shares.")

    plan = parse_plan(PLAN, "plan")
    for _ in range(2):
        explain_contestants(plan, tmp_path, told.append, examined)
    options = {"budget": 60.0, "share_cores": False}
    assert asked == [("node", options), ("go", options), ("node", options)]
    assert {file.name for file in (tmp_path / "explained").iterdir()} == {"go.json", "go.html"}
    assert "node is not explained: node did not start" in told
    assert any(line.startswith("mine is not explained: no contract") for line in told)


def test_a_plan_that_does_not_ask_explains_nobody_and_too_short_a_time_is_refused(tmp_path: Path) -> None:
    def examined(label: str, **_options: Any) -> Explanation:
        raise AssertionError(label)

    silent = parse_plan(PLAN.replace('explain = "1m"\n', ""), "plan")
    explain_contestants(silent, tmp_path, pytest.fail, examined)
    with pytest.raises(PlanError, match="explain = 5"):
        parse_plan(PLAN.replace('"1m"', '"5s"'), "plan")


def test_the_report_has_a_paragraph_for_each(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [Trial("node", "w", 1, closed(lambda _: 0.1, 3.0), duration=3.0)])
    assert analyse(RunRecord.open(folder)).behaviour == {}
    assert "How the servers behave" not in rendered(analyse(RunRecord.open(folder)), "md")
    (folder / "explained").mkdir()
    known = {"target": "node", "paragraph": "One worker.", "more": 1}
    (folder / "explained" / "node.json").write_text(json.dumps(known))
    (folder / "explained" / "odd.json").write_text("{")
    result = analyse(RunRecord.open(folder))
    assert result.behaviour["node"] == "One worker."
    assert "cannot be read" in result.behaviour["odd"]
    assert "node: One worker." in rendered(result, "md")
