"""Which requirements, claims and comparisons more rounds could still decide."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.judge.claims import Measurements, judge_claims
from jostle.analysis.judge.undecided import Question, _can_narrow, _further_rounds, questions
from jostle.analysis.results import Estimate
from jostle.analysis.results.rule import Rule
from jostle.analysis.run import analyse
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict
from support.synthetic import (
    STARVATION_PLAN,
    Trial,
    closed,
    lognormal,
    make_run,
    open_loop,
    starvation_trials,
)

PLAN = STARVATION_PLAN.format(rounds='"until decided"').partition("[published]")[0]

RATIO = """
[[claim]]
says = "{says}"
{needs}
[[claim.holds]]
metric = "{metric}"
contestant = "{left}"
workload = "{workload}"
against = {{ contestant = "go" }}
above = {limit}
"""


def claim(
    says: str,
    *,
    metric: str = "throughput",
    left: str = "node",
    workload: str = "fast-only",
    limit: float = 1.0,
    needs: str = "",
) -> str:
    return RATIO.format(says=says, metric=metric, left=left, workload=workload, limit=limit, needs=needs)


def both(says: str, *limits: float) -> str:
    """A claim of two parts that differ in their limit."""
    first, second = (claim(says, limit=limit) for limit in limits)
    return first + second[second.index("[[claim.holds]]") :]


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
    requirement = '[[require]]\nthat = "memory > 1 kB"\ncontestant = "node"\nworkload = "stream"\n'
    (question,) = asked(tmp_path, requirement, rounds=2).values()
    assert question.open


@pytest.mark.parametrize(
    ("verdict", "of_figure", "is_open"),
    [(Verdict.SUSPECT, Verdict.INVALID, False), (Verdict.INVALID, Verdict.VALID, True)],
)
def test_the_verdict_on_the_figure_counts_and_not_that_on_its_trials(
    tmp_path: Path, ratio: float, verdict: Verdict, of_figure: Verdict, is_open: bool
) -> None:
    requirement = '[[require]]\nthat = "throughput > {}/s"\ncontestant = "node"\nworkload = "fast-only"\n'
    folder = make_run(tmp_path / "any", starvation_trials(5), plan_text=PLAN + requirement.format(1))
    middle = analyse(RunRecord.open(folder)).requirements[0].estimate.value
    text = PLAN + claim("undecided", limit=ratio) + requirement.format(middle)
    record = RunRecord.open(make_run(tmp_path / "run", starvation_trials(5), plan_text=text))
    found = analyse(record)
    cells = [replace(cell, verdict=verdict, verdicts={"throughput": of_figure}) for cell in found.summaries]
    asked = questions(record, replace(found, summaries=cells))
    assert [question.open for question in asked] == [is_open, is_open]


@pytest.mark.parametrize(
    ("what", "estimate", "rule", "narrows"),
    [
        ("an interval", Estimate(2.0, 1.0, 3.0, n=5), Rule(high=1.5), True),
        ("rounds far apart", Estimate(2.0, n=5), Rule(high=1.5), False),
        ("two rounds of many streams", Estimate(0.9, n=5000, rounds=(0.9, 0.9)), Rule(high=1.5), True),
        ("a bound beyond a limit", Estimate(2.0, 1.0, bound="≥", n=5), Rule(high=1.5), True),
        ("a bound that never shows less", Estimate(2.0, 1.0, bound="≥", n=5), Rule(high=3.0), False),
        ("a bound above what is needed", Estimate(2.0, 1.0, bound="≥", n=5), Rule(low=1.5), True),
        ("a bound that never shows more", Estimate(2.0, 1.0, bound="≥", n=5), Rule(low=3.0), False),
        ("a bound that may lie within", Estimate(2.0, 1.0, bound="≥", n=5), Rule(1.5, 2.5), False),
    ],
)
def test_an_interval_is_narrowed_by_rounds_but_only_as_far_as_they_can(
    what: str, estimate: Estimate, rule: Rule, narrows: bool
) -> None:
    assert _can_narrow(estimate, [rule]) == narrows, what


@pytest.mark.parametrize(
    ("what", "estimate", "needed", "further"),
    [
        ("one round is missing", Estimate(1.2, rounds=(1.1, 1.3)), (), 1),
        ("two are missing", Estimate(1.2, 1.1, 1.3, n=5000, this_run_only=True), (), 2),
        ("between the fewest and the most", Estimate(1.2, n=5), (8, 18), 7),
        ("as many again", Estimate(1.2, n=15), (8, 18), 15),
        ("more than there may be", Estimate(1.2, n=5), (50, 101), math.inf),
        ("no forecast", Estimate(1.2, n=5), (), 5),
        ("requests and not rounds", Estimate(1.2, n=5000), (), math.inf),
    ],
)
def test_how_many_rounds_will_decide_it(
    what: str, estimate: Estimate, needed: tuple[int, ...], further: float
) -> None:
    assert _further_rounds(estimate, needed) == further, what


def test_one_part_refutes_a_claim_but_all_must_confirm_it(tmp_path: Path, ratio: float) -> None:
    """A limit just above the ratio is near to being refuted, and one just below near to being confirmed."""
    near, far = ratio * 0.96, ratio * 0.94
    found = asked(tmp_path, claim("near", limit=near) + claim("far", limit=far) + both("both", near, far))
    assert found["far"].further_rounds < found["near"].further_rounds < math.inf
    assert found["both"].further_rounds == found["near"].further_rounds
    near, far = ratio / 0.96, ratio / 0.94
    found = asked(
        tmp_path / "2", claim("near", limit=near) + claim("far", limit=far) + both("both", near, far)
    )
    assert found["far"].further_rounds <= found["both"].further_rounds < found["near"].further_rounds


def test_there_is_no_forecast_of_what_is_counted_over_all_rounds(tmp_path: Path) -> None:
    limit = '[[require]]\nthat = "errors < 0.01 %"\ncontestant = "node"\nworkload = "fast-only"\n'
    (counted,) = asked(tmp_path, limit).values()
    assert counted.open
    assert counted.further_rounds == 5


def test_rounds_count_as_looks_only_if_all_of_a_figure_was_measured_in_them(tmp_path: Path) -> None:
    alone = {("node", 4), ("node", 5), ("go", 6), ("go", 7)}
    trials = [
        trial
        for trial in starvation_trials(7)
        if trial.round <= 3 or (trial.contestant, trial.round) in alone
    ]
    folder = make_run(tmp_path, trials, plan_text=PLAN + claim("ratio"))
    record = RunRecord.open(folder)
    measured = Measurements(by_workload([TrialData(trial) for trial in record.trials]), {}, [], {}, {})
    looks = list[int]()

    def level(confidence: float, rounds: int) -> float:
        looks.append(rounds)
        return confidence

    judge_claims(RecordedPlan.parse(record.plan_text).claim, measured, level)
    assert set(looks) == {3}


def test_the_slow_request_by_itself_is_measured_again_for_a_blocking_index(tmp_path: Path) -> None:
    requirement = (
        '[[require]]\nthat = "blocking index < 0.5"\ncontestant = "go"\nworkload = "fast-with-slow"\n'
    )
    (question,) = asked(tmp_path, requirement).values()
    assert question.cells == {("go", name) for name in ("fast-only", "fast-with-slow", "slow-alone")}


def test_an_index_is_about_the_workloads_that_it_is_made_of(tmp_path: Path) -> None:
    requirement = (
        '[[require]]\nthat = "starvation index < 0.5"\ncontestant = "go"\nworkload = "fast-with-slow"\n'
    )
    (question,) = asked(tmp_path, requirement).values()
    assert question.cells == {("go", "fast-only"), ("go", "fast-with-slow")}


def test_the_throughput_of_an_open_loop_with_which_both_kept_up_is_decided(tmp_path: Path) -> None:
    load = {"open": {"arrivals": "poisson", "rates": [{"from": 1e3, "to": 1e3}], "max_connections": 1000}}
    trials = [
        Trial(name, "stream", r, open_loop(lognormal(median, 0.1), 1000, 5.0, seed=r), load=load)
        for r, medians in enumerate([(0.01, 0.02), (0.03, 0.01), (0.01, 0.03), (0.02, 0.01)], 1)
        for name, median in zip("ab", medians, strict=True)
    ]
    plan = 'title = "t"\ncontestants = ["a", "b"]\nrounds = "until decided"\nprimary = "throughput"\n'
    record = RunRecord.open(make_run(tmp_path, trials, plan_text=plan))
    (question,) = questions(record, analyse(record))
    assert not question.open


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
