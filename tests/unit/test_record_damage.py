"""A damaged run folder: refused with the place, or the same figures, or the damage is named."""

import base64
import json
import os
import random
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.history import history
from jostle.analysis.run import analyse
from jostle.errors import NotARun
from jostle.plan import parse_plan
from jostle.record import RunRecord, RunWriter
from jostle.runner.budget import Budget
from jostle.runner.until_decided import RoundsUntilDecided
from support.synthetic import Trial, as_format_1, closed, lognormal, make_run

PLAN = """\
title = "Small"
contestants = ["mine", "other"]
rounds = 1
seed = 7
[workload.fast]
request = { get = "/fast" }
load = { clients = 1, for = "2s" }
"""

OLD = Path(__file__).parents[1] / "data" / "run-format-1"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    trials = [
        Trial(name, "fast", 1, closed(lognormal(0.05, 0.2), 2.0, seed=seed), duration=2.0, rows=True)
        for seed, name in enumerate(("mine", "other"))
    ]
    return make_run(tmp_path_factory.mktemp("whole"), trials, plan_text=PLAN)


@pytest.fixture(scope="module")
def sound(whole: Path) -> dict[str, Any]:
    found, told = figures(whole)
    assert told == ""
    return found


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    return folder


def figures(folder: Path) -> tuple[dict[str, Any], str]:
    """What a report shows, and what it says about the record."""
    record = RunRecord.open(folder)
    result = analyse(record).as_json()
    for trial in record.trials:
        trial.rows()
    told = str(result.pop("incomplete_reason"))
    for changing in ("folder", "complete", "reasons", "verdict", "rerun"):
        result.pop(changing)
    return result, told


def outcome(folder: Path, sound: dict[str, Any]) -> str:
    """ "refused", "same" or "told"; fails for a traceback and for other figures without a word."""
    refused = ""
    try:
        found, told = figures(folder)
    except NotARun as error:
        refused = error.message
    if refused:
        assert refused.isprintable()
        return "refused"
    if told:
        return "told"
    assert found == sound
    return "same"


def mutations(content: bytes, rng: random.Random) -> Iterator[bytes]:
    """Cut at any byte, single bits flipped, a piece left out, a piece repeated."""
    at = rng.randrange(len(content))
    yield content[:at]
    for _ in range(2):
        at = rng.randrange(len(content))
        yield content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    first, last = sorted(rng.choices(range(len(content)), k=2))
    yield content[:first] + content[last:]
    lines = content.splitlines(keepends=True)
    yield b"".join([*lines, lines[rng.randrange(len(lines))]])


FILES = (
    "plan.toml",
    "host.json",
    "journal.ndjson",
    "trials/001-mine-fast/trial.json",
    "trials/001-mine-fast/intervals.ndjson",
    "trials/001-mine-fast/intervals.hlog",
    "trials/001-mine-fast/outcome.json",
    "trials/001-mine-fast/server.ndjson",
    "trials/001-mine-fast/requests-00001.npz",
)


@pytest.mark.parametrize("name", FILES)
def test_no_damage_ends_in_a_traceback_or_in_other_figures_without_a_word(
    whole: Path, sound: dict[str, Any], run: Path, name: str
) -> None:
    content = (whole / name).read_bytes()
    rng = random.Random(name)
    found = set()
    for damaged in mutations(content, rng):
        (run / name).write_bytes(damaged)
        found.add(outcome(run, sound))
    assert found <= {"refused", "told", "same"}
    assert found - {"same"}
    (run / name).unlink()
    assert outcome(run, sound) != "same"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to(OLD / "plan.toml")


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("put", [fifo, link, endless, Path.mkdir])
def test_only_regular_files_of_the_run_are_read(run: Path, name: str, put: Callable[[Path], None]) -> None:
    (run / name).unlink()
    put(run / name)
    assert outcome(run, {}) in ("refused", "told")


def test_a_file_of_another_form_is_refused_with_its_place(run: Path) -> None:
    as_format_1(run)
    path = run / "trials/001-mine-fast/intervals.ndjson"
    lines = path.read_text().splitlines()
    second = json.loads(lines[1])
    second["series"][0]["outcomes"] = []
    path.write_text("\n".join([lines[0], json.dumps(second), *lines[2:]]) + "\n")
    record = RunRecord.open(run)
    assert [trial.number for trial in record.trials] == [2]
    assert "intervals.ndjson of trial 1 is damaged: line 2, series.0.outcomes: input should be an object" in (
        record.incomplete_why
    )


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": 1, "jostle": 5}', "[]", '{"format": "one"}', "\0"]
)
def test_a_host_file_of_another_form_is_refused(run: Path, text: str) -> None:
    (run / "host.json").write_text(text)
    with pytest.raises(NotARun, match=r"is not a run of jostle: host\.json is damaged"):
        RunRecord.open(run)


def test_lines_of_histograms_that_are_missing_are_noticed_without_checksums(run: Path) -> None:
    as_format_1(run)
    path = run / "trials/001-mine-fast/intervals.hlog"
    lines = path.read_text().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if ".response," in line)
    path.write_text("".join(lines[:number] + lines[number + 1 :]))
    with pytest.raises(NotARun, match=r"intervals\.hlog of trial 1 is damaged"):
        RunRecord.open(run).trials[0].histogram("response")


def test_a_histogram_holds_as_many_values_as_its_interval_says(run: Path) -> None:
    as_format_1(run)
    path = run / "trials/001-mine-fast/intervals.ndjson"
    first, *rest = path.read_text().splitlines()
    interval = json.loads(first)
    interval["series"][0]["histograms"]["response"]["count"] += 15
    path.write_text("\n".join([json.dumps(interval), *rest]) + "\n")
    with pytest.raises(NotARun, match=r"response histogram of the interval at 0 s has \d+ values instead of"):
        RunRecord.open(run).trials[0].histogram("response")


def test_what_a_histogram_inflates_to_is_bounded(run: Path) -> None:
    as_format_1(run)
    path = run / "trials/001-mine-fast/intervals.hlog"
    header = struct.pack(">IIIIQQd", 0x1C849313, 1 << 30, 0, 3, 1, 3_600_000_000, 1.0)
    bomb = zlib.compress(header + bytes(64 << 20))
    payload = base64.b64encode(struct.pack(">II", 0x1C849314, len(bomb)) + bomb).decode()
    lines = path.read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if ".response," in line)
    lines[number] = ",".join([*lines[number].split(",")[:4], payload])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(NotARun, match="inflates to more than"):
        RunRecord.open(run).trials[0].histogram("response")


def test_two_trials_of_one_number_are_not_both_counted(run: Path) -> None:
    shutil.copytree(run / "trials/001-mine-fast", run / "trials/009-mine-fast")
    record = RunRecord.open(run)
    assert [trial.number for trial in record.trials] == [1, 2]
    assert "009-mine-fast has the number of another trial" in record.incomplete_why


def test_a_trial_that_lies_elsewhere_is_not_read(run: Path, whole: Path) -> None:
    shutil.rmtree(run / "trials/001-mine-fast")
    (run / "trials/001-mine-fast").symlink_to(whole / "trials/001-mine-fast")
    record = RunRecord.open(run)
    assert [trial.number for trial in record.trials] == [2]
    assert "no readable record of trial 1 (1 of 2 planned)" in record.incomplete_why


def test_one_damaged_run_does_not_end_the_history_of_the_others(run: Path, whole: Path) -> None:
    shutil.copytree(whole, run.parent / "sound")
    (run / "trials/001-mine-fast/intervals.hlog").unlink()
    os.mkfifo(run / "trials/001-mine-fast/intervals.hlog")
    broken = run.parent / "broken"
    shutil.copytree(whole, broken)
    (broken / "plan.toml").write_bytes(b"\xff")
    entries, unreadable = history(run.parent)
    assert [(entry.folder, entry.complete) for entry in entries] == [("run", False), ("sound", True)]
    assert [(found.folder, found.why) for found in unreadable] == [
        ("broken", "plan.toml is damaged: it is not UTF-8: invalid start byte")
    ]


def test_a_run_of_format_1_is_read_as_it_was() -> None:
    record = RunRecord.open(OLD)
    assert record.host["format"] == 1
    assert record.complete
    result = analyse(record)
    assert [(t.number, t.contestant, t.outcomes) for t in result.trials] == [
        (1, "mine", {"ok": 63, "unfinished": 1}),
        (2, "other", {"ok": 64}),
        (3, "other", {"ok": 44}),
        (4, "mine", {"ok": 44}),
    ]
    rows = record.trials[0].rows()
    assert rows is not None
    assert len(rows) == 64


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ({"event": "looked at", "round": 3}, "why"),
        ({"event": "looked at", "why": "x"}, "round"),
        ({"event": "run resumed", "done": 1, "left": 1}, "host"),
        ({"event": "extra rounds planned", "contestant": "mine"}, "workload"),
        ({"event": "trial planned", "number": 9}, "contestant"),
        ({"event": "trial set aside", "number": 1, "why": "x"}, "folder"),
        ({"event": "run started"}, "seed"),
        ({"event": "landed on the moon"}, "landed on the moon"),
        ({"at": 1}, "event"),
    ],
)
def test_an_event_without_what_it_needs_is_named(
    whole: Path, tmp_path: Path, line: dict[str, Any], named: str
) -> None:
    """Whatever the line lacks, no reader stumbles over it."""
    folder = tmp_path / whole.name
    shutil.copytree(whole, folder)
    as_format_1(folder)  # lines without checksums
    with (folder / "journal.ndjson").open("a") as journal:
        journal.write(json.dumps({"at": 1, **line}) + "\n")
    record = RunRecord.open(folder)
    result = analyse(record)
    assert not result.complete
    assert named in result.incomplete_reason
    assert (
        RoundsUntilDecided(parse_plan(PLAN, "plan"), RunWriter.resume(folder), 7, Budget(60.0)).look().trial
        == 2
    )
    with (folder / "journal.ndjson").open("a") as journal:
        journal.write(json.dumps({"at": 2, "event": "run stopped"}) + "\n")
    assert analyse(RunRecord.open(folder)).as_json()["complete"] is False
