"""Rounds until all is decided: only what is open goes on, and the run says why it ended."""

from pathlib import Path

import pytest

from jostle.analysis.run import analyse
from jostle.errors import PlanError
from jostle.plan.model import Changes
from jostle.record import RunRecord
from jostle.runner import until_decided
from support.fakes import Laboratory, laboratory


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path / "runs", monkeypatch)


def run(lab: Laboratory, more: str, **changes: str) -> RunRecord:
    plan = lab.plan(more=more).changed(Changes(until_decided=True, **changes))  # type: ignore[arg-type]
    lab.run(plan)
    return RunRecord.open(lab.folder)


def rounds_of(record: RunRecord, contestant: str) -> list[int]:
    return [trial.round for trial in record.trials if trial.contestant == contestant]


def looks(record: RunRecord) -> list[str]:
    return [str(entry.get("why")) for entry in record.journal if entry["event"] == "looked at"]


def requirement(limit: float, contestant: str = "") -> str:
    return f'[[require]]\nthat = "throughput > {limit}/s"\ncontestant = "{contestant}"\n'


THREE = [1, 2, 3]

MEASURED = 10
"""Requests per second of the fake load: as a limit it lies within every interval."""


def test_what_is_decided_at_the_first_look_needs_no_further_round(lab: Laboratory) -> None:
    record = run(lab, requirement(1))
    assert rounds_of(record, "a") == rounds_of(record, "b") == THREE
    assert looks(record) == ["2 of 2 need no further round; the run ends"]
    assert record.complete


def test_only_what_is_open_goes_on(lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until_decided, "MOST_ROUNDS", 5)
    record = run(lab, requirement(MEASURED, "a") + requirement(1, "b"), budget="10h")
    assert rounds_of(record, "a") == [*THREE, 4, 5]
    assert rounds_of(record, "b") == THREE
    assert looks(record) == [
        "1 of 2 need no further round",
        "1 of 2 need no further round",
        "1 of 2 need no further round; after 5 rounds the rest is too close to tell",
    ]
    assert record.complete, record.incomplete_why


def test_no_round_begins_that_would_end_after_the_budget(lab: Laboratory) -> None:
    record = run(lab, requirement(MEASURED), budget="1s")
    assert rounds_of(record, "a") == THREE
    assert looks(record) == ["0 of 2 need no further round; the budget is spent"]


def test_intervals_pay_for_the_looks(lab: Laboratory) -> None:
    """The same three rounds, once with their number fixed beforehand."""
    record = run(lab, requirement(1))
    repeated = analyse(record).requirements[0].estimate
    (record.folder / "plan.toml").write_text(
        record.plan_text.replace('rounds = "until decided"', "rounds = 3"), encoding="utf-8"
    )
    fixed = analyse(RunRecord.open(record.folder)).requirements[0].estimate
    assert None not in (repeated.low, repeated.high, fixed.low, fixed.high)
    assert repeated.high - repeated.low > 1.2 * (fixed.high - fixed.low)  # type: ignore[operator]


def test_rounds_are_given_once(lab: Laboratory) -> None:
    with pytest.raises(PlanError, match="given twice"):
        lab.plan().changed(Changes(until_decided=True, rounds=3))


def test_a_stopped_run_goes_on_until_all_is_decided(lab: Laboratory) -> None:
    from jostle.runner import experiment, resume

    def stop() -> None:
        raise KeyboardInterrupt

    lab.executor.loads = [lambda: None] * 3 + [stop]
    with pytest.raises(KeyboardInterrupt):
        run(lab, requirement(1))
    unfinished = resume.unfinished(lab.folder)
    assert unfinished is not None
    experiment.resume_experiment(unfinished, lab.executor, lab.observer)
    record = RunRecord.open(lab.folder)
    assert rounds_of(record, "a") == THREE
    assert len(looks(record)) == 1
    assert record.complete


def test_the_last_look_of_a_run_that_has_ended_needs_no_wider_interval_than_one_look(lab: Laboratory) -> None:
    """After three rounds it was looked at once. To go on would keep half of the error for later looks."""
    record = run(lab, requirement(MEASURED), budget="1s")
    assert looks(record) == ["0 of 2 need no further round; the budget is spent"]
    ended = analyse(record).requirements[0].estimate
    journal = lab.folder / "journal.ndjson"
    lines = journal.read_text().splitlines(keepends=True)
    assert "run ended" in lines[-1]
    journal.write_text("".join(lines[:-1]))
    goes_on = analyse(RunRecord.open(lab.folder)).requirements[0].estimate
    assert ended.value == goes_on.value
    assert goes_on.low < ended.low <= ended.high < goes_on.high
