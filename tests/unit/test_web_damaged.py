"""What a viewer is told of a run whose record is damaged: what is, and all that can be read."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jostle.web.choice import Choice
from jostle.web.follower import Follower
from jostle.web.place import Place
from support.synthetic import Trial, closed, lognormal, make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    trials = [Trial("a", "w", number, closed(lognormal(0.01, 0.1), 8.0), 8.0) for number in (1, 2)]
    return make_run(tmp_path, trials)


def told(run: Path) -> dict[str, Any]:
    """All that a viewer of the first trial is told."""

    async def watch() -> dict[str, Any]:
        following, known = Follower(run), dict[str, Any]()
        with following.watched(Choice(1, None)):
            await following.finish()
            async for _, text in following.messages(Choice(1, None), Place()):
                known |= json.loads(text)
                if known["run"]["damage"] or known.get("trial", {}).get("over"):
                    return known
        return known

    return asyncio.run(asyncio.wait_for(watch(), 60))


def garbage(file: str) -> Callable[[Path], None]:
    def damage(trial: Path) -> None:
        (trial / file).write_bytes(b'{"x": \xff}\n')

    return damage


@pytest.mark.parametrize(
    ("damage", "sentence", "figures"),
    [
        (garbage("trial.json"), "trial.json of trial 1 is damaged: ", False),
        (garbage("outcome.json"), "outcome.json of trial 1 is damaged: ", False),
        (garbage("intervals.ndjson"), "intervals.ndjson of trial 1 is damaged: line 1, ", False),
        (garbage("intervals.hlog"), "trial 1 has no interval that can be read", False),
        (garbage("server.ndjson"), "server.ndjson of trial 1 is damaged: line 1, ", True),
    ],
)
def test_what_is_damaged_is_said(
    run: Path, damage: Callable[[Path], None], sentence: str, figures: bool
) -> None:
    damage(run / "trials" / "001-a-w")
    known = told(run)
    assert known["run"]["status"] == "ended"
    assert known["run"]["damage"].startswith(sentence)
    assert ("trial" in known) == figures


def test_what_was_read_before_the_damage_stays(run: Path) -> None:
    intervals = run / "trials" / "001-a-w" / "intervals.ndjson"
    lines = intervals.read_bytes().splitlines(keepends=True)
    intervals.write_bytes(b"".join([*lines[:5], b"{}\n", *lines[6:]]))
    known = told(run)
    assert "intervals.ndjson of trial 1 is damaged: line" in known["run"]["damage"]
    assert len(known["columns"]["columns"]) == 5
    assert not known["trial"]["over"], "the verdict stays one so far"


def test_a_sound_run_has_none_and_is_first_told_once_it_was_read(run: Path) -> None:
    known = told(run)
    assert (known["run"]["status"], known["run"]["damage"]) == ("ended", "")
    assert known["trial"]["over"]


def test_a_plan_that_cannot_be_read_is_no_hindrance(run: Path) -> None:
    (run / "plan.toml").write_bytes(b"\xff")
    assert told(run)["trial"]["limits"] == []


def test_a_folder_that_goes_away_leaves_what_was_read(run: Path) -> None:
    async def watch() -> list[dict[str, Any]]:
        following, known = Follower(run), list[dict[str, Any]]()
        with following.watched(Choice(1, None)):
            async for _, text in following.messages(Choice(1, None), Place()):
                known.append(json.loads(text))
                if known[-1].get("trial", {}).get("over") and run.exists():
                    shutil.rmtree(run)
                elif known[-1].get("run", {}).get("status") == "gone":
                    return known
        return known

    (*_, last) = asyncio.run(asyncio.wait_for(watch(), 60))
    assert last["trial"]["over"]
    assert last["run"]["damage"] == ""
