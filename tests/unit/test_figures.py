"""Published figures: whose they are."""

from pathlib import Path

import pytest

from jostle.analysis.judge.figures import figure, figures_of
from jostle.analysis.results import PublishedFigure
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from jostle.report.sections.published import figures
from support.synthetic import Trial, closed, lognormal, make_run


def published(contestant: str, value: float, workload: str = "hello") -> PublishedFigure:
    return PublishedFigure(contestant, "throughput", value, "/s", "Someone, 2010", workload)


FIGURES = [
    published("rails", 4),
    published("rails:workers=1", 1),
    published("rails", 5, "other"),
    published("go", 9),
]


@pytest.mark.parametrize(
    ("measured", "values"),
    [
        (["rails", "rails:workers=1", "go"], {"rails": 4, "rails:workers=1": 1, "go": 9}),
        (["rails:workers=1", "rails:workers=2"], {"rails:workers=1": 1, "rails:workers=2": 4}),
        (["rails", "rails:workers=2"], {"rails": 4, "rails:workers=2": None}),
    ],
)
def test_a_figure_is_of_the_very_contestant_or_else_of_its_variants(
    measured: list[str], values: dict[str, float | None]
) -> None:
    for contestant, value in values.items():
        found = figure(figures_of(contestant, FIGURES, measured), "hello", "throughput")
        assert (found.value if found else None) == value


def test_a_figure_is_of_its_workload_and_quantity() -> None:
    own = figures_of("rails", FIGURES, ["rails"])
    assert figure(own, "other", "throughput") is FIGURES[2]
    assert figure(own, "hello", "p50") is None


PLAN = """
[published]
source = "Someone, 2010"
[[published.figures]]
contestant = "rails"
workload = "hello"
quantity = "throughput"
value = 4
unit = "/s"
[[published.figures]]
contestant = "rails:workers=1"
workload = "hello"
quantity = "throughput"
value = 1
unit = "/s"
[[published.figures]]
contestant = "go"
workload = "hello"
quantity = "throughput"
value = 9
unit = "/s"
"""


def test_a_figure_stands_beside_every_variant_that_has_none_of_its_own(tmp_path: Path) -> None:
    trials = [
        Trial(f"rails:workers={workers}", "hello", 1, closed(lognormal(0.01 / workers, 0.1), 5.0))
        for workers in (1, 2, 4)
    ]
    result = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=PLAN)))
    beside = [(f.value, f.beside, f.measured and f.measured.value) for f in result.published]
    rates = {cell.contestant: cell.throughput.value for cell in result.summaries}
    two, four = ("rails:workers=2", "rails:workers=4")
    assert beside == [
        (4, two, rates[two]),
        (4, four, rates[four]),
        (1, "rails:workers=1", rates["rails:workers=1"]),
        (9, "", None),
    ]
    assert [row[1] for row in figures(result).rows] == [two, four, "rails:workers=1", "go"]
