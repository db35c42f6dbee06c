"""One test says whether a side is slower: where it is, by how much, and what it does not cry about."""

from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.compare.two import compare_contestants, judge_conditions, metrics_of
from jostle.analysis.judge.undecided import questions
from jostle.analysis.results import ConditionResult
from jostle.analysis.run import analyse
from jostle.analysis.stats.combined import combined, each_adjusted
from jostle.cli.power import out_of_reach
from jostle.errors import BadValue, PlanError
from jostle.plan import load_plan
from jostle.plan.criteria.conditions import change
from jostle.record import RunRecord
from support.synthetic import Times, Trial, closed, lognormal, make_run

ROUNDS = (1, 2, 3, 4, 5)


def trials(slower: float = 1.0, *, tail_s: float = 0.0, rounds: tuple[int, ...] = ROUNDS) -> list[Trial]:
    """Two contestants of 2 ms, the second slower by a factor, or by `tail_s` in one request of ten."""

    def times(median: float, extra: float) -> Times:
        drawn = lognormal(median, 0.2)
        return lambda rng: drawn(rng) + (extra if rng.random() < 0.1 else 0.0)

    return [
        Trial(name, "w", number, closed(times(median, extra), 2.0, seed=10 * number + len(name)), 2.0)
        for number in rounds
        for name, median, extra in (("old", 0.002, 0.0), ("newer", 0.002 * slower, tail_s))
    ]


def judged(folder: Path, made: list[Trial], *texts: str) -> list[ConditionResult]:
    record = RunRecord.open(make_run(folder, made))
    conditions = [change(text) for text in texts]
    found = compare_contestants(record, "old", "newer", metrics_of(conditions))
    return list(judge_conditions(found, conditions).conditions)


def test_a_change_of_a_tenth_of_the_requests_is_found_and_located(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, trials(tail_s=0.005), "slower")
    assert (found.verdict, found.a, found.b) == ("fail", "old", "newer")
    assert found.message.startswith("newer is slower: ")
    largest, _, others = found.message.partition("; also ")
    assert "p95 +" in largest
    assert "p99 +" in largest
    assert "p50" in others, "a request of ten that takes longer moves the median a little"


def test_equal_servers_pass_and_the_figures_are_shown(tmp_path: Path) -> None:
    slower, faster, changed = judged(tmp_path, trials(), "slower", "faster", "changed")
    assert {slower.verdict, faster.verdict, changed.verdict} == {"pass"}
    assert slower.message.startswith("no change was found: p50 ")
    assert "p99" in slower.message


def test_faster_is_told_though_it_is_no_failure(tmp_path: Path) -> None:
    slower, faster, changed = judged(tmp_path, trials(0.5), "slower", "faster", "changed")
    assert [slower.verdict, faster.verdict, changed.verdict] == ["pass", "fail", "fail"]
    assert slower.message.startswith("newer is faster: ")


@pytest.mark.parametrize(("by", "verdict"), [("5 %", "fail"), ("10 %", "undecided"), ("30 %", "pass")])
def test_the_smallest_change_that_matters_decides_what_is_a_failure(
    tmp_path: Path, by: str, verdict: str
) -> None:
    (found,) = judged(tmp_path, trials(1.1), f"slower by {by}")
    assert found.verdict == verdict
    assert found.message.startswith("newer is slower: p50 +10 % [")
    assert found.message.endswith("; whether by more than 10 % is undecided") == (verdict == "undecided")
    assert found.message.endswith("; that is by no more than 30 %") == (verdict == "pass")


def test_two_rounds_cannot_tell(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, trials(2.0, rounds=(1, 2)), "slower")
    assert (found.verdict, found.message) == (
        "undecided",
        "newer against old: undecided with two rounds; an interval needs at least 3 rounds, preferably 5.",
    )


def test_every_metric_of_plans_may_be_limited(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        trials(1.5),
        "p95 > +10 %",
        "mean > +10 %",
        "spread > +10 %",
        "goodput > +1 %",
        "journey p50 > +1 %",
    )
    assert [one.verdict for one in found[:2]] == ["fail", "fail"]
    assert (found[-1].verdict, found[-1].message) == ("undecided", "journey p50 was not measured")


@pytest.mark.parametrize("text", ["slower by 3", "slower by -3 %", "slower by 0 %", "slow", "not slower"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadValue):
        change(text)


def test_the_evidence_of_dependent_metrics_adds_up_and_is_not_cancelled() -> None:
    assert combined([0.03]) == pytest.approx(0.03)
    assert combined([0.03] * 5) == pytest.approx(0.03), "five times the same is no more than once"
    assert combined([0.001, 0.9999]) == combined([0.001, 0.5]), "what is better elsewhere hides nothing"
    alone, together = combined([0.01, 0.5, 0.5, 0.5]), combined([0.01, 0.012, 0.02, 0.5])
    assert together < alone / 2
    adjusted = each_adjusted([0.001, 0.2, 0.6])
    assert adjusted[0] == combined([0.001, 0.2, 0.6]) or adjusted[0] >= 0.001
    assert adjusted[2] == 0.5


PLAN = """
title = "t"
contestants = ["old", "newer"]
rounds = {rounds}

[contestant.old]
url = "http://127.0.0.1:1"

[contestant.newer]
url = "http://127.0.0.1:2"

[workload.w]
request = {{ get = "/" }}
load = {{ clients = 1, for = "2s" }}

[[require]]
that = "{that}"
{more}
"""


def run_of(folder: Path, made: list[Trial], that: str, more: str = "", rounds: str = "5") -> RunRecord:
    return RunRecord.open(
        make_run(folder, made, plan_text=PLAN.format(that=that, more=more, rounds=rounds), slug=that[:3])
    )


def test_a_plan_requires_that_the_others_are_not_slower_than_its_first(tmp_path: Path) -> None:
    (fails,) = analyse(run_of(tmp_path, trials(1.5), "not slower")).requirements
    assert (fails.verdict, fails.contestant, fails.against) == ("fail", "newer", "old")
    assert fails.estimate.value == pytest.approx(1.5, rel=0.05)
    (holds,) = analyse(run_of(tmp_path, trials(1.1), "not slower", 'by = "30 %"')).requirements
    assert (holds.that, holds.verdict, holds.limit) == ("not slower by 30 %", "pass", 1.3)
    (limited,) = analyse(run_of(tmp_path, trials(1.5), "p95 < +10 %", 'against = "old"')).requirements
    assert (limited.verdict, limited.limit) == ("fail", pytest.approx(1.1))
    (other,) = analyse(run_of(tmp_path, trials(1.5), "not slower", 'against = "newer"')).requirements
    assert (other.contestant, other.verdict) == ("old", "pass")


@pytest.mark.parametrize(
    ("slower", "more", "is_open"),
    [(1.5, "", False), (1.0, 'by = "90 %"', False), (1.0, "", True), (1.1, 'by = "10 %"', True)],
)
def test_more_rounds_are_measured_until_a_change_is_found_or_none_that_counts_is_possible(
    tmp_path: Path, slower: float, more: str, is_open: bool
) -> None:
    made = [replace(one, requests=one.requests[:60]) for one in trials(slower, rounds=(1, 2, 3))]
    record = run_of(tmp_path, made, "not slower", more, '"until decided"')
    (question,) = questions(record, analyse(record, distributions=False))
    assert question.open == is_open
    assert question.cells == {("old", "w"), ("newer", "w")}


@pytest.mark.parametrize(
    ("that", "more", "said"),
    [
        ("not slower by 3 %", "", "not a condition"),
        ("not slow", "", "not a condition"),
        ("p99 < 250 ms", 'by = "3 %"', "only a change as a whole"),
        ("not slower", 'by = "0 %"', "not the size of a change"),
        ("not slower", 'against = "oldest"', "is not measured"),
        ("starvation index < +5 %", 'against = "old"', "does not measure"),
    ],
)
def test_a_plan_with_another_requirement_is_refused(tmp_path: Path, that: str, more: str, said: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(that=that, more=more, rounds="5"))
    with pytest.raises(PlanError, match=said):
        load_plan(plan)


@pytest.mark.parametrize(
    ("that", "more", "load", "said"),
    [
        ("not slower", "", "clients = 1", []),
        (
            "not slower",
            'by = "3 %"',
            "clients = 1",
            ["find a difference of 10 % in p50; one of 3 % takes about"],
        ),
        ("not slower", 'by = "30 %"', "clients = 1", []),
        ("p99 < +1 %", 'against = "old"', "clients = 1", ["one of 1 % takes more than 200"]),
        ("throughput > -5 %", 'against = "old"', 'rate = "10/s"', ["the plan gives the rate"]),
    ],
)
def test_what_the_rounds_can_hardly_decide_is_told_before_the_run(
    tmp_path: Path, that: str, more: str, load: str, said: list[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(that=that, more=more, rounds="5").replace("clients = 1", load))
    told = list(out_of_reach(load_plan(plan)))
    assert len(told) == len(said)
    assert all(part in text for part, text in zip(said, told, strict=True))
