"""jostle from Python: what it exports, and that it runs what the command runs."""

from pathlib import Path
from typing import Any

import pytest

import jostle
from jostle import api
from jostle.errors import NotARun, PlanError
from jostle.plan import Plan, parse_plan
from jostle.runner import tune
from support.synthetic import STARVATION_PLAN, make_run, starvation_trials

TUNED = """
title = "t"
contestants = ["reference-null"]

[parameters]
size = 1_000

[tune.size]
on = "reference-null"
get = "/count/{value}"
takes = "20ms"

[workload.w]
request = { get = "/count/{size}" }
load = { clients = 1, requests = 10 }
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would have been run: (plan, base, name, seed)."""
    found: list[tuple[Any, ...]] = []

    def note(plan: Plan, base: Path, name: str, seed: int | None, *_: Any) -> Path:
        found.append((plan, base, name, seed))
        return base

    monkeypatch.setattr(api, "run_experiment", note)
    return found


@pytest.fixture
def plan_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan with a parameter to be tuned, on a machine that takes 77 for it."""
    monkeypatch.setattr(tune, "_value", lambda *_: 77)
    file = tmp_path / "mine.toml"
    file.write_text(TUNED)
    return file


def test_what_is_exported() -> None:
    assert jostle.__all__ == [
        "Comparison",
        "JostleError",
        "Plan",
        "Run",
        "__version__",
        "capacity",
        "compare",
        "explain",
        "hit",
        "journey",
        "load_experiment",
        "load_plan",
        "open_run",
        "run",
        "steer",
        "stop",
    ]
    assert [name for name in jostle.__all__ if getattr(jostle, name) is None] == []
    with pytest.raises(AttributeError, match="module 'jostle' has no attribute 'rum'"):
        jostle.rum  # noqa: B018


def test_a_file_is_run_as_the_command_runs_it(
    runs: Any, plan_of: Any, plan_file: Path, tmp_path: Path
) -> None:
    jostle.run(plan_file, into=tmp_path, seed=7)
    jostle.run(str(plan_file))
    jostle.run(jostle.load_plan(plan_file))
    assert [plan for plan, *_ in runs] == [plan_of("run", str(plan_file))] * 3
    assert runs[0][0].workload["w"].request[0].path == "/count/77"
    assert [rest for _, *rest in runs] == [
        [tmp_path, "mine", 7],
        [Path("runs"), "mine", None],
        [Path("runs"), "plan", None],
    ]


def test_what_is_set_is_not_tuned(runs: Any, plan_of: Any, plan_file: Path) -> None:
    jostle.run(jostle.load_plan(plan_file, settings={"size": 5}, share_cores=True))
    assert runs[0][0] == plan_of("run", str(plan_file), "--set", "size=5", "--share-cores")
    assert runs[0][0].workload["w"].request[0].path == "/count/5"


def test_a_plan_that_is_not_tuned_yet_is_refused(runs: Any) -> None:
    with pytest.raises(PlanError, match="leaves size to be tuned for this machine") as refused:
        jostle.run(parse_plan(TUNED, "p"))
    assert "jostle.load_plan" in refused.value.hint
    assert runs == []


def test_an_experiment_is_that_of_the_command(plan_of: Any) -> None:
    """The window is given, as a tuned one may be measured anew each time."""
    settings = {"slow": 30, "window": "1s"}
    plan = jostle.load_experiment("starvation", scale="quick", settings=settings)
    assert plan == plan_of("race", "starvation", "--quick", "--set", "slow=30", "--set", "window=1s")


def test_a_hit_is_that_of_the_command(runs: Any, plan_of: Any) -> None:
    jostle.hit("http://localhost/", clients=50, requests=9, think="1s", headers=[("A", "b")], seed=5)
    options = ["-c", "50", "-n", "9", "--think", "1s", "-H", "A: b", "-t", "1"]
    plan, *rest = runs[0]
    assert plan.workload == plan_of("hit", "http://localhost/", *options).workload
    assert rest == [Path("runs"), "hit", 5]


def test_names_of_contestants_are_looked_up(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        TUNED.partition("[tune")[0]
        + '[workload.w]\nrequest = { get = "/{peer}" }\npeer = "nod"\nload = { clients = 1, requests = 1 }'
    )
    with pytest.raises(PlanError, match=r"plan\.toml: workload\.w\.peer: there is no contestant 'nod'"):
        jostle.load_plan(file)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    trials = starvation_trials(2, rows=True)
    folder = make_run(tmp_path_factory.mktemp("runs"), trials, plan_text=STARVATION_PLAN.format(rounds=2))
    return jostle.open_run(folder)


def test_figures_have_a_row_for_everything_that_was_measured(run: api.Run) -> None:
    found = run.figures
    assert {"contestant", "workload", "metric", "value", "low", "high", "unit", "n"} <= set(found.columns)
    [p50] = [
        row
        for row in found.to_dicts()
        if (row["contestant"], row["workload"], row["metric"], row["trial"])
        == ("node", "fast-only", "response time p50", None)
    ]
    pairs = {(s.contestant, s.workload): s for s in run.result.summaries}
    assert p50["value"] == pairs["node", "fast-only"].response["p50"].value
    assert p50["unit"] == "s"


def test_requests_have_a_row_for_each_with_its_trial(run: api.Run) -> None:
    found = run.requests
    trials = {trial.number: (trial.contestant, trial.workload) for trial in run.record.trials}
    seen = found.select("trial", "contestant", "workload_name").unique().rows()
    assert {(trial, (contestant, workload)) for trial, contestant, workload in seen} == set(trials.items())
    assert len(found) == sum(len(rows) for t in run.record.trials if (rows := t.rows()) is not None)


def test_a_run_without_rows_has_none(tmp_path: Path) -> None:
    folder = make_run(tmp_path, starvation_trials(2), plan_text=STARVATION_PLAN.format(rounds=2))
    assert jostle.open_run(folder).requests.is_empty()


def test_what_is_no_run_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with pytest.raises(NotARun):
        jostle.open_run(tmp_path)


def test_two_contestants_are_compared(run: api.Run) -> None:
    found = jostle.compare(run, contestants=["node", "go"], fail_if="p99 > +5 %")
    assert (found.result.a, found.result.b) == ("node", "go")
    assert len(found.result.conditions) == len(found.result.comparisons)
    with pytest.raises(jostle.JostleError, match="there is no workload in this comparison 'fats-only'"):
        found.chart("fats-only")
