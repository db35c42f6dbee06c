"""The journal of a run in sentences, as its page shows it."""

from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.trials.marks import of_lost
from jostle.generator.api import Lost
from jostle.live import followed
from jostle.live.followed import FollowedRun
from jostle.live.journal import events_of
from jostle.record import RunRecord
from jostle.runner.observer import IntervalRecorded, RunEvent
from support.fakes import laboratory
from support.synthetic import Trial, closed, lognormal, make_run

STEERED: dict[str, Any] = {
    "workload": "w",
    "change": "x2",
    "by": "page",
    "at_ns": 1_500_000_000,
    "unreached": ["generator 2 did not answer"],
    "what": "rate",
    "per_s": 200.0,
}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"event": "run started", "seed": 7}, ["The run began"]),
        ({"event": "trial planned", "number": 1, "contestant": "a", "workload": "w", "round": 1}, []),
        (
            {"event": "contestant skipped", "contestant": "a", "workload": "w", "why": "no TLS"},
            ["a is left out of w: no TLS"],
        ),
        (
            {"event": "load steered", "number": 2, "steered": STEERED},
            ["Trial 2: 200/s from 1.50 s on, by page", "generator 2 did not answer"],
        ),
        (
            {"event": "generator lost", "number": 2, "generator": 1, "of": 2, "at_ns": 5, "why": "killed"},
            ["Trial 2: generator 1 of 2 was lost: killed"],
        ),
        ({"event": "trial ended", "number": 2, "verdict": "valid", "why": ""}, ["Trial 2 ended: valid"]),
        ({"event": "trial failed", "number": 2, "why": "it\nfell"}, ["Trial 2 failed: it·fell"]),
        ({"event": "run stopped", "why": "stopped by the user"}, ["The run stopped: stopped by the user"]),
        ({"event": "repeats given up"}, ["No more trials are repeated"]),
    ],
)
def test_a_line_is_a_sentence(entry: Any, told: list[str]) -> None:
    assert [event.text for event in events_of([{"at": 5, **entry}])] == told


def test_of_a_long_run_the_latest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "MAX_EVENTS", 2)
    run = FollowedRun(make_run(tmp_path, [Trial("a", "w", 1, closed(lognormal(0.1, 0.1), 0.5), 0.5)]))
    run.read()
    assert [event.text for event in run.state.events] == ["Trial 1 ended", "The run ended"]


def test_a_lost_generator_is_in_the_journal_and_marked_while_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = laboratory(tmp_path / "runs", monkeypatch)
    seen: list[Any] = []

    def observe(event: RunEvent) -> None:
        if isinstance(event, IntervalRecorded) and event.planned.number == 1:
            run = FollowedRun(lab.folder)
            run.read()
            seen.append([mark.text for mark in of_lost(run.state.trials[0].lost)])

    lab.observer = observe
    lab.executor.loads = [lambda: lab.executor.started[0].lost.append(Lost(1, 2, 1_500_000_000, "killed"))]
    lab.run(lab.plan())
    assert seen == [[], [], ["generator 1 of 2 lost"]]
    events = [line["event"] for line in RunRecord.open(lab.folder).journal]
    assert events.count("generator lost") == 1
