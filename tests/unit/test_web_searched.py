"""The levels that a search for a capacity has tried, while it goes on, and in its answer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.run import measure
from jostle.formatting import percent
from jostle.live.followed import FollowedRun
from jostle.record import RunRecord
from jostle.units import format_rate
from jostle.web.searched import RUNNING, SAYS, SearchSoFar
from jostle.web.standing import WatchedStanding
from support.pages import TRIALS
from support.simulated import question
from support.synthetic import make_run

WORKERS = {"discipline": "workers", "workers": 4, "service": "exponential 10ms"}


def searched(folder: Path) -> Path:
    asked = question(WORKERS, ["p99 < 100 ms"], budget_s=60.0)
    return measure(asked, folder, 5, lambda _text, _final: None)


def table_of(watched: WatchedStanding) -> dict[str, Any]:
    assert watched.look(None)
    (table,) = watched.drawn["tables"]
    return dict(table)


def test_levels_are_those_of_the_answer_and_the_running_one_is_marked(tmp_path: Path) -> None:
    folder = searched(tmp_path)
    run, found = FollowedRun(folder), RecordedSearch(RunRecord.open(folder))
    run.read()
    whole = table_of(WatchedStanding(run))
    assert whole["title"] == "Levels tried"
    assert whole["columns"] == ["blocks", "over 100 ms", "p99 < 100 ms"]
    assert whole["rows"] == [
        [format_rate(one.level), str(len(one.blocks)), percent(one.share(0)), SAYS[one.provisional_decision]]
        for one in found.levels
    ]
    assert {row[-1] for row in whole["rows"]} >= {SAYS["holds"], SAYS["misses"]}
    first, second, *_ = [place for place in run.state.trials if place.workload.startswith("rate-")]
    begun = tuple(place for place in run.state.trials if place.number < second.number)
    run.state = replace(run.state, status="running", trials=(*begun, replace(second, status="running")))
    so_far = table_of(WatchedStanding(run))
    assert [row[-1] for row in so_far["rows"]] == [SAYS["holds"], RUNNING]
    assert so_far["rows"][1][1:3] == ["0", "–"]  # noqa: RUF001
    assert first.number < second.number


def test_other_runs_are_no_search(tmp_path: Path) -> None:
    run = FollowedRun(make_run(tmp_path, [TRIALS["few"]]))
    assert SearchSoFar(run).slos == ()
