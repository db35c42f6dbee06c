"""Pictures in the articles' own form: published boxes beside the measured ones, response times by rank."""

import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import WorkloadSummary
from jostle.analysis.run import analyse
from jostle.errors import PlanError
from jostle.plan import parse_plan
from jostle.record import RunRecord
from jostle.report.charts import Box, Picture, boxes, densities, ranks
from jostle.report.charts.picture import Rows
from support.pictures import pictures_of, validated
from support.results import make_hit
from support.synthetic import Trial, closed, lognormal, make_run

FIVE = {"min": 1.04, "p25": 6.328, "p50": 13.58, "p75": 20.94, "max": 29.59}
FIGURES = "\n".join(
    f'  {{ contestant = "node", workload = "hello", metric = "{metric}", value = {value}, unit = "s" }},'
    for metric, value in FIVE.items()
)
PLAN = f"""
title = "drawn"
contestants = ["node", "go"]
[workload.hello]
title = "Hello"
request = {{ get = "/" }}
load = {{ clients = 1, for = "5s" }}
[published]
source = "Someone, 2010"
pictures = [
    {{ form = "boxes", workload = "hello" }},
    {{ form = "ranks", workload = "hello" }},
    {{ form = "density", workload = "hello" }},
]
figures = [
{FIGURES}]
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Picture]:
    random.seed(1)
    trials = [
        Trial(name, "hello", number, closed(lognormal(0.02, spread), 5.0))
        for number in (1, 2, 3)
        for name, spread in (("node", 0.1), ("go", 0.6))
    ]
    return pictures_of(
        analyse(RunRecord.open(make_run(tmp_path_factory.mktemp("r"), trials, plan_text=PLAN)))
    )


def test_the_published_box_stands_above_the_measured_ones(pictures: dict[str, Picture]) -> None:
    picture = pictures["boxes-hello"]
    validated(picture)
    above, below = picture.body["vconcat"]
    assert (above["title"], below["title"]) == ("As published", "Measured here")
    rows = [picture.datasets[p["layer"][0]["data"]["name"]] for p in (above, below)]
    assert [row["contestant"] for row in rows[0]] == ["node"]
    assert [rows[0][0][key] for key in ("least", "lower", "median", "upper", "most")] == [*FIVE.values()]
    assert [row["contestant"] for row in rows[1]] == ["node", "go"]
    assert [row[1] for row in picture.table.rows] == ["published", "here", "here"]


def test_ranks_rise_from_the_fastest_request_to_the_slowest(pictures: dict[str, Picture]) -> None:
    picture = pictures["ranks-hello"]
    validated(picture)
    ((_, rows),) = picture.datasets.items()
    for name in ("node", "go"):
        times = [row["time"] for row in rows if row["contestant"] == name]
        assert times == sorted(times)
        assert len(times) > 50
    assert "the flattest line is node's" in picture.title


def test_densities_stand_on_linear_axes_and_the_published_one_is_four_quarters(
    pictures: dict[str, Picture],
) -> None:
    picture = pictures["linear-density-hello"]
    validated(picture)
    above, below = picture.body["vconcat"]
    told, here = (picture.datasets[p["layer"][0]["data"]["name"]] for p in (above, below))
    assert {row["contestant"] for row in told} == {"node"}
    assert {row["contestant"] for row in here} == {"node", "go"}
    assert area(told) == pytest.approx(1.0, abs=1e-4)
    for name in ("node", "go"):
        assert area([row for row in here if row["contestant"] == name]) == pytest.approx(1.0, abs=0.06)
    assert "widest distribution is go's" in picture.title


def area(rows: Rows) -> float:
    """Under the line through the rows."""
    points = [(row["x"], row["y"]) for row in rows]
    return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in itertools.pairwise(points))


def test_without_published_quartiles_there_is_no_box(tmp_path: Path) -> None:
    plan = PLAN.replace('metric = "p75"', 'metric = "p99"')
    trials = [Trial("node", "hello", 1, closed(lognormal(0.02, 0.1), 2.0), 2.0)]
    found = pictures_of(analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=plan))))
    assert "boxes-hello" not in found
    assert "ranks-hello" in found


def test_a_picture_of_no_workload_is_refused() -> None:
    text = PLAN.replace('form = "ranks", workload = "hello"', 'form = "ranks", workload = "helo"')
    with pytest.raises(PlanError, match=r"published.pictures.2.workload: there is no workload 'helo'"):
        parse_plan(text, "plan.toml")


def answered(share: float) -> WorkloadSummary:
    """A server that answered only this share of its requests."""
    (summary,) = make_hit().summaries
    d = summary.response_distribution
    kept = [(p, s) for p, s in zip(d.quantile_p, d.quantile_s, strict=True) if p <= share]
    cut = replace(d, quantile_p=[p for p, _ in kept], quantile_s=[s for _, s in kept])
    return replace(summary, response_distribution=cut)


def test_servers_that_left_many_requests_without_a_response_are_drawn_as_well() -> None:
    box = Box("node", 0.001, 0.002, 0.003, 0.004, 0.005)
    for share, says in ((0.9, "the widest distribution is 127.0.0.1:8080's"), (0.6, "of no server")):
        summary = answered(share)
        picture = densities("Hello", [box], [summary], [summary.contestant])
        assert picture is not None
        validated(picture)
        assert says in picture.title
    picture = ranks("Hello", [summary], [summary.contestant])
    assert picture is not None
    assert picture.title == "Hello: no server answered 95 % of the requests as expected."


def test_factors_have_no_exponent() -> None:
    box = Box("node", 0.001, 0.001, 0.001, 0.001, 4.5)
    assert "takes 4,500 times the median, on node" in boxes("Hello", [box], [box], ["node"]).title
