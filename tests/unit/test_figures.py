"""Published figures: whose they are."""

from pathlib import Path

from jostle.analysis.results.published_figure import figure
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from jostle.report.sections.published import figures
from support.synthetic import Trial, closed, lognormal, make_run

PLAN = """
[published]
source = "Someone, 2010"
[[published.figures]]
contestant = "rails"
workload = "hello"
metric = "throughput"
value = 4
unit = "/s"
[[published.figures]]
contestant = "rails:workers=1"
workload = "hello"
metric = "throughput"
value = 1
unit = "/s"
[[published.figures]]
contestant = "go"
workload = "hello"
metric = "throughput"
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
    assert [
        figure(result.published, name, "hello", "throughput") for name in (two, four)
    ] == result.published[:2]
    assert figure(result.published, two, "hello", "p50") is None
    assert figure(result.published, "go", "hello", "throughput") is None  # nobody was measured beside it


def test_a_figure_is_of_the_very_contestant_where_it_was_measured(tmp_path: Path) -> None:
    trials = [
        Trial(name, "hello", 1, closed(lognormal(0.01, 0.1), 5.0)) for name in ("rails", "rails:workers=2")
    ]
    result = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=PLAN)))
    assert [(f.value, f.beside) for f in result.published] == [(4, "rails"), (1, ""), (9, "")]
