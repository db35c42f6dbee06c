"""Trials that the generator or the machine spoiled are measured again; what the server did is a result."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis.results import Check, Validity
from jostle.analysis.run import analyse
from jostle.analysis.validity.spoiled import left_out, spoiled_by
from jostle.record import RunRecord
from jostle.record.verdict import Verdict
from jostle.runner import resume
from support.fakes import Laboratory, laboratory


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path / "runs", monkeypatch)


def started(record: RunRecord) -> list[int]:
    return [entry["number"] for entry in record.journal if entry["event"] == "trial started"]


def test_a_spoiled_trial_is_measured_again_at_the_end_of_its_round(lab: Laboratory) -> None:
    lab.executor.spoiled = {0}
    lab.run(lab.plan(rounds=2))
    record = RunRecord.open(lab.folder)
    assert started(record) == [1, 2, 1, 3, 4]
    assert [trial.number for trial in record.trials] == [1, 2, 3, 4]
    assert record.complete, record.incomplete_why
    (aside,) = record.repeated
    assert (lab.folder / aside["folder"] / "outcome.json").is_file()
    assert aside["folder"].startswith("spoiled/001-")
    result = analyse(record, distributions=False)
    assert all(trial.validity.verdict == "valid" for trial in result.trials)
    (note,) = [note for note in result.notes if note.startswith("Measured again")]
    assert "threads of the generator died" in note
    assert "round 1" in note
    assert aside["folder"] in note


def test_it_is_measured_again_twice_and_then_counts_as_it_is(lab: Laboratory) -> None:
    lab.executor.spoiled = {0, 2, 3}
    lab.run(lab.plan())
    record = RunRecord.open(lab.folder)
    assert started(record) == [1, 2, 1, 1]
    assert [analyse(record).trials[0].validity.verdict, record.complete] == ["invalid", True]
    assert len(list((lab.folder / "spoiled").iterdir())) == 2


def test_a_machine_that_is_never_quiet_is_given_up(lab: Laboratory) -> None:
    """All of the first round, and all of its repeats: the second round is measured once."""
    lab.executor.spoiled = range(20)
    lab.run(lab.plan(rounds=2))
    record = RunRecord.open(lab.folder)
    assert started(record) == [1, 2, 1, 2, 1, 2, 3, 4]
    assert "repeats given up" in [entry["event"] for entry in record.journal]
    notes = analyse(record, distributions=False).notes
    assert sum(note.startswith("Measured again") for note in notes) == 3
    assert any(note.startswith("1 more repeat") for note in notes)
    assert any("Repeating ended when" in note for note in notes)


def test_one_repeat_in_vain_gives_nothing_up(lab: Laboratory) -> None:
    """Both trials of the first round are spoiled, and one of them stays so."""
    lab.executor.spoiled = {0, 1, 2, 4, 5}
    lab.run(lab.plan(rounds=2))
    assert started(RunRecord.open(lab.folder)) == [1, 2, 1, 2, 1, 3, 4, 3]


def test_a_plan_may_do_without(lab: Laboratory) -> None:
    lab.executor.spoiled = {0}
    lab.run(lab.plan().model_copy(update={"repeats": False}))
    assert started(RunRecord.open(lab.folder)) == [1, 2]


def test_what_the_server_did_is_never_measured_again(lab: Laboratory) -> None:
    lab.executor.spoiled, lab.executor.outcome = {0, 1}, "wrong_body"
    lab.run(lab.plan())
    assert started(RunRecord.open(lab.folder)) == [1, 2]


def test_a_run_that_was_stopped_before_its_repeat_is_resumed_with_it(lab: Laboratory) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    lab.executor.spoiled, lab.executor.loads = {0}, [lambda: None, stop]
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.plan())
    assert not any("no readable record" in reason for reason in RunRecord.open(lab.folder).damage)
    run = resume.unfinished(lab.folder)
    assert run is not None
    assert 1 in [planned.number for planned in run.left]


def failed(*causes: tuple[str, str]) -> Validity:
    checks: Sequence[Check] = [
        Check("c", Verdict(verdict), 1, 0, "", f"the {cause} did it", cause=cause)  # type: ignore[arg-type]
        for verdict, cause in causes
    ]
    return Validity.of(checks)


@pytest.mark.parametrize(
    ("validity", "why"),
    [
        (failed(("valid", "generator")), ""),
        (failed(("suspect", "machine")), ""),
        (failed(("invalid", "machine")), "the machine did it"),
        (failed(("invalid", "generator"), ("suspect", "server")), "the generator did it"),
        (failed(("invalid", "generator"), ("invalid", "server")), ""),
        (failed(("invalid", "plan")), ""),
    ],
)
def test_only_generator_and_machine_make_a_repeat(validity: Validity, why: str) -> None:
    assert spoiled_by(validity) == why


@pytest.mark.parametrize(
    ("cause", "rounds", "spoiled", "left"),
    [
        ("machine", 5, {2}, {2}),
        ("machine", 5, {2, 4}, {2, 4}),
        ("machine", 5, {1, 2, 4}, set()),  # what remains has no interval: a machine that is never quiet
        ("generator", 5, {2}, set()),  # it fails where the server is fast
        ("server", 5, {2}, set()),
    ],
)
def test_what_the_machine_alone_spoiled_does_not_count_where_enough_remains(
    cause: str, rounds: int, spoiled: set[int], left: set[int]
) -> None:
    trials: Any = [SimpleNamespace(usable=True, trial=SimpleNamespace(number=n)) for n in range(rounds)]
    validities = {n: failed(("invalid" if n in spoiled else "valid", cause)) for n in range(rounds)}
    assert left_out(trials, validities) == left


def test_what_the_generator_spoiled_before_the_machine_did_counts() -> None:
    trials: Any = [SimpleNamespace(usable=True, trial=SimpleNamespace(number=n)) for n in range(5)]
    validities = {n: failed(("invalid" if n in {2, 4} else "valid", "machine")) for n in range(5)}
    assert left_out(trials, validities, by_generator={2}) == {4}
