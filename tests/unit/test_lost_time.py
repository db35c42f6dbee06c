"""Time that nobody measured: a generator that stood still, a machine that slept, a clock that was set."""

import json
from pathlib import Path

import pytest

from jostle.analysis.run import judge
from jostle.analysis.summaries.disturbed import share_lost
from jostle.analysis.trials.data import TrialData
from jostle.host.clocks import Clocks
from jostle.record import RunRecord, TrialRecord
from jostle.record import writer as writer_module
from support.judging import POISSON, check
from support.synthetic import Trial, closed, lognormal, make_run, open_loop

S = 1_000_000_000
AN_HOUR = 3600 * S
BEFORE = Clocks(wall_ns=1_795_287_154 * S, running_ns=7 * S, boot_ns=9 * S)
STEADY = Trial("node", "fast", 1, closed(lognormal(0.002, 0.2), 5.0))


def later(passed: int, *, asleep: int = 0, set_by: int = 0) -> Clocks:
    boot = BEFORE.boot_ns + passed + asleep
    return Clocks(BEFORE.wall_ns + passed + asleep + set_by, BEFORE.running_ns + passed, boot)


@pytest.mark.parametrize("passed", [0, 5 * S, 24 * AN_HOUR])
def test_clocks_that_go_on_tell_of_nothing(passed: int) -> None:
    after = later(passed, asleep=900_000, set_by=passed // 2000)  # readings are apart, and clocks are slewed
    assert after.suspended_ns(BEFORE) == 0
    assert after.set_ns(BEFORE) == 0


@pytest.mark.parametrize("by", [AN_HOUR, -AN_HOUR, S // 2])
def test_a_clock_that_was_set_and_a_machine_that_slept_are_told_apart(by: int) -> None:
    after = later(10 * S, asleep=60 * S, set_by=by)
    assert after.suspended_ns(BEFORE) == 60 * S
    assert after.set_ns(BEFORE) == by


def test_the_clocks_of_this_machine_can_be_read() -> None:
    before, after = Clocks.now(), Clocks.now()
    assert after.running_ns >= before.running_ns
    assert after.suspended_ns(before) == after.set_ns(before) == 0


def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: Clocks) -> TrialRecord:
    readings = iter([BEFORE, after])
    monkeypatch.setattr(writer_module.Clocks, "now", lambda: next(readings))
    return RunRecord.open(make_run(tmp_path, [STEADY])).trials[0]


@pytest.mark.parametrize(("asleep_s", "verdict"), [(0.2, "suspect"), (6, "invalid")])
def test_a_trial_in_which_the_machine_slept_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asleep_s: float, verdict: str
) -> None:
    trial = recorded(tmp_path, monkeypatch, later(5 * S, asleep=round(asleep_s * S)))
    assert trial.suspended_s == asleep_s
    found = check(judge(trial), "lost time")
    assert found.verdict == verdict
    assert "the machine was suspended for" in found.message


def test_a_clock_that_was_set_changes_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = recorded(tmp_path, monkeypatch, later(5 * S, set_by=-AN_HOUR))
    validity = judge(trial)
    assert check(validity, "wall clock").message.startswith("the wall clock was set back by 1.00 h")
    assert validity.verdict == "valid"


def stand_still(folder: Path, late_us: int) -> None:
    path = folder / "intervals.ndjson"
    intervals = [json.loads(line) for line in path.read_text().splitlines()]
    intervals[2]["loop_lag"]["max_us"] = late_us
    path.write_text("".join(json.dumps(interval) + "\n" for interval in intervals))


@pytest.mark.parametrize(
    ("late_us", "verdict"),
    [(249_000, None), (250_000, "suspect"), (2_000_000, "suspect"), (4_000_000, "invalid")],
)
def test_a_generator_that_stood_still_is_told(tmp_path: Path, late_us: int, verdict: str | None) -> None:
    trial = Trial("node", "fast", 1, open_loop(lognormal(0.002, 0.2), 200.0, 5.0), load=POISSON)
    folder = make_run(tmp_path, [trial]) / "trials" / "001-node-fast"
    stand_still(folder, late_us)
    validity = judge(TrialRecord(folder))
    found = [c for c in validity.checks if c.name == "lost time"]
    assert [c.verdict for c in found] == ([verdict] if verdict else [])
    if found:
        assert "the generator stood still for" in found[0].message
        assert found[0].value == pytest.approx(late_us / 5e6)


@pytest.mark.parametrize(("late_us", "median_is_doubtful"), [(1_000_000, False), (1_500_000, True)])
def test_the_requests_that_a_stop_held_back_delay_those_after_it(
    tmp_path: Path, late_us: int, median_is_doubtful: bool
) -> None:
    trial = Trial("node", "fast", 1, open_loop(lognormal(0.002, 0.2), 200.0, 5.0), load=POISSON)
    folder = make_run(tmp_path, [trial]) / "trials" / "001-node-fast"
    stand_still(folder, late_us)
    found = check(judge(TrialRecord(folder)), "lost time")
    assert ("p50" in found.affects) == median_is_doubtful
    assert {"p90", "service p90", "mean", "max"} <= set(found.affects)


@pytest.mark.parametrize(("late_us", "share"), [(1_000_000, 0.2), (4_000_000, 0.0)])
def test_the_clients_of_a_closed_loop_just_go_on_after_a_stop(
    tmp_path: Path, late_us: int, share: float
) -> None:
    """Up to half of the trial, intervals hold the throughput without it; and of the other times only those
    that were in flight are in doubt.
    """
    folder = make_run(tmp_path, [STEADY]) / "trials" / "001-node-fast"
    stand_still(folder, late_us)
    record = TrialRecord(folder)
    validity = judge(record)
    doubtful = {"throughput", "mean"}
    assert {f for f in (*doubtful, "p50", "p99") if validity.verdict_of(f) != "valid"} == (
        set() if share else doubtful
    )
    assert (validity.verdict, validity.verdict_of("max")) == ("suspect", "suspect")
    assert share_lost(TrialData(record)) == pytest.approx(share)
