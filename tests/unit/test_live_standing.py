"""How a run stands while it goes on: what is required and claimed, and its cells, as in the report."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.results import WorkloadSummary
from jostle.analysis.run import analyse
from jostle.analysis.standing import Standing
from jostle.live.followed import FollowedRun, FollowedTrial
from jostle.live.standing import StandingSoFar
from jostle.record import RunRecord
from jostle.web import standing as web_standing
from jostle.web.standing import WatchedStanding
from support.pages import TRIALS
from support.synthetic import STARVATION_PLAN, make_run, starvation_trials

REQUIRED = """
[[require]]
that = "p99 < 250 ms"
workload = "fast-only"
[[require]]
that = "starvation index < 0.1"
[[claim]]
says = "Go answers a million requests a second"
ours = true
holds = [{ metric = "throughput", contestant = "go", workload = "fast-only", above = 1000000 }]
"""

ONE = """
[[require]]
that = "p50 < 1 s"
[[require]]
that = "throughput > 1,000,000/s"
[[require]]
that = "errors < 5 %"
[[require]]
that = "journey p50 < 1 s"
"""


def run_of_rounds(base: Path, rounds: int = 3, **more: Any) -> Path:
    plan = STARVATION_PLAN.format(rounds=rounds) + REQUIRED
    return make_run(base, starvation_trials(rounds), plan_text=plan, **more)


def followed(folder: Path) -> FollowedRun:
    run = FollowedRun(folder)
    run.read()
    return run


def by_trials(run: FollowedRun, count: int | None = None) -> Standing:
    so_far = StandingSoFar(run)
    standing = so_far.by_trials(so_far.trials_over()[:count])
    assert standing is not None
    return standing


def figures(summaries: Sequence[WorkloadSummary]) -> list[dict[str, Any]]:
    """All but the shapes of distributions, which only pictures show."""
    shapes = ("response_distribution", "service_distribution")
    names = [field.name for field in fields(WorkloadSummary) if field.name not in shapes]
    return [{name: getattr(one, name) for name in names} for one in summaries]


def test_by_all_of_its_trials_a_run_stands_as_its_report_says(tmp_path: Path) -> None:
    folder = run_of_rounds(tmp_path)
    standing, result = by_trials(followed(folder)), analyse(RunRecord.open(folder))
    assert standing.requirements == result.requirements
    assert standing.claims == result.claims
    assert {one.verdict for one in standing.requirements} == {"pass", "fail"}
    assert [one.verdict for one in standing.claims] == ["does not hold"]
    assert figures([*standing.summaries.values()]) == figures(result.summaries)


def test_what_few_rounds_leave_undecided_is_decided_by_more(tmp_path: Path) -> None:
    run = followed(run_of_rounds(tmp_path))
    so_far = StandingSoFar(run)
    places = so_far.trials_over()
    of_a_round = len(places) // 3
    claims = []
    for rounds in (1, 2, 3):
        standing = so_far.by_trials(places[: rounds * of_a_round])
        assert standing is not None
        assert {one.rounds for one in standing.summaries.values()} == {rounds}
        claims += [one.verdict for one in standing.claims]
    assert claims[0] == "undecided"
    assert claims[-1] == "does not hold"


def test_a_trial_that_is_measured_again_counts_once_with_its_last_attempt(tmp_path: Path) -> None:
    run = followed(run_of_rounds(tmp_path, 1))
    so_far = StandingSoFar(run)
    places = so_far.trials_over()
    first = so_far.by_trials(places)
    again = so_far.by_trials([replace(places[0], attempt=places[0].attempt + 1), *places[1:]])
    assert first is not None
    assert again is not None
    assert [one.trial.number for one in again.kept] == [one.trial.number for one in first.kept]
    assert again.kept[0] is not first.kept[0]
    assert again.kept[1] is first.kept[1], "what is known of a trial is read once"


@pytest.mark.parametrize("name", ["closed loop", "failures", "a stall", "an overload"])
def test_what_can_be_judged_of_a_running_trial_ends_as_in_the_report(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path, [TRIALS[name]], plan_text=f'title = "One"\nrounds = 1\n{ONE}')
    run, result = followed(folder), analyse(RunRecord.open(folder))
    trial = run.trial(1)
    assert isinstance(trial, FollowedTrial)
    while trial.read():
        pass
    standing = StandingSoFar(run).by_running(trial.running)
    assert standing is not None
    told = [one for one in result.requirements if "journey" not in one.that]
    assert [one.that for one in standing.requirements] == [one.that for one in told], "not of journeys"
    for live, final in zip(standing.requirements, told, strict=True):
        assert (live.verdict, live.estimate) == (final.verdict, final.estimate), live.that


def test_a_run_of_one_trial_that_requires_nothing_is_not_looked_at(tmp_path: Path) -> None:
    watched = WatchedStanding(followed(make_run(tmp_path, [TRIALS["few"]])))
    assert not watched.due(None)
    assert watched.final


def test_looks_take_little_of_the_time_and_the_last_one_is_never_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(web_standing, "monotonic", lambda: clock[0])
    folder = run_of_rounds(tmp_path, 1, ended=False)
    run = followed(folder)
    watched = WatchedStanding(run)
    looked = watched._so_far.by_trials

    def slow(places: Any) -> Any:
        clock[0] += 0.5
        return looked(places)

    monkeypatch.setattr(watched._so_far, "by_trials", slow)
    run.state = replace(run.state, status="running", trials=run.state.trials[:-1])
    assert watched.due(None)
    assert watched.look(None)
    assert not watched.final
    words = [one["word"] for one in watched.drawn["judged"]]
    assert words[-1] == "undecided yet"
    assert all(word.endswith((" so far", " yet")) for word in words)
    run.state = replace(run.state, trials=followed(folder).state.trials)
    clock[0] += 49.9
    assert not watched.due(None), "half a second of work, so fifty seconds of rest"
    run.state = replace(run.state, status="ended")
    assert watched.due(None)
    watched.look(None)
    assert watched.final
    assert not watched.due(None), "there is nothing new"
    (table,) = watched.drawn["tables"]
    assert table["title"] == "Contestants"
    assert len(table["rows"]) == len({(one.contestant, one.workload) for one in starvation_trials(1)})
