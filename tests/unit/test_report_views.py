"""What is drawn beside what."""

from dataclasses import replace

from jostle.analysis.results import Distribution, Estimate
from jostle.record.verdict import Verdict
from jostle.report.views import ALONE, WITH_SLOW, find_summary, typical_metric, typical_trial, views
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


def test_in_an_open_loop_the_drawn_trial_is_that_of_the_median_p99() -> None:
    whole = make_starvation(rounds=3)
    chosen = [t for t in whole.trials if (t.contestant, t.workload) == ("node", "fast-only")]
    rates, p99s = (50.0, 51.0, 52.0), (0.003, 0.001, 0.002)
    changed = {
        t.number: replace(
            t, offered_per_s=51.0, throughput_per_s=rate, response={"p99": Estimate(p99, unit="s")}
        )
        for t, rate, p99 in zip(chosen, rates, p99s, strict=True)
    }
    opened = replace(whole, trials=[changed.get(t.number, t) for t in whole.trials])
    assert typical_metric(changed.values()) == "p99"
    assert typical_trial(opened, "node", "fast-only") == changed[chosen[2].number]
    assert typical_metric(chosen) == "throughput"
