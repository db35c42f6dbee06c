"""Where `jostle run --resume` is offered: only where it would measure something."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jostle.analysis.resuming import finish
from jostle.analysis.run import analyse
from jostle.cli.execution import resume_run
from jostle.cli.output import PlanOutput
from jostle.errors import NotARun
from jostle.plan import parse_plan, to_toml
from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.record import RunRecord, RunWriter
from jostle.runner.resume import unfinished
from support.synthetic import PLAN, STARVATION_PLAN, Trial, closed, lognormal, make_run

JSON = PlanOutput(as_json=True, no_pages=True)


def trials(number: int = 3) -> list[Trial]:
    return [
        Trial("node", "fast-only", n, closed(lognormal(0.002, 0.1), 3.0, seed=n), 3.0)
        for n in range(1, number + 1)
    ]


def stopped(base: Path, plan_text: str = PLAN) -> Path:
    return make_run(base, trials(), plan_text=plan_text, ended=False)


def test_a_run_that_was_killed_can_go_on(tmp_path: Path) -> None:
    folder = stopped(tmp_path)
    result = analyse(RunRecord.open(folder))
    assert result.finish == f"jostle run --resume {folder}"
    assert not result.complete


def test_nothing_is_left_of_a_run_that_ended_even_if_it_is_damaged(tmp_path: Path) -> None:
    folder = make_run(tmp_path, trials())
    assert finish(RunRecord.open(folder)) == ""
    damage(folder)
    record = RunRecord.open(folder)
    assert not record.complete
    assert finish(record) == ""


def damage(folder: Path) -> None:
    """As if a byte had been lost."""
    file = next(folder.glob("trials/001-*/outcome.json"))
    file.write_text(file.read_text()[:-1])


def test_a_run_that_is_still_measured_is_left_alone(tmp_path: Path) -> None:
    folder = stopped(tmp_path)
    writer = RunWriter.resume(folder)
    assert finish(RunRecord.open(folder)) == ""
    writer.journal("run stopped", why="stopped by the user")
    assert finish(RunRecord.open(folder)) != "", "what follows is its result"


def before_its_first_trial(base: Path) -> Path:
    """As when Ctrl-C comes while the database is started."""
    writer = RunWriter.create(base, "x", PLAN, {"seed": 1})
    writer.journal_start(seed=1, contestants=["mine"])
    writer.journal("trial planned", number=1, contestant="mine", workload="w", round=1)
    writer.journal("run stopped", why="stopped by the user")
    return writer.folder


def with_a_hidden_token(base: Path) -> Path:
    return stopped(base, STARVATION_PLAN.format(rounds=3).replace('"/fast/44"', '"/?token=(hidden)"'))


def with_the_password_of_a_database(base: Path) -> Path:
    database = '[database]\nurl = "postgresql://me:hunter2@here/shop"\n'
    recorded = to_toml(parse_plan(STARVATION_PLAN.format(rounds=3) + database, "plan.toml"))
    assert "hunter2" not in recorded
    return stopped(base, recorded)


def of_a_search(base: Path) -> Path:
    return stopped(base, f'{PLAN}[parameters]\n{SLO_PARAMETER} = "p99 < 100 ms"\n')


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (before_its_first_trial, "stopped before its first trial"),
        (with_a_hidden_token, "the secrets of its plan are not kept"),
        (with_the_password_of_a_database, "the secrets of its plan are not kept"),
        (of_a_search, "it searched for a capacity"),
    ],
)
def test_what_would_be_refused_is_not_offered(tmp_path: Path, make: Callable[[Path], Path], why: str) -> None:
    folder = make(tmp_path)
    assert finish(RunRecord.open(folder)) == ""
    with pytest.raises(NotARun, match=f"cannot go on: .*{why}"):
        unfinished(folder)


@pytest.mark.parametrize(("limit", "code"), [("1 ms", 1), ("1 s", 0)])
def test_of_a_complete_run_its_own_result_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str, code: int
) -> None:
    required = f'[[require]]\nthat = "p50 < {limit}"\nworkload = "fast-only"'
    folder = make_run(tmp_path, trials(), plan_text=STARVATION_PLAN.format(rounds=3) + required)
    assert resume_run(folder, JSON) == code
    said = capsys.readouterr()
    assert said.err == f"{folder} is complete: nothing to do\n"
    assert '"kind": "jostle result"' in said.out


def test_a_run_that_ended_but_is_damaged_is_not_called_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run(tmp_path, trials())
    damage(folder)
    assert resume_run(folder, JSON) == 3
    assert capsys.readouterr().err == f"{folder} is damaged, but has ended: nothing to do\n"
