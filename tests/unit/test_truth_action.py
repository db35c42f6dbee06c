"""The table of the action's script: runs of earlier times are counted, too."""

import json
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"
PLANTED, NOTHING = "5 ms in 10 % of the requests", "nothing"


@pytest.fixture
def action(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    from truth import action as module

    return module


def test_runs_of_earlier_times_are_read_as_they_were_kept(action: ModuleType, tmp_path: Path) -> None:
    results = tmp_path / "truth-action.json"
    assert action.earlier(results) == []
    run = action.ActionRun(PLANTED, True, 1, 120.0, ["slower: p90"], ["app-before: others 0.10 cores"])
    results.write_text(json.dumps({"section": "truth-action", "runs": [asdict(run)]}))
    assert action.earlier(results) == [run]


def test_the_committed_runs_have_ten_of_each_and_say_what_was_found(action: ModuleType) -> None:
    runs = action.earlier(BENCH / "results" / "truth-action.json")
    assert {planted: sum(run.planted == planted for run in runs) >= 10 for planted in (PLANTED, NOTHING)} == {
        PLANTED: True,
        NOTHING: True,
    }
    assert all(run.said for run in runs if run.planted == NOTHING and run.slower_at_first)


def test_what_was_found_again_is_told_from_what_was_found_once(action: ModuleType) -> None:
    run = action.ActionRun
    runs = [
        *[run(PLANTED, True, None, 58.0)],  # measured before anything was measured again
        *[run(PLANTED, True, 1, 118.0), run(PLANTED, True, 1, 122.0)],
        *[run(NOTHING, False, 0, 60.0), run(NOTHING, True, 0, 121.0), run(NOTHING, False, 0, 61.0)],
    ]
    assert action.markdown(runs).splitlines()[2:] == [
        f"| {PLANTED} | 3 | 3 | 2 | 2 | 120 s |",
        f"| {NOTHING} | 3 | 1 | 1 | 0 | 61 s |",
    ]


def test_what_was_decided_is_read_from_the_table(action: ModuleType, tmp_path: Path) -> None:
    table = tmp_path / "comparison.md"
    table.write_text(
        "# after against before\n\nbaseline: before\n\n"
        "- ✗ fail: slower, page\n  - slower: p90 +33 % \\[+19, +49\\]\n\n## page\n"
    )
    assert action._decided(table) == "✗ fail: slower, page slower: p90 +33 % [+19, +49]"
