"""What is drawn beside what."""

from dataclasses import replace

from jostle.analysis.results import Distribution
from jostle.record.verdict import Verdict
from jostle.report.views import ALONE, WITH_SLOW, find_summary, typical_trial, views
from support.results import make_hit, make_plain, make_starvation


def test_each_form_is_a_view_of_pairs() -> None:
    found = views(make_starvation())
    assert [v.key for v in found] == ["form-1", "form-2"]
    assert all(v.paired for v in found)
    assert [p.contestant for p in found[0].panels] == ["node", "go", "java-virtual-threads", "python-asyncio"]
    assert [s.name for s in found[0].panels[0].series] == [ALONE, WITH_SLOW]


def test_without_a_comparison_each_workload_is_a_view() -> None:
    found = views(make_plain())
    assert [(v.key, v.title, v.paired) for v in found] == [
        ("workload-1", "Fast requests alone", False),
        ("workload-2", "Fast stream alone", False),
    ]


def test_a_hit_is_one_panel() -> None:
    (view,) = views(make_hit())
    assert [len(p.series) for p in view.panels] == [1]


def test_a_workload_is_drawn_though_nobody_was_answered_and_not_where_nobody_asked() -> None:
    whole = make_hit()
    empty = replace(whole.summaries[0], response_distribution=Distribution(0, None, None, None))
    (view,) = views(replace(whole, summaries=[replace(empty, outcomes={"unfinished": 9})]))
    assert view.panels[0].series[0].unanswered == 1
    assert views(replace(whole, summaries=[replace(empty, outcomes={})])) == []


def test_the_drawn_trial_is_a_trustworthy_one_of_median_throughput() -> None:
    whole = make_starvation(rounds=3, bad={1: Verdict.INVALID, 2: Verdict.SUSPECT})
    drawn = typical_trial(whole, "node", "fast-only")
    assert drawn is not None
    assert drawn.number == 3
    assert typical_trial(whole, "node", "none") is None
    assert find_summary(whole, "node", "none") is None
