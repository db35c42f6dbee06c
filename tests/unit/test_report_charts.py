"""Charts: valid Vega-Lite, a sentence each, small data, no colour but the page's own."""

import json
import re
from dataclasses import replace

import pytest

from jostle.analysis.results import Distribution, Estimate, Phase, RunResult
from jostle.report import charts
from jostle.report.charts import Picture
from jostle.report.charts.common import decades, thin
from jostle.report.views import views
from support.results import RUNTIMES, Runtime, make_comparison, make_hit, make_plain, make_starvation


def all_pictures(result: RunResult) -> list[Picture]:
    found: list[Picture] = []
    for view in views(result):
        top = charts.overview(result, view)
        found += [
            *([top] if top else []),
            *charts.distributions(result, view),
            *charts.over_time(result, view),
        ]
    return found


@pytest.mark.parametrize("make", [make_starvation, make_plain, make_hit])
def test_every_picture_is_valid_says_something_and_has_its_table(make: object) -> None:
    result = make()  # type: ignore[operator]
    pictures = all_pictures(result)
    assert len({p.key for p in pictures}) == len(pictures)
    for picture in pictures:
        spec = picture.spec(validate=True)
        json.dumps(spec, allow_nan=False)
        assert picture.title.endswith(".")
        assert re.search(r"\d", picture.title), picture.title
        assert picture.reading.endswith(".")
        assert picture.table.rows
        assert spec["description"] == picture.title


def test_the_shift_function_says_where_the_difference_lies() -> None:
    result = replace(
        make_plain(),
        comparisons=[make_comparison(), make_comparison(slower_s=-0.002), make_comparison(rounds=1)],
    )
    slower, faster, none = charts.shifts(result)
    assert none is None
    assert slower is not None
    assert faster is not None
    slower.spec(validate=True)
    assert slower.title == "Fast requests alone: at the 99 % quantile go takes 1.98 ms longer than node."
    assert "less than node" in faster.title
    assert len(slower.datasets["rows-1"]) == 4  # the 99.9 % quantile has no band
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(slower.chart.to_dict(validate=False)))
    same = make_comparison(slower_s=0.0)
    same = replace(same, shift=replace(same.shift, low_s=[-0.001] * 5, high_s=[0.001] * 5))
    (nothing,) = charts.shifts(replace(result, comparisons=[same]))
    assert nothing is not None
    assert "no quantile of go differs" in nothing.title


def test_phases_are_shaded_and_clients_drawn_where_they_change() -> None:
    result = make_plain()
    steady = charts.over_time(result, views(result)[0])[0]
    changing = [
        replace(
            t,
            timeline=replace(
                t.timeline,
                clients=[1] * 10 + [5] * (len(t.timeline.t_s) - 11) + [None],
                phases=[Phase("ramp", 0, 2.5), Phase("hold", 2.5, 5)],
            ),
        )
        for t in result.trials
    ]
    phased = charts.over_time(replace(result, trials=changing), views(result)[0])[0]
    spec = phased.spec(validate=True)
    titles = [panel["title"]["text"] for panel in spec["vconcat"]]
    assert titles[1] == "clients"
    assert "clients" not in [panel["title"]["text"] for panel in steady.spec()["vconcat"]]
    assert all(panel["layer"][0]["mark"]["type"] == "rect" for panel in spec["vconcat"])
    assert [r["text"] for rows in phased.datasets.values() for r in rows if "text" in r] == [
        "hold",
        "ramp",
        "hold",
    ]


def test_the_colours_are_the_pages() -> None:
    for picture in all_pictures(make_starvation(RUNTIMES[:2])):
        spec = picture.spec()
        del spec["datasets"]
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(spec)), picture.key


def test_titles_name_the_worst_and_the_best() -> None:
    result = make_starvation()
    closed, opened = views(result)
    top = charts.overview(result, closed)
    assert top is not None
    assert top.title.startswith("One slow request takes 99.8 % of python-asyncio's fast requests")
    assert "node" in charts.density(opened, 50).title or "python" in charts.density(opened, 50).title


def test_a_run_in_which_nobody_is_harmed_says_so() -> None:
    result = make_starvation([RUNTIMES[1], RUNTIMES[2]])
    top = charts.overview(result, views(result)[0])
    assert top is not None
    assert top.title.startswith("One slow request takes no contestant more than")


def test_quantiles_that_cannot_be_told_are_not_told() -> None:
    result = make_hit()
    cell = result.summaries[0]
    none = {name: replace(e, value=None) for name, e in cell.response.items()}
    result = replace(result, summaries=[replace(cell, response=none)])
    assert charts.nines(views(result)[0], 40).title.endswith("cannot be told from so few requests.")


def test_a_server_that_answered_nobody_is_said_to_have_answered_nobody() -> None:
    result = make_starvation(RUNTIMES[:2])
    nobody = Distribution(0, None, None, None)
    summaries = [
        replace(c, response_distribution=nobody)
        if (c.contestant, c.workload) == ("node", "fast-with-slow")
        else c
        for c in result.summaries
    ]
    starved = [
        replace(s, with_slow=replace(s.with_slow, value=0.0)) if s.contestant == "node" else s
        for s in result.starvation
    ]
    closed = views(replace(result, summaries=summaries, starvation=starved))[0]
    title = charts.density(closed, 50).title
    assert title.startswith(
        "Beside one slow request no fast request was answered on node; the median response time is "
    )
    assert "on go" in title
    assert "unknown" not in title


def test_a_longest_request_that_was_not_answered_is_told_as_a_bound() -> None:
    """What was answered beside a slow request says little where most was not."""
    result = make_starvation(RUNTIMES[:1])
    summaries = [
        replace(c, response=c.response | {"max": Estimate(0.797, unit="s", bound="≥")})
        if c.workload == "fast-with-slow"
        else c
        for c in result.summaries
    ]
    title = charts.density(views(replace(result, summaries=summaries))[0], 50).title
    assert "takes ≥ 797 ms beside a slow one" in title


def test_names_of_a_legend_are_in_the_colour_of_the_page() -> None:
    picture = charts.density(views(make_hit())[0], 40)
    assert picture.spec()["config"]["legend"]["labelColor"] == "var(--ink)"


def test_one_time_for_all_requests_is_drawn_as_a_stroke() -> None:
    """The analysis gives a density's axis without a density where the clock cannot tell the times apart."""
    same = Distribution(
        100, 1e-3, 1e-3, 1e-3, [1e-3, 1e-3], [], [0.0, 0.99], [1e-3, 1e-3], [1], [1e-3], [1e-3]
    )
    result = make_hit()
    result = replace(result, summaries=[replace(result.summaries[0], response_distribution=same)])
    for picture in all_pictures(result):
        picture.spec(validate=True)
    rows = charts.density(views(result)[0], 40).datasets.values()
    assert any(row.get("y2") for rows_of_one in rows for row in rows_of_one)


def test_times_of_zero_have_a_place_on_a_logarithmic_axis() -> None:
    result = make_hit()
    shape = result.summaries[0].response_distribution
    zero = replace(shape, min_s=0.0, quantile_s=[0.0, *shape.quantile_s[1:]])
    result = replace(result, summaries=[replace(result.summaries[0], response_distribution=zero)])
    spec = charts.survival(views(result)[0], 40).spec(validate=True)
    assert all(row["x"] > 0 for rows in spec["datasets"].values() for row in rows)


def test_the_more_series_the_fewer_points() -> None:
    crowd = [replace(RUNTIMES[1], name=f"server-{i}") for i in range(24)]
    few, many = make_starvation(RUNTIMES[:1]), make_starvation(crowd, rounds=1)
    one = len(json.dumps([p.spec() for p in charts.distributions(few, views(few)[0])]))
    all_of_them = len(json.dumps([p.spec() for p in charts.distributions(many, views(many)[0])]))
    assert all_of_them < 24 * one
    assert len(charts.over_time(many, views(many)[0])) <= charts.MOST_TIMELINES


def test_thinning_keeps_the_ends() -> None:
    assert thin(list(range(1000)), 10) == sorted(thin(list(range(1000)), 10))
    assert thin(list(range(1000)), 10)[0] == 0
    assert thin(list(range(1000)), 10)[-1] == 999
    assert thin([1, 2, 3], 10) == [1, 2, 3]


def test_decades() -> None:
    assert decades(1e-4, 2.0) == [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    assert decades(2e-3, 9e-3) == [2e-3, 5e-3, 1e-2]


def test_a_standstill_is_in_the_title_of_the_timeline() -> None:
    result = make_starvation([Runtime("blocked", "x", "", 2e-4, 2.31, 1.0)], rounds=1)
    (picture,) = charts.over_time(result, views(result)[0])
    assert picture.title.startswith("blocked with slow: nothing completes for 2.")
