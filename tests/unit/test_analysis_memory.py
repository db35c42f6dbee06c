"""Memory that grows with the length of a run is a bug: of an interval that is read back, a row is kept."""

import gc
import tracemalloc
from pathlib import Path

import pytest

from jostle.analysis import run
from jostle.analysis.run import analyse
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord, RunWriter, TrialRecord
from support.synthetic import (
    Trial,
    closed,
    engine_spec,
    intervals,
    lognormal,
    make_run,
    starvation_trials,
)

NS = 10**9

SHORT, LONG = 150, 600

ROW_BYTES = 1500
"""Columns that are kept for an interval, and the timelines made of them: 600 under a steady load, 900 with
phases. All that is written of an interval takes some 30,000 once it is decoded.
"""


def phases(seconds: int) -> list[dict[str, object]]:
    halves = [("half", 1, 1), ("whole", 2, 2)]
    return [{"name": n, "duration_ns": seconds * NS // 2, "from": a, "to": b} for n, a, b in halves]


def long_run(base: Path, count: int, closed_loop: dict[str, object]) -> Path:
    """`count` intervals of a second, in turn like those of five seconds."""
    requests = closed(lognormal(0.002, 0.5), 5.0, seed=1)
    few = list(intervals(Trial("a", "w", 1, requests)))[:-1]
    trial = Trial("a", "w", 1, [], duration=count, load={"closed": closed_loop})
    description = {"number": 1, "contestant": "a", "workload": "w", "round": 1, "engine": engine_spec(trial)}
    writer = RunWriter.create(base, f"long-{count}", 'title = "Long"\n', {"jostle": "0.1.0", "cores": 2})
    recorded = writer.trial(description)
    for number in range(count):
        one = {**few[number % len(few)], "index": number, "last": number == count - 1}
        recorded.write_interval({**one, "start_ns": number * NS, "end_ns": (number + 1) * NS})
    recorded.finish("ended")
    writer.journal("run ended")
    return writer.folder


def peak_bytes(folder: Path) -> int:
    """While the run is analysed, over what there was before."""
    gc.collect()
    tracemalloc.start()
    try:
        analyse(RunRecord.open(folder), distributions=False)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["steady", "phases"])
def test_of_an_interval_that_is_read_a_row_of_numbers_is_kept(tmp_path: Path, kind: str) -> None:
    short, long = (
        long_run(tmp_path, n, {"clients": 2, **({"phases": phases(n)} if kind == "phases" else {})})
        for n in (SHORT, LONG)
    )
    peak_bytes(short)  # imports, and what is cached once
    grown = (peak_bytes(long) - peak_bytes(short)) / (LONG - SHORT)
    assert grown < ROW_BYTES


def test_what_only_the_verdict_needs_is_given_up_trial_by_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows above all: they are megabytes of each trial."""
    made: list[TrialData] = []

    def noted(trial: TrialRecord) -> TrialData:
        made.append(TrialData(trial))
        return made[-1]

    monkeypatch.setattr(run, "TrialData", noted)
    analyse(RunRecord.open(make_run(tmp_path, starvation_trials(2))))
    assert made
    assert all("responses" in vars(data) for data in made)
    assert [data for data in made if {"rows", "pacings", "machine"} & vars(data).keys()] == []
