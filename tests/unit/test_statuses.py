"""Statuses of right responses: a change within a trial, between rounds and between contestants is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jostle.analysis.results import Check, RunResult
from jostle.analysis.run import analyse, judge
from jostle.analysis.trials.statuses import change_of_statuses, contrast
from jostle.record import RunRecord, TrialRecord
from jostle.report.workload import describe_outcomes
from support.judging import STEADY, check, edited, judged, names, recorded
from support.rendered import rendered
from support.synthetic import Request, Trial, closed, make_run

Statuses = Callable[[Request], int]


def answered(status: Statuses, seconds: float = 5.0, seed: int = 0) -> list[Request]:
    return [replace(one, status=status(one)) for one in closed(STEADY, seconds, seed=seed)]


def steadily(request: Request) -> int:
    return 304 if int(request.intended * 1e6) % 10 == 0 else 200


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (lambda r: 200 if r.end <= 2 else 302, "changed: 200 until 2.00 s, then 302"),
        (
            lambda r: 204 if 1 < r.end <= 3 else 200,
            "changed: 204 from 1.00 s to 3.00 s, and 200 before and after",
        ),
        (lambda r: 200 if r.end <= 4 else 202, "changed: 200 until 4.00 s, then 202"),
    ],
)
def test_a_change_of_the_mixture_within_a_trial_makes_it_suspect(
    tmp_path: Path, status: Statuses, said: str
) -> None:
    found = check(judged(tmp_path, answered(status)), "statuses")
    assert found.verdict == "suspect"
    assert said in found.message
    assert "--expect-status" in found.remedy


def test_a_change_within_an_interval_is_told_by_shares(tmp_path: Path) -> None:
    found = check(judged(tmp_path, answered(lambda r: 200 if r.end <= 0.25 else 302)), "statuses")
    assert found.verdict == "suspect"
    assert "% 302 and " in found.message
    assert found.message.endswith("% 200 until 1.00 s, then 302")


@pytest.mark.parametrize("status", [lambda _: 200, lambda _: 204, steadily])
def test_an_even_mixture_is_no_reason_for_doubt(tmp_path: Path, status: Statuses) -> None:
    assert check(judged(tmp_path, answered(status)), "statuses").verdict == "valid"


def test_redirects_that_nobody_follows_are_told(tmp_path: Path) -> None:
    found = check(judged(tmp_path, answered(lambda _: 302)), "statuses")
    assert (found.verdict, found.value) == ("suspect", 1)
    assert found.message == "right responses were 302: redirects, which were not followed"


@pytest.mark.parametrize(
    "said", [{"redirects": {"most": 5}}, {"requests": [{"name": "a", "expect": {"status": [302]}}]}]
)
def test_redirects_that_are_followed_or_named_as_right_are_meant(
    tmp_path: Path, said: dict[str, object]
) -> None:
    record = recorded(tmp_path, Trial("a", "w", 1, answered(lambda _: 302)))
    path = record.folder / "trial.json"
    description = json.loads(path.read_text())
    description["engine"]["workloads"][0] |= said
    path.write_text(json.dumps(description))
    assert check(judge(TrialRecord(record.folder)), "statuses").verdict == "valid"


def test_older_records_have_no_statuses(tmp_path: Path) -> None:
    def without(interval: dict[str, object]) -> None:
        for series in interval["series"]:  # type: ignore[attr-defined]
            del series["statuses"]

    record = edited(tmp_path, Trial("a", "w", 1, answered(lambda _: 302)), without)
    assert "statuses" not in names(judge(record))


def analysed(tmp_path: Path, trials: list[Trial]) -> RunResult:
    return analyse(RunRecord.open(make_run(tmp_path, trials)))


def same_responses(result: RunResult) -> dict[tuple[str, int], Check]:
    return {
        (trial.contestant, trial.round): found
        for trial in result.trials
        for found in trial.validity.checks
        if found.name == "same responses"
    }


def of(contestant: str, status: Statuses, rounds: int) -> list[Trial]:
    return [Trial(contestant, "w", n, answered(status, seed=n)) for n in range(1, rounds + 1)]


def test_a_contestant_that_answers_in_another_way_is_told_with_how(tmp_path: Path) -> None:
    result = analysed(tmp_path, [*of("honest", lambda _: 200, 3), *of("cheat", lambda _: 204, 3)])
    found = same_responses(result)
    assert set(found) == {("cheat", 1), ("cheat", 2), ("cheat", 3)}
    assert found["cheat", 1].message.endswith("204 on cheat, 200 on honest")
    (comparison,) = result.comparisons
    assert comparison.verdict == "suspect"
    assert (
        "They did not do the same work: right responses were 200 on honest, 204 on cheat."
        in comparison.sentence
    )
    assert result.verdict == "suspect"


def test_contestants_that_answer_alike_are_not_in_doubt(tmp_path: Path) -> None:
    result = analysed(tmp_path, [*of("a", steadily, 3), *of("b", steadily, 3)])
    assert same_responses(result) == {}
    assert "same work" not in result.comparisons[0].sentence


def test_a_round_that_answers_in_another_way_is_told(tmp_path: Path) -> None:
    trials = [*of("a", lambda _: 200, 2), Trial("a", "w", 3, answered(lambda _: 204))]
    found = same_responses(analysed(tmp_path, trials))
    assert set(found) == {("a", 3)}
    assert found["a", 3].message.endswith("204 in round 3, 200 in round 1")


def test_statuses_are_shown_if_there_are_several_or_redirects(tmp_path: Path) -> None:
    result = analysed(tmp_path, of("a", lambda r: 200 if r.end <= 2 else 202, 1))
    (summary,) = result.summaries
    many, few = sorted(summary.all_statuses.values(), reverse=True)
    assert f" ok ({many:,} × 202, {few:,} × 200)" in describe_outcomes(summary)
    assert f",{few}," in rendered(result, "csv").split("right responses: 200")[1].splitlines()[0]
    told = {
        status: describe_outcomes(replace(summary, statuses={"x": {status: 9}})) for status in ("204", "302")
    }
    assert "204" not in told["204"]
    assert "ok (9 × 302)" in told["302"]


def test_false_alarms_do_not_grow_with_the_requests_of_a_mix() -> None:
    """A hundred mixes of 500 requests that are answered alike: one in a thousand may be told as other."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(100):
        ours, theirs = (
            {f"/{n}": {"200": 60 - int(other), "302": int(other)} for n, other in enumerate(drawn)}
            for drawn in rng.binomial(60, 0.3, (2, 500))
        )
        alarms += bool(contrast(ours, theirs, ("on a", "on b")))
    assert alarms <= 3


def test_a_change_of_one_request_is_judged_among_all_of_them() -> None:
    def changed(requests: int) -> bool:
        some, even = np.array([20, 20, 20, 20, 8, 9]), np.full(6, 40)
        answered = {(n, "200"): even for n in range(1, requests)}
        answered |= {(0, "200"): some, (0, "302"): 40 - some}
        ends = np.arange(1, 7) * 10**9
        counts = SimpleNamespace(answered=answered, start_ns=ends - 10**9, end_ns=ends)
        named = {"requests": [{"name": f"/{n}"} for n in range(requests)]}
        data: Any = SimpleNamespace(counts=counts, workload=lambda: named)
        return change_of_statuses(data) is not None

    assert changed(requests=1)
    assert not changed(requests=500)
