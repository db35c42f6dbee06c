"""What is known of a trial while it runs, and that it ends as what the report says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.live.column import MAX_COLUMNS
from jostle.live.state import TrialState
from jostle.live.trial import MAX_ROWS, RunningTrial
from jostle.record import RunRecord, TrialRecord
from jostle.record.verdict import Verdict
from support.pages import TRIALS
from support.synthetic import Trial, closed, intervals, lognormal, make_run


def run_of(folder: Path, trial: Trial) -> tuple[RunRecord, RunningTrial]:
    """Its record, and the same intervals folded as they came."""
    run = make_run(folder, [trial])
    (path,) = (run / "trials").iterdir()
    running = RunningTrial(TrialRecord(path))
    for interval in intervals(trial):
        running.add(interval)
    return RunRecord.open(run), running


def state_of(running: RunningTrial) -> TrialState:
    state = running.state()
    assert state is not None
    return state


@pytest.mark.parametrize("name", TRIALS)
def test_the_last_state_has_the_figures_of_the_report(tmp_path: Path, name: str) -> None:
    record, running = run_of(tmp_path, TRIALS[name])
    state, (trial,), (summary,) = state_of(running), *_reported(record)
    assert state.times == trial.response
    for figure, estimate in state.times.items():
        told = summary.response[figure]
        assert (estimate.value, estimate.bound) == (told.value, told.bound)
    assert state.outcomes == trial.outcomes
    assert state.over_s == trial.duration_s
    assert state.rates_so_far.answered_per_s == trial.throughput_per_s
    assert state.rates_so_far.offered_per_s == trial.offered_per_s
    assert state.late_s == trial.pacing_p99_s
    assert state.latest["p99"] == trial.timeline.p99_s[-1]


def _reported(record: RunRecord) -> tuple[list[Any], list[Any]]:
    result = analyse(record)
    return result.trials, result.summaries


@pytest.mark.parametrize("name", TRIALS)
def test_what_can_be_checked_while_it_runs_is_judged_as_at_the_end(tmp_path: Path, name: str) -> None:
    record, running = run_of(tmp_path, TRIALS[name])
    ((trial,), _) = _reported(record)
    at_the_end = {check.name: check for check in trial.validity.checks}
    so_far = state_of(running).validity
    assert len(so_far.checks) >= 7
    for check in so_far.checks:
        assert check == at_the_end[check.name]


def test_an_unanswered_load_shows_before_anything_is_answered(tmp_path: Path) -> None:
    trial = TRIALS["a stall"]
    run = make_run(tmp_path, [trial])
    (path,) = (run / "trials").iterdir()
    running = RunningTrial(TrialRecord(path))
    states = []
    for interval in intervals(trial):
        running.add(interval)
        states.append(state_of(running))
    stalled = [state for state in states if 4.3 < state.over_s < 6.0]
    waiting = [state.columns[-1].unanswered for state in stalled]
    assert waiting == sorted(waiting)
    assert waiting[0] > 50
    assert {state.columns[-1].counts.sum() for state in stalled} == {0}
    assert stalled[-1].validity.verdict is Verdict.SUSPECT
    assert "no response from 4.00 s to the end" in stalled[-1].validity.reasons[0]
    assert states[-1].columns[-1].unanswered < 20


def test_memory_stays_the_same_and_figures_exact_however_long_it_runs(tmp_path: Path) -> None:
    trial = TRIALS["failures"]
    run = make_run(tmp_path, [trial])
    (path,) = (run / "trials").iterdir()
    running, few = RunningTrial(TrialRecord(path)), RunningTrial(TrialRecord(path))
    (first, *_) = [*intervals(trial)]
    length = first["end_ns"]
    times = 2 * MAX_ROWS + 8
    for number in range(times):
        running.add({**first, "index": number, "start_ns": number * length, "end_ns": (number + 1) * length})
    for number in range(8):
        few.add({**first, "index": number, "start_ns": number * length, "end_ns": (number + 1) * length})
    state, short = state_of(running), state_of(few)
    assert len(running.tally.busiest) < MAX_ROWS
    assert len(state.columns) <= MAX_COLUMNS
    assert state.columns[-1].end_s == state.over_s == times * length / 1e9
    assert sum(int(column.counts.sum()) for column in state.columns) == state.outcomes["ok"]
    assert state.outcomes["ok"] == short.outcomes["ok"] // 8 * times
    assert state.times["p50"].value == pytest.approx(short.times["p50"].value, rel=1e-3)
    assert state.rates_so_far.answered_per_s == pytest.approx(short.rates_so_far.answered_per_s)


def test_several_requests_are_counted_together(tmp_path: Path) -> None:
    requests = [replace(one, of=number % 3) for number, one in enumerate(closed(lognormal(0.01, 0.3), 4.0))]
    record, running = run_of(tmp_path, Trial("a", "w", 1, requests, 4.0, mix=("x", "y", "z")))
    state, (trial,), _ = state_of(running), *_reported(record)
    assert state.times == trial.response
    assert state.outcomes == trial.outcomes


def test_the_server_is_watched_as_its_samples_are_written(tmp_path: Path) -> None:
    _, running = run_of(tmp_path, TRIALS["closed loop"])
    assert state_of(running).cpu.server == pytest.approx(0.7)
    assert state_of(running).cpu.generator == pytest.approx(TRIALS["closed loop"].generator_cpu)
    assert state_of(running).cpu.machine is None


def test_before_the_first_interval_nothing_is_known(tmp_path: Path) -> None:
    run = make_run(tmp_path, [TRIALS["closed loop"]])
    (path,) = (run / "trials").iterdir()
    assert RunningTrial(TrialRecord(path)).state() is None
