"""Earlier runs of a plan say how much its rounds vary: noted before a run, and used for its requirements."""

import json
from pathlib import Path

import pytest

from jostle.analysis.results import RequirementResult
from jostle.analysis.run import analyse
from jostle.record import RunRecord, RunWriter
from jostle.runner.earlier_runs import note_earlier_runs
from support.synthetic import STARVATION_PLAN, Trial, closed, lognormal, make_run

PLAN = STARVATION_PLAN.format(rounds=1)
ASKED = PLAN + '[[require]]\nthat = "throughput > 400/s"\nworkload = "fast-only"'
LEVELS = (1.0, 1.01, 0.99, 1.02, 0.98)


def one_round(base: Path, slug: str, level: float = 1.0, *, plan: str = "", ended: bool = True) -> Path:
    trial = Trial("node", "fast-only", 1, closed(lognormal(0.002 * level, 0.05), 3.0, seed=len(slug)), 3.0)
    return make_run(base, [trial], plan_text=plan or ASKED, slug=slug, ended=ended)


def noted(base: Path, plan: str = "") -> RunRecord:
    folder = one_round(base, "new", plan=plan, ended=False)
    note_earlier_runs(RunWriter.resume(folder))
    return RunRecord.open(folder)


def judged(record: RunRecord) -> RequirementResult:
    (found,) = analyse(record).requirements
    return found


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for number, level in enumerate(LEVELS):
        one_round(tmp_path, f"old-{number}", level)
    return tmp_path


def test_runs_that_varied_little_make_one_round_decide_near_its_limit(base: Path, tmp_path: Path) -> None:
    alone = judged(noted(tmp_path / "alone"))
    assert alone.verdict == "undecided"
    assert "earlier" not in alone.message
    found = judged(noted(base))
    assert found.verdict == "pass"
    assert "(this run; such runs differ by ± " in found.message
    assert "as 5 earlier runs did)" in found.message
    assert alone.estimate.low is not None
    assert found.estimate.low is not None
    assert found.estimate.low > alone.estimate.low


def test_two_wild_runs_do_not_make_the_interval_endless(tmp_path: Path) -> None:
    for slug, level in (("old", 0.5), ("older", 2.0)):
        one_round(tmp_path, slug, level)
    found = judged(noted(tmp_path)).estimate
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 3 < found.high / found.value < 100


def test_a_run_says_the_same_after_the_earlier_ones_have_changed(base: Path) -> None:
    record = noted(base)
    before = judged(record)
    one_round(base, "later", 3.0)
    assert judged(RunRecord.open(record.folder)) == before


def test_only_complete_runs_of_this_plan_on_this_machine_count(base: Path) -> None:
    one_round(base, "cut-short", 2.0, ended=False)
    one_round(base, "other-plan", 2.0, plan=ASKED.replace("400", "401"))
    for fact in ("kernel", "cpu_model", "usable_cores", "memory_bytes"):
        elsewhere = one_round(base, f"another-{fact}", 2.0)
        host = json.loads((elsewhere / "host.json").read_text())
        (elsewhere / "host.json").write_text(json.dumps(host | {fact: "another"}))
    (entry,) = [one for one in noted(base).journal if one["event"] == "earlier runs"]
    assert entry["runs"] == len(LEVELS)
    (throughput,) = [one for one in entry["spreads"] if one["metric"] == "throughput"]
    assert throughput["df"] == len(LEVELS) - 1
    assert throughput["sd"] == pytest.approx(0.016, rel=0.3)


def test_a_first_run_has_nothing_to_note(tmp_path: Path) -> None:
    assert not [one for one in noted(tmp_path).journal if one["event"] == "earlier runs"]
    assert not (tmp_path / "index.ndjson").exists()


def test_rounds_of_earlier_runs_are_pooled(tmp_path: Path) -> None:
    for slug in ("a", "b"):
        trials = [
            Trial("node", "fast-only", n, closed(lognormal(0.002 * level, 0.05), 2.0, seed=n), 2.0)
            for n, level in enumerate((1.0, 1.1, 0.9), 1)
        ]
        make_run(tmp_path, trials, plan_text=ASKED, slug=slug)
    (entry,) = [one for one in noted(tmp_path).journal if one["event"] == "earlier runs"]
    (throughput,) = [one for one in entry["spreads"] if one["metric"] == "throughput"]
    assert throughput["df"] == 4
    assert throughput["sd"] == pytest.approx(0.1, rel=0.1)
