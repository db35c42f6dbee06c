"""The same quantile of the same requests has one value and one interval, wherever it stands."""

from pathlib import Path

import pytest

from jostle.analysis.compare.two import compare_contestants
from jostle.analysis.results import Estimate
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from support.synthetic import Request, Trial, closed, lognormal, make_run

PLAN = """
title = "One figure"
contestants = ["node", "go"]
rounds = 5
[workload.w]
request = { get = "/" }
load = { clients = 1, for = "5s" }

[[require]]
that = "p99 < 250 ms"
[[require]]
that = "p99 < 250 ms"
workload = "w"
contestant = "node"

[[claim]]
says = "fast"
holds = [{ metric = "p99", contestant = "node", workload = "w", below = 1 }]

[published]
source = "an article"
figures = [{ contestant = "node", workload = "w", metric = "p99", value = 0.1, unit = "s" }]
"""


def trial(name: str, number: int, median_s: float, refused: int) -> Trial:
    requests = closed(lognormal(median_s, 0.3), 5.0, seed=number)
    end = requests[-1].end
    requests += [Request(end, end, end + 1e-4, "closed_early") for _ in range(refused)]
    return Trial(name, "w", number, requests)


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
@pytest.mark.parametrize("refused", [0, 30])
def test_a_p99_is_the_same_in_tables_requirements_claims_comparisons_and_published_figures(
    tmp_path: Path, rounds: int, refused: int
) -> None:
    trials = [
        trial(name, number, median_s * (1 + number / 10), refused)
        for number in range(1, rounds + 1)
        for name, median_s in (("node", 0.004), ("go", 0.006))
    ]
    record = RunRecord.open(make_run(tmp_path, trials, plan_text=PLAN))
    result = analyse(record)
    (summary,) = [s for s in result.summaries if s.contestant == "node"]
    expected = summary.response["p99"]
    required: list[Estimate] = [r.estimate for r in result.requirements if r.contestant == "node"]
    found: list[Estimate | None] = [*required] if rounds > 2 else []
    found += [criterion.estimate for claim in result.claims for criterion in claim.criteria]
    found += [figure.measured for figure in result.published]
    compared = compare_contestants(record, "node", "go").comparisons
    found += [d.a for c in [*result.comparisons, *compared] for d in c.differences if d.metric == "p99"]
    assert len(required) == 2
    assert {estimate.value for estimate in required} == {expected.value}  # of few rounds with an interval
    assert len(found) == (6 if rounds > 2 else 4 if rounds > 1 else 3)
    assert all(estimate == expected for estimate in found)
    assert expected.value is not None
    assert expected.this_run_only == (rounds == 1)
    assert (expected.bound == "≥") == (refused > 0)  # failures lie beyond it
    has_interval = expected.low is not None and expected.high is not None
    assert has_interval == (rounds != 2 and not refused)
    (named,) = [r for r in result.requirements if r.contestant == "node"][1:]
    assert named.verdict == ("fail" if refused else "pass")  # it lies among the failures
