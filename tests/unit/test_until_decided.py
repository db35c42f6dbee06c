"""Rounds until all is decided: only what is open goes on, and the run says why it ended."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from jostle.analysis.judge.undecided import Question
from jostle.analysis.run import analyse, took_s
from jostle.analysis.stats.sequential import repeated_looks
from jostle.analysis.summaries.looks import confidence_rule_of
from jostle.errors import PlanError
from jostle.plan.overrides import Overrides
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.runner import experiment, resume, until_decided
from jostle.runner.budget import Budget
from jostle.runner.experiment import Turns
from jostle.runner.until_decided import _took_s as took_s_of_cells
from support.fakes import Laboratory, laboratory


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    return laboratory(tmp_path / "runs", monkeypatch)


@pytest.fixture(autouse=True)
def _every_trial_takes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until_decided, "_took_s", lambda _: {("a", "w"): 1.0, ("b", "w"): 1.0})


def run(lab: Laboratory, more: str, **changes: str) -> RunRecord:
    plan = lab.plan(more=more).changed(Overrides(until_decided=True, **changes))  # type: ignore[arg-type]
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
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 5)
    record = run(lab, requirement(MEASURED, "a") + requirement(1, "b"), budget="10h")
    assert rounds_of(record, "a") == [*THREE, 4, 5]
    assert rounds_of(record, "b") == THREE
    assert looks(record) == [
        "1 of 2 need no further round",
        "1 of 2 need no further round",
        "1 of 2 need no further round; after 5 rounds the rest is too close to tell",
    ]
    assert record.complete, record.incomplete_why


def responses(monkeypatch: pytest.MonkeyPatch, *looks: list[Question]) -> None:
    """What each look finds."""
    found = iter(looks)
    monkeypatch.setattr(until_decided, "questions", lambda *_: next(found))


def about(contestants: str, further: float = math.inf, *, still_open: bool = True) -> Question:
    cells = frozenset((contestant, "w") for contestant in contestants)
    return Question(contestants, cells, still_open, further)


DECIDED = about("a", still_open=False)


def test_the_next_round_is_about_the_question_that_is_decided_soonest(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    responses(
        monkeypatch,
        [about("a", 9.0), about("b", 2.0)],
        [about("a", 9.0), about("b", 1.0)],
        [about("a", 8.0), DECIDED],
        [DECIDED],
    )
    record = run(lab, requirement(1), budget="10h")
    assert rounds_of(record, "b") == [*THREE, 4, 5]
    assert rounds_of(record, "a") == [*THREE, 6]


@pytest.mark.parametrize(
    ("what", "found", "measured"),
    [
        ("what is decided about as soon", [about("a", 2.0), about("b", 3.0)], "ab"),
        ("not what is decided far later", [about("a", 1.0), about("b", 3.0)], "a"),
        ("nor what takes far longer for each round", [about("a", 2.0), about("ab", 2.5)], "a"),
        ("nor what will probably not be decided", [about("a", 1.0), about("ab")], "a"),
        ("if none will be, everything", [about("a"), about("b")], "ab"),
    ],
)
def test_what_the_next_round_measures(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch, what: str, found: list[Question], measured: str
) -> None:
    responses(monkeypatch, found, [DECIDED])
    record = run(lab, requirement(1), budget="10h")
    assert "".join(name for name in "ab" if rounds_of(record, name) == [*THREE, 4]) == measured, what


def test_the_next_round_is_one_for_which_there_is_still_time(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "_took_s", lambda _: {("a", "w"): 1000.0, ("b", "w"): 1.0})
    responses(monkeypatch, [about("a", 1.0), about("b", 5000.0)], [about("a", 1.0), DECIDED])
    record = run(lab, requirement(1), budget="500s")
    assert rounds_of(record, "a") == THREE
    assert rounds_of(record, "b") == [*THREE, 4]
    assert looks(record)[-1] == "1 of 2 need no further round; the budget is spent"


def test_a_question_that_had_most_rounds_is_left_and_the_others_go_on(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 4)
    both = [about("a", 1.0), about("b", 50.0)]
    responses(monkeypatch, both, both, both)
    record = run(lab, requirement(1), budget="10h")
    assert rounds_of(record, "a") == [*THREE, 4]
    assert rounds_of(record, "b") == [*THREE, 5]
    assert looks(record)[-1] == "0 of 2 need no further round; after 4 rounds the rest is too close to tell"


def test_only_rounds_that_both_sides_had_count_as_rounds_of_a_comparison(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 4)
    responses(monkeypatch, [about("a", 1.0)], [about("b", 1.0)], [about("ab", 1.0)], [about("ab", 1.0)])
    record = run(lab, requirement(1), budget="10h")
    assert rounds_of(record, "a") == [*THREE, 4, 6]
    assert rounds_of(record, "b") == [*THREE, 5, 6]


def test_a_round_takes_as_long_as_its_trials_took(lab: Laboratory) -> None:
    record = run(lab, requirement(1))
    at = {(entry["event"], entry.get("number")): entry["at"] for entry in record.journal}
    of_a = [trial.number for trial in record.trials if trial.contestant == "a"]
    seconds = [(at["trial ended", number] - at["trial started", number]) / 1e9 for number in of_a]
    found = took_s_of_cells(record)
    assert set(found) == {("a", "w"), ("b", "w")}
    assert found["a", "w"] == pytest.approx(sum(seconds) / 3)


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
        lab.plan().changed(Overrides(until_decided=True, rounds=3))


def test_a_stopped_run_goes_on_until_all_is_decided(lab: Laboratory) -> None:
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


def test_the_only_look_of_a_run_that_has_ended_needs_no_wider_interval(lab: Laboratory) -> None:
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


def in_turns(lab: Laboratory, more: str, budget_s: float = 36_000.0) -> Turns:
    plan = lab.plan(more=more).changed(Overrides(until_decided=True))
    return experiment.experiment_in_turns(
        plan, lab.base, "fake", 7, lab.executor, lab.observer, shared=Budget(budget_s)
    )


def test_of_runs_that_share_a_budget_each_pays_for_the_looks_that_it_might_have_had(lab: Laboratory) -> None:
    """Others may have gone on because of what this one found."""
    for _ in in_turns(lab, requirement(MEASURED), budget_s=0.001):
        pass
    record = RunRecord.open(lab.folder)
    assert record.complete
    assert looks(record) == ["0 of 2 need no further round; the budget is spent"]
    assert confidence_rule_of(record, RecordedPlan.parse(record.plan_text)) is repeated_looks


def test_in_turns_there_are_the_first_rounds_and_then_one_at_a_time(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 5)
    turns = in_turns(lab, requirement(MEASURED))
    for rounds in (THREE, [*THREE, 4], [*THREE, 4, 5]):
        next(turns)
        record = RunRecord.open(lab.folder)
        assert rounds_of(record, "a") == rounds_of(record, "b") == rounds
        assert not record.ended
        assert record.journal[-1]["event"] == "run waits"
    with pytest.raises(StopIteration) as end:
        next(turns)
    assert end.value.value == lab.folder
    record = RunRecord.open(lab.folder)
    assert record.complete
    assert len(record.trials) == 10
    assert looks(record)[-1].endswith("after 5 rounds the rest is too close to tell")


def test_what_is_decided_by_the_first_rounds_has_no_further_turn(lab: Laboratory) -> None:
    turns = in_turns(lab, requirement(1))
    next(turns)
    with pytest.raises(StopIteration):
        next(turns)
    assert looks(RunRecord.open(lab.folder)) == ["2 of 2 need no further round; the run ends"]


def test_a_run_that_is_left_between_its_turns_goes_on_later(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 4)
    turns = in_turns(lab, requirement(MEASURED))
    next(turns)
    turns.close()
    assert RunRecord.open(lab.folder).incomplete_why == (
        "6 of 6 trials are complete; stopped while others had their turn"
    )
    unfinished = resume.unfinished(lab.folder)
    assert unfinished is not None
    turns = experiment.resume_in_turns(unfinished, lab.executor, lab.observer, Budget(36_000.0))
    for rounds in (THREE, [*THREE, 4]):
        next(turns)
        record = RunRecord.open(lab.folder)
        assert rounds_of(record, "a") == rounds_of(record, "b") == rounds
    with pytest.raises(StopIteration):
        next(turns)
    assert RunRecord.open(lab.folder).complete


def test_a_run_that_was_stopped_in_a_further_round_goes_on_with_all_contestants(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_decided, "MAX_ROUNDS", 5)

    def stop() -> None:
        raise KeyboardInterrupt

    lab.executor.loads = [lambda: None] * 7 + [stop]
    with pytest.raises(KeyboardInterrupt):
        run(lab, requirement(MEASURED), budget="10h")
    unfinished = resume.unfinished(lab.folder)
    assert unfinished is not None
    assert len(unfinished.left) == 1
    experiment.resume_experiment(unfinished, lab.executor, lab.observer)
    record = RunRecord.open(lab.folder)
    assert rounds_of(record, "a") == rounds_of(record, "b") == [*THREE, 4, 5]


def test_the_turns_of_others_are_no_part_of_the_time_that_a_run_took() -> None:
    second = 1_000_000_000
    events = [(0, "run started"), (10, "run waits"), (60, "looked at"), (70, "run waits"), (90, "run ended")]
    journal = [{"at": at * second, "event": event} for at, event in events]
    assert took_s(SimpleNamespace(journal=journal)) == 20.0  # type: ignore[arg-type]
    assert took_s(SimpleNamespace(journal=[])) is None  # type: ignore[arg-type]
