"""`invalid-if` of a plan: which trials no figure may be taken from."""

from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import RunResult
from jostle.analysis.run import analyse
from jostle.errors import PlanError
from jostle.plan import parse_plan
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from support.judging import CONSTANT
from support.synthetic import Request, Trial, make_run

PLAN = """\
title = "Is it right?"
contestants = ["mine"]
rounds = 1
{plan}
[contestant.mine]
url = "http://127.0.0.1:1"

[workload.w]
request = {{ get = "/" }}
load = {{ rate = "200/s", for = "5s" }}
{workload}
[workload.other]
request = {{ get = "/" }}
load = {{ rate = "200/s", for = "5s" }}
"""

REQUESTS = [Request(i / 200, i / 200, i / 200 + 0.002) for i in range(990)]
WRONG = [replace(r, outcome="wrong_status") if i % 20 == 0 else r for i, r in enumerate(REQUESTS)]


def result(tmp_path: Path, plan: str = "", workload: str = "") -> RunResult:
    trials = [Trial("mine", name, 1, WRONG, load=CONSTANT) for name in ("w", "other")]
    text = PLAN.format(plan=plan, workload=workload)
    return analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text)))


def verdicts(found: RunResult) -> dict[str, str]:
    return {summary.workload: str(summary.verdict) for summary in found.summaries}


def test_a_condition_that_a_trial_meets_makes_it_invalid(tmp_path: Path) -> None:
    found = result(tmp_path, 'invalid-if = ["p99 > 1 min", "errors > 1 %"]')
    assert verdicts(found) == {"w": "invalid", "other": "invalid"}
    (check,) = [check for check in found.trials[0].validity.checks if check.name == "invalid-if"]
    assert check.message == "errors are 5.05 %, and the plan calls a trial invalid if errors > 1 %"
    assert found.summaries[0].verdict_of("errors") == "valid"
    assert found.summaries[0].verdict_of("p50") == "invalid"


def test_a_workload_has_conditions_of_its_own(tmp_path: Path) -> None:
    found = result(tmp_path, 'invalid-if = ["errors > 1 %"]', 'invalid-if = ["errors > 10 %"]')
    assert verdicts(found) == {"w": "valid", "other": "invalid"}
    assert (
        verdicts(result(tmp_path / "none", 'invalid-if = ["errors > 1 %"]', "invalid-if = []"))["w"]
        == "valid"
    )


def test_without_conditions_failures_are_a_result(tmp_path: Path) -> None:
    assert verdicts(result(tmp_path)) == {"w": "valid", "other": "valid"}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('"errors > 5 %"', "is not a list"),
        ('["errors"]', "is not a condition"),
        ('["erors > 5 %"]', "jostle does not measure 'erors'"),
        ('["blocking index > 1"]', "no figure of one trial"),
    ],
)
def test_a_mistake_is_told_before_the_run(written: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_plan(PLAN.format(plan=f"invalid-if = {written}", workload=""), "plan.toml")


def test_of_a_recorded_plan_what_cannot_be_read_is_left_out() -> None:
    text = PLAN.format(plan='invalid-if = ["of another version > 1", "errors > 1 %"]', workload="")
    assert [one.text for one in RecordedPlan.parse(text).invalid_if("w")] == ["errors > 1 %"]
