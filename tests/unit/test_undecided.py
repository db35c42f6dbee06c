"""Which requirements, claims and comparisons more rounds could still decide."""

from pathlib import Path

import pytest

from jostle.analysis.judge.undecided import Question, questions
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from support.synthetic import STARVATION_PLAN, Trial, closed, lognormal, make_run, starvation_trials

PLAN = STARVATION_PLAN.format(rounds='"until decided"').partition("[published]")[0]

RATIO = """
[[claim]]
says = "{says}"
{needs}
[[claim.holds]]
quantity = "{quantity}"
contestant = "{left}"
workload = "{workload}"
against = {{ contestant = "go" }}
above = {limit}
"""


def claim(
    says: str,
    *,
    quantity: str = "throughput",
    left: str = "node",
    workload: str = "fast-only",
    limit: float = 1.0,
    needs: str = "",
) -> str:
    return RATIO.format(says=says, quantity=quantity, left=left, workload=workload, limit=limit, needs=needs)


def asked(folder: Path, more: str, rounds: int = 5) -> dict[str, Question]:
    run = make_run(folder, starvation_trials(rounds), plan_text=PLAN + more)
    record = RunRecord.open(run)
    return {question.text: question for question in questions(record, analyse(record))}


@pytest.fixture(scope="module")
def ratio(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Of the throughputs of the synthetic servers: a limit that lies within every interval."""
    folder = make_run(
        tmp_path_factory.mktemp("runs"), starvation_trials(5), plan_text=PLAN + claim("any", limit=0.001)
    )
    value = analyse(RunRecord.open(folder)).claims[0].criteria[0].estimate.value
    assert value is not None
    return value


def test_only_what_more_rounds_can_decide_is_open(tmp_path: Path, ratio: float) -> None:
    found = asked(
        tmp_path,
        claim("decided", limit=ratio / 10)
        + claim("undecided", limit=ratio)
        + claim("not measured", left="rust-axum", limit=ratio)
        + claim("too small a machine", limit=ratio, needs="needs = { server-cores = 64 }")
        + '[[require]]\nthat = "p50 < 1h"\ncontestant = "node"\nworkload = "stream"\n',
    )
    assert {text: question.open for text, question in found.items()} == {
        "p50 < 1h (node, stream)": False,
        "decided": False,
        "undecided": True,
        "not measured": False,
        "too small a machine": False,
    }
    assert found["undecided"].cells == {("node", "fast-only"), ("go", "fast-only")}


def test_what_too_few_rounds_told_anything_about_is_open(tmp_path: Path) -> None:
    """As where a slow request ran to the end of the trial in one round of three: another may decide it."""
    found = asked(tmp_path, claim("two rounds"), rounds=2)
    assert found["two rounds"].open
    requirement = '[[require]]\nthat = "throughput > 1/s"\ncontestant = "node"\nworkload = "stream"\n'
    (question,) = asked(tmp_path, requirement, rounds=2).values()
    assert question.open


def test_an_index_is_about_the_workloads_that_it_is_made_of(tmp_path: Path) -> None:
    requirement = (
        '[[require]]\nthat = "starvation index < 0.5"\ncontestant = "go"\nworkload = "fast-with-slow"\n'
    )
    (question,) = asked(tmp_path, requirement).values()
    assert question.cells == {("go", "fast-only"), ("go", "fast-with-slow")}


def test_without_requirements_and_claims_the_comparisons_are_asked(tmp_path: Path) -> None:
    """Two equal servers, and two that are not."""
    noise = lognormal(0.010, 0.2)
    trials = [
        Trial(name, workload, r, closed(noise if workload == "same" else factor, 5.0, seed=10 * r + i))
        for r in range(1, 6)
        for i, (name, factor) in enumerate([("a", lognormal(0.010, 0.2)), ("b", lognormal(0.020, 0.2))])
        for workload in ("same", "slower")
    ]
    plan = 'title = "t"\ncontestants = ["a", "b"]\nrounds = "until decided"\n'
    record = RunRecord.open(make_run(tmp_path, trials, plan_text=plan))
    found = {question.text: question.open for question in questions(record, analyse(record))}
    assert found["b against a (slower)"] is False
    assert set(found) == {"b against a (slower)", "b against a (same)"}
